/**
 * Judges what would be published: the packed tarball, installed into an empty folder of its own, as a stranger would meet it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import assert from 'node:assert/strict';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'a2a-strict-package-'));
// npm tells scripts about the project that runs them; the stranger's npm must not hear of it.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));

function run(command: string, args: readonly string[], cwd = folder): string {
  console.log(`> ${command} ${args.join(' ').replaceAll(folder, '.')}`);
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

const write = (name: string, text: string): void => {
  writeFileSync(join(folder, name), text);
};

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

const CONSUMER = `
import { Agent } from 'undici';
import { Failure, StrictClient, failureOf, hardenedAgent, userText, type CallOptions, type FailureRule, type Reply, type Task } from 'a2a-strict';
import { RemoteAgent, type TaskStream } from 'a2a-strict/agent';
import { AgentCardCache, type FetchedCard } from 'a2a-strict/discovery';
import { StrictTransportFactory, strictFetch } from 'a2a-strict/sdk';
import { textPeer, type TextStream } from 'a2a-strict/text';

const options: CallOptions = { endpoint: 'http://127.0.0.1:1/', protocolVersion: '1.0', maxResponseBytes: 1 };
const client = new StrictClient(new Agent());
export const reply: Promise<Reply<Task>> = client.getTask(options, { id: 't' });
export const events = client.sendStreamingMessage({ ...options, maxEventBytes: 1 }, { message: userText('hi') });
export const card: Promise<FetchedCard> = new AgentCardCache().get(new Agent(), 'http://127.0.0.1:1/');
export const followed: TaskStream = new RemoteAgent('http://127.0.0.1:1/', { dispatcher: hardenedAgent() }).follow('t');
export const text: TextStream = textPeer('a2a://127.0.0.1:1').stream('hi');
export const sdk = [new StrictTransportFactory({ dispatcher: new Agent() }).protocolName, strictFetch(new Agent(), { maxResponseBytes: 1 })];
export const rule = (error: unknown): FailureRule | undefined => failureOf(error)?.rule ?? (error instanceof Failure ? error.rule : undefined);
`;

const SMOKE = `
const says = (m) => {
  const { StrictClient, Failure } = m;
  return new StrictClient({}).getTask({}, {}).then(
    () => { throw new Error('accepted'); },
    (error) => { if (!(error instanceof Failure) || error.rule !== 'options.dispatcher') throw error; },
  );
};
`;

try {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], root)) as Packed[];
  assert.ok(packed);
  const tarball = join(folder, packed.filename);

  // Exactly the compiled sources, their types, and the texts.
  const sources = execFileSync('git', ['ls-files', 'lib'], { cwd: root, encoding: 'utf8' }).split('\n').filter((name) => name.endsWith('.ts'));
  const texts = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'docs/interop.md', 'docs/observability.md', 'docs/speed.svg', 'package.json'];
  const expected = [
    ...sources.flatMap((name) => ['.js', '.d.ts'].map((ending) => name.replace(/^lib\//, 'dist/').replace(/\.ts$/, ending))),
    ...texts,
  ].sort();
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), expected, 'the files of the package');

  run('npx', ['publint', '--strict', tarball], root);
  run('npx', ['attw', '--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm', '--', tarball], root);

  write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { devDependencies: Record<string, string> };
  const tools = ['typescript', '@types/node'].map((name) => `${name}@${devDependencies[name] ?? ''}`);
  // No script runs at the consumer's.
  run('npm', ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', tarball, 'undici', ...tools]);

  const layers = ['discovery', 'agent', 'text', 'sdk'].map((layer) => `a2a-strict/${layer}`);
  const esm = layers.map((layer) => `await import('${layer}');`).join(' ');
  const cjs = layers.map((layer) => `require('${layer}');`).join(' ');
  write('smoke.mjs', `${SMOKE} await says(await import('a2a-strict')); ${esm}`);
  write('smoke.cjs', `${SMOKE} ${cjs} says(require('a2a-strict')).catch((error) => { console.error(error); process.exit(1); });`);
  run(process.execPath, ['smoke.mjs']);
  run(process.execPath, ['smoke.cjs']);

  assert.match(run('npx', ['--no-install', 'a2a-strict', '--version']), /^\d+\.\d+\.\d+\n$/);
  const shown = run('npx', ['--no-install', 'a2a-strict', 'demo', 'any text']);
  assert.match(shown, /^All \d+ checks passed\.$/m);
  // What `npm start` shows is just that, but for the names that are made anew for each run.
  const stable = (text: string): string => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+ ms|127\.0\.0\.1:\d+/g, '…');
  assert.equal(stable(shown), stable(run('npm', ['run', '--silent', 'start', '--', 'any text'], root)));

  write('consumer.ts', CONSUMER);
  write('consumer.cts', CONSUMER);
  for (const [module, resolution] of [['node20', 'node16'], ['nodenext', 'nodenext'], ['esnext', 'bundler']] as const) {
    const files = resolution === 'bundler' ? ['consumer.ts'] : ['consumer.ts', 'consumer.cts'];
    run(process.execPath, [
      join('node_modules', 'typescript', 'bin', 'tsc'),
      ...['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2023', '--lib', 'es2024,esnext.disposable', '--types', 'node'],
      ...['--module', module, '--moduleResolution', resolution, ...files],
    ]);
  }
  console.log(`The package is whole: ${String(packed.files.length)} files.`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
