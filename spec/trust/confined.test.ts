import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { endedTask, record, type Recorder } from '../support/caller_server.js';
import { compile, entryPoints, root, type Compiled } from './compiled.js';
import { runtimeTree } from './lockfile.js';

let compiled: Compiled;
let server: Recorder;
before(async () => {
  compiled = compile();
  server = await record(endedTask);
});
after(async () => {
  compiled.remove();
  await server.close();
});

const NO_CODE = '--disallow-code-generation-from-strings';
const FROZEN = '--frozen-intrinsics';
const CHILDREN = fileURLToPath(new URL('./children', import.meta.url));

/** Node's permission model, with nothing but the reading of the code allowed: the library, what it depends on, and what says that it is ESM. */
function permission(): string[] {
  const readable = [compiled.folder, CHILDREN, join(root, 'package.json'), ...[...runtimeTree().keys()].map((folder) => join(root, folder))];
  return ['--permission', ...readable.map((path) => `--allow-fs-read=${path}`)];
}

/** Since Node 25 the network is a permission too. */
const NETWORK = process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : [];

interface Report {
  readonly unary?: string;
  readonly events?: number;
  readonly failed?: string;
  readonly forbidden: Readonly<Record<'code' | 'intrinsics' | 'read' | 'spawn' | 'connect', string>>;
}

/** A unary call and a stream, and imports of all entry points, in a process with these flags. */
async function run(flags: readonly string[]): Promise<Report> {
  const [library = '', ...others] = entryPoints().map((entry) => compiled.urlOf(entry));
  const args = ['--disable-warning=ExperimentalWarning', ...flags, join(CHILDREN, 'calls.js'), library, `${server.origin}/`, fileURLToPath(import.meta.url), ...others];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: root, env: {}, timeout: 30_000 });
  assert.equal(stderr, '');
  return JSON.parse(stdout) as Report;
}

const FREE = { code: 'allowed', intrinsics: 'allowed', read: 'allowed', spawn: 'allowed', connect: 'allowed' };
const DENIED = 'ERR_ACCESS_DENIED';

describe('Calls and streams work', () => {
  const cases: readonly (readonly [string, () => string[], Partial<Report['forbidden']>])[] = [
    ['where no code may be made of strings', () => [NO_CODE], { code: 'EvalError' }],
    ['where everything built in is frozen', () => [FROZEN], { intrinsics: 'TypeError' }],
    ['where nothing is permitted but the network and reading the code', () => [...permission(), ...NETWORK], { read: DENIED, spawn: DENIED }],
    [
      'where all of these hold',
      () => [NO_CODE, FROZEN, ...permission(), ...NETWORK],
      { code: 'EvalError', intrinsics: 'TypeError', read: DENIED, spawn: DENIED },
    ],
  ];
  for (const [name, flags, forbidden] of cases) {
    test(name, async () => {
      assert.deepEqual(await run(flags()), { unary: 'task', events: 1, forbidden: { ...FREE, ...forbidden } });
    });
  }

  test('and where not even the network is permitted, the failure says so', { skip: NETWORK.length === 0 && 'before Node 25 the network is no permission' }, async () => {
    const { failed, forbidden } = await run(permission());
    assert.deepEqual([failed, forbidden.connect], [`http.connect not_sent ${DENIED}`, DENIED]);
  });
});
