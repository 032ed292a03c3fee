import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { root } from './compiled.js';
import { locked, nameOf, runtimeTree } from './lockfile.js';

/** What npm would run at a consumer's, were it not told otherwise. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare'];

/** They ask for their notice to be kept, and for nothing else. */
const PERMISSIVE = new Set(['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD']);

/** The whole of what is installed with this package. A new name here is a decision, not a detail. */
const RUNTIME = ['@a2a-js/sdk', 'jose', 'undici', 'valibot'];

interface Manifest {
  readonly license?: unknown;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly gypfile?: unknown;
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;

describe('The lockfile', () => {
  const packages = [...locked()];

  test('has the SHA-512 of every package', () => {
    assert.ok(packages.length > 100);
    assert.deepEqual(packages.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')).map(([folder]) => folder), []);
  });

  test('has every package from the one registry that npm is set up with: no link, no folder, no repository, no other host', () => {
    assert.deepEqual(packages.filter(([, { link }]) => link === true).map(([folder]) => folder), []);
    // Absent in all of them where npm is told to leave it out: then it is the registry of whoever installs.
    const [origin, ...others] = new Set(packages.map(([, { resolved }]) => (resolved === undefined ? undefined : new URL(resolved).origin)));
    assert.deepEqual(others, []);
    assert.match(origin ?? 'https:', /^https:/);
  });
});

describe('What is installed with the package', () => {
  const tree = [...runtimeTree()];

  test('is these packages and no other', () => {
    assert.deepEqual(tree.map(([folder]) => nameOf(folder)).sort(), RUNTIME);
  });

  test('runs no script when it is installed, and builds nothing', () => {
    for (const [folder, { hasInstallScript }] of [['', {}] as const, ...tree]) {
      assert.ok(hasInstallScript !== true, folder);
      const { scripts = {}, gypfile } = manifestOf(folder);
      // `prepare` of a package from a registry is not run; this package's own is looked at all the same.
      const found = Object.keys(scripts).filter((name) => INSTALL_SCRIPTS.includes(name) && (folder === '' || !name.includes('prepare')));
      assert.deepEqual([found, gypfile], [[], undefined], folder);
      if (folder !== '') assert.ok(!existsSync(join(root, folder, 'binding.gyp')), folder);
    }
  });

  test('has no compiled code for one machine in it', () => {
    const native = tree.flatMap(([folder]) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:node|so|dll|dylib|exe)$/.test(name)),
    );
    assert.deepEqual(native, []);
  });

  test('is under permissive licences, by the lockfile and by its own word', () => {
    for (const [folder, { license }] of tree) {
      assert.ok(PERMISSIVE.has(license ?? ''), `${folder}: ${String(license)}`);
      assert.equal(manifestOf(folder).license, license, folder);
    }
  });

  test('is what npm sbom lists, version by version and digest by digest', async () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    assert.match(scripts['sbom'] ?? '', /^npm sbom /);
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
    const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'sbom'], { cwd: root, env, timeout: 60_000 });
    const bill = JSON.parse(stdout) as {
      bomFormat: string;
      metadata: { component: { purl: string } };
      components: { name: string; version: string; hashes: { alg: string; content: string }[] }[];
    };
    assert.equal(bill.bomFormat, 'CycloneDX');
    assert.match(bill.metadata.component.purl, /^pkg:npm\/a2a-strict@/);
    assert.deepEqual(
      bill.components.map(({ name, version, hashes }) => [name, version, ...hashes.map(({ alg, content }) => `${alg} ${content}`)]).sort(),
      tree
        .map(([folder, { version, integrity = '' }]) => [
          nameOf(folder),
          version,
          `SHA-512 ${Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')}`,
        ])
        .sort(),
    );
  });
});
