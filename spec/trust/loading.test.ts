import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compile, entryPoints, root } from './compiled.js';
import { nameOf, runtimeTree } from './lockfile.js';

/** The folders of `lib` that are layers above the transport, lowest first. */
const LAYERS = ['discovery', 'agent', 'text', 'sdk', 'cli'];

describe('Loading an entry point', () => {
  test('loads no layer above its own, and no package but those that are installed with it', async (t) => {
    const compiled = compile();
    t.after(() => {
      compiled.remove();
    });
    const entries = entryPoints();
    // Those layers that are no entry point yet are loaded too, so that the question means something.
    const faces = LAYERS.map((layer) => `${layer}/index.ts`).filter((source) => existsSync(join(root, 'lib', source)));
    const sources = [...new Set([...entries.map(({ source }) => source), ...faces])];
    const child = fileURLToPath(new URL('./children/loads.js', import.meta.url));
    const urls = sources.map((source) => compiled.urlOf({ name: source, source }));
    const { stdout } = await promisify(execFile)(process.execPath, [child, ...urls], { cwd: root, env: {}, timeout: 30_000, maxBuffer: 1 << 26 });
    const importsOf = Map.groupBy(JSON.parse(stdout) as [from: string, to: string][], ([from]) => from);

    const installed = new Set([...runtimeTree().keys()].map(nameOf));
    for (const [i, source] of sources.entries()) {
      const reached = new Set([urls[i]!]);
      for (const url of reached) for (const [, to] of importsOf.get(url) ?? []) reached.add(to);
      const files = [...reached].filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
      const layers = new Set<string>();
      for (const file of files) {
        const [first = ''] = relative(compiled.folder, file).split(sep);
        if (LAYERS.includes(first)) layers.add(first);
        const [, name] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file.split(sep).join('/')) ?? [];
        if (first === '..') assert.ok(name !== undefined && installed.has(name), `${source} loads ${file}`);
      }
      const own = LAYERS.indexOf(source.split('/')[0]!);
      assert.deepEqual([...layers].filter((layer) => LAYERS.indexOf(layer) > own), [], source);
      assert.ok(files.length > 20, `${source}: the graph was seen`);
    }
    assert.ok(readdirSync(compiled.folder).length > 10);
  });
});
