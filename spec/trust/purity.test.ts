import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compile, entryPoints, root, type Compiled } from './compiled.js';

/** What an import changed. */
interface Report {
  /** Names of environment variables that were read. */
  readonly env: readonly string[];
  /** Kinds of asynchronous resources that were made. */
  readonly resources: readonly string[];
  /** Kinds of those that were left behind: timers, servers, sockets, … */
  readonly left: readonly string[];
  /** Properties of globals, of what is built in, of `process` and of Node's modules. */
  readonly changed: readonly string[];
}

/** Node's own loader asks for it, for each module. */
const OF_THE_LOADER = ['WATCH_REPORT_DEPENDENCIES'];

/** What the dependencies read when they are imported, and why. */
const READ_BY_DEPENDENCIES = [
  // undici: which of its parsers to take.
  'UNDICI_NO_WASM_SIMD',
  'UNDICI_USE_MILO',
];

/** What the dependencies add to the globals, and why. */
const ADDED_BY_DEPENDENCIES = [
  // undici: the dispatcher of those who bring none, shared by all of its copies, as Node's own `fetch` does. It is never asked here.
  'Symbol(undici.globalDispatcher.1)',
  'Symbol(undici.globalDispatcher.2)',
];

const run = async (args: readonly string[]): Promise<unknown> => {
  // Nothing of this process's environment: not what compiles the tests, nor a proxy.
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env: {}, timeout: 30_000, maxBuffer: 1 << 26 });
  return JSON.parse(stdout);
};
const child = (name: string): string => fileURLToPath(new URL(`./children/${name}`, import.meta.url));

let compiled: Compiled;
before(() => {
  compiled = compile();
});
after(() => {
  compiled.remove();
});

describe('Importing any entry point', () => {
  test('opens nothing, reads no environment variable, touches no global, patches nothing, starts no timer', async () => {
    const own = entryPoints().map((entry) => compiled.urlOf(entry));
    assert.ok(own.length > 0);
    const dirty = child('dirty.js');
    // The packages come first: what is left for the entry points is their own.
    const { size, reports } = (await run([child('purity.js'), ...compiled.packages, ...own, dirty])) as {
      size: number;
      reports: Record<string, Report>;
    };
    assert.ok(size > 3000, 'the world was seen');
    for (const url of own) {
      assert.deepEqual(reports[url], { env: OF_THE_LOADER, resources: ['PROMISE'], left: [], changed: [] }, url);
    }

    // Of the dependencies no more than is known.
    const ofPackages = compiled.packages.map((name) => reports[name]!);
    const read = new Set(ofPackages.flatMap(({ env }) => env).filter((name) => !OF_THE_LOADER.includes(name)));
    assert.deepEqual([...read].sort(), READ_BY_DEPENDENCIES);
    const added = ADDED_BY_DEPENDENCIES.map((key) => `globalThis.${key}`);
    assert.deepEqual(ofPackages.flatMap(({ left, changed }) => [...left, ...changed.filter((change) => !added.includes(change))]), []);

    // It would have been seen.
    const seen = reports[dirty]!;
    assert.ok(seen.env.includes('HOME'));
    assert.ok(seen.resources.includes('Timeout') && seen.resources.includes('TCPSERVERWRAP'), seen.resources.join());
    assert.ok(seen.left.includes('Timeout') && seen.left.includes('TCPServerWrap'), seen.left.join());
    const changes = ['%TypedArray%.length', 'globalThis.Array.prototype.last', 'globalThis.added', 'http.request', 'process._events.warning'];
    assert.deepEqual(changes.filter((change) => !seen.changed.includes(change)), [], seen.changed.join());
  });

  test('adds to the globals no more than its dependencies are known to', async () => {
    const script = `
      const before = new Set(Reflect.ownKeys(globalThis));
      for (const url of process.argv.slice(1)) await import(url);
      console.log(JSON.stringify(Reflect.ownKeys(globalThis).filter((key) => !before.has(key)).map(String).sort()));
    `;
    const urls = entryPoints().map((entry) => compiled.urlOf(entry));
    assert.deepEqual(await run(['--input-type=module', '--eval', script, ...compiled.packages, ...urls]), ADDED_BY_DEPENDENCIES);
  });
});
