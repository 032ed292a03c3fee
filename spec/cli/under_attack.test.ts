/** Answers that are made to crash the command, to hold it up or to make its user do something. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Given } from '../../lib/cli/given.js';
import { httpOf } from '../../lib/cli/policy.js';
import { run } from '../../lib/cli/run.js';
import { Running, cli } from './cli.js';
import { events, json, jsonText, startOdd, taskOf, taskText } from './odd_agent.js';

const answering = (t: TestContext, result: string) =>
  startOdd(t, ({ id }, response) => {
    jsonText(response, `{"jsonrpc":"2.0","id":"${id}","result":${result}}`);
  });

describe('Under attack', { concurrency: true }, () => {
  test('A deep answer of many members is not indented beyond what a string holds', async (t: TestContext) => {
    const { url } = await answering(t, `${'['.repeat(95)}${'1,'.repeat(3_500_000)}1${']'.repeat(95)}`);
    const { code, stdout, stderr } = await cli(['call', url, '--exact', 'm']);
    deepEqual([code, stderr, stdout.slice(0, 98)], [0, '', `${'['.repeat(95)}1,1`]);
  });

  test('Parameters that JSON would change without a word are refused, and nothing is sent', async (t: TestContext) => {
    const { url, asked } = await answering(t, '{}');
    const { code, stderr } = await cli(['call', url, '--exact', 'm', '{"a":1,"a":2}']);
    deepEqual([code, asked], [2, []]);
    match(stderr, /PARAMS is no I-JSON \(json\.duplicate_member\)/);
  });

  for (const [token, told] of [
    ['a'.repeat(1_000), `more: --page-token ${'a'.repeat(1_000)}\n`],
    ["$(x); 'y'", `more: --page-token='$(x); '\\''y'\\'''\n`],
    ['-x', "more: --page-token='-x'\n"],
    ['\u001b[31m', 'more: the page token cannot be shown here, --json shows it\n'],
  ] as const) {
    test(`The page token ${JSON.stringify(token.slice(0, 12))} is told whole, as a shell takes it, or not at all`, async (t: TestContext) => {
      const { url } = await answering(t, JSON.stringify({ tasks: [], nextPageToken: token }));
      equal((await cli(['list', url, '--exact'])).stderr, told);
    });
  }

  test('An option with a full stop in its name is told whole', async () => {
    match((await cli(['card', 'http://127.0.0.1:1/', '--no.such'])).stderr, /^a2a-strict: there is no option '--no\.such'\n/);
  });

  test('The clock of send runs on while the task is looked at every second', async (t: TestContext) => {
    const task = taskOf('', 'TASK_STATE_WORKING');
    const { url } = await startOdd(t, ({ id, method }, response) => {
      json(response, { jsonrpc: '2.0', id, result: method === 'SendMessage' ? { task } : task });
    });
    const running = new Running(['send', url, 'hi', '--exact', '--cancel-on-interrupt', '--timeout', '1500ms']);
    const stopper = setTimeout(() => {
      running.interrupt();
    }, 20_000);
    const { code, stderr } = await running.ended;
    clearTimeout(stopper);
    equal(code, 7);
    match(stderr, /^a2a-strict: deadline_exceeded \(deadline\./);
  });

  test('Ctrl-C ends it where nobody reads what it prints', async (t: TestContext) => {
    const { url } = await answering(t, taskText('x'));
    let interrupt = (): void => undefined;
    const stuck = new Writable({
      write: () => {
        setImmediate(interrupt);
      },
    });
    const code = await Promise.race([
      run(['get', url, 'task-1', '--exact'], {
        stdin: Readable.from([]),
        stdout: stuck,
        stderr: new Writable({ write: (_chunk, _encoding, done) => { done(); } }),
        env: {},
        onInterrupt: (listener) => {
          interrupt = () => { listener('SIGINT'); };
          return () => undefined;
        },
      }),
      sleep(10_000, 'it hangs', { ref: false }),
    ]);
    equal(code, 130);
  });

  test('Ctrl-C ends it in the midst of many lines', async (t: TestContext) => {
    const { url } = await answering(t, taskText('\n'.repeat(300_000)));
    let interruption: NodeJS.Immediate | undefined;
    const running: Running = new Running(['get', url, 'task-1', '--exact'], {
      onOutput: () => {
        interruption ??= setImmediate(() => {
          running.interrupt();
        });
      },
    });
    const { code, stdout } = await running.ended;
    equal(code, 130);
    ok(stdout.length < 2_000_000, `${stdout.length} characters`);
  });

  test('A stream may say more than 64 MiB where its bound is larger', async (t: TestContext) => {
    const text = 'y'.repeat(1_000_000);
    const { url } = await startOdd(t, ({ id }, response) => {
      const event = (result: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
      const artifact = { artifactId: 'a', parts: [{ text }] };
      const update = event({ artifactUpdate: { taskId: 'task-1', contextId: 'context-1', append: true, artifact } });
      const [first, last] = ['WORKING', 'COMPLETED'].map((state) => event({ task: { ...taskOf('', `TASK_STATE_${state}`), artifacts: [] } }));
      events(response, [first!, ...Array<string>(70).fill(update), last!]);
    });
    let printed = 0;
    const stdout = new Writable({ write: (chunk: Buffer, _encoding, done) => { printed += chunk.length; done(); } });
    const stderr = new Writable({ write: (_chunk, _encoding, done) => { done(); } });
    const io = { stdin: Readable.from([]), stdout, stderr, env: {}, onInterrupt: () => () => undefined };
    equal(await run(['stream', url, 'hi', '--exact', '--max-stream-bytes', '128M'], io), 0);
    equal(printed, 70_000_001);
  });

  test('No clock for the connection is no clock, also where an agent would have one of its own', () => {
    equal(httpOf(new Given({ 'connect-timeout': 'none' }), {}, undefined).connectTimeoutMs, 2 ** 31 - 1);
    equal(httpOf(new Given({}), {}, undefined).connectTimeoutMs, 30_000);
  });

  test("The query of an endpoint is not in what card shows of the agent's interfaces", async (t: TestContext) => {
    const { url } = await startOdd(t, (_asked, response) => {
      const supportedInterfaces = [{ url: `${url}?key=fake-key-77`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
      json(response, { name: 'A', version: '1', supportedInterfaces, capabilities: {} });
    });
    const { code, both } = await cli(['card', url, '--card-path', '/card']);
    equal(code, 0);
    match(both, /^interfaces +JSONRPC 1\.0 {2}http:\/\/127\.0\.0\.1:\d+\/\?…$/m);
    ok(!both.includes('fake-key'), both);
  });

  test('A connection that is never made does not keep the process', { skip: process.platform !== 'linux' && 'how a full backlog behaves is of Linux' }, async (t: TestContext) => {
    // Its process sleeps: it accepts none, and so the backlog is full after a few.
    const deaf = spawn(process.execPath, ['-e', `
      const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
        require('node:fs').writeSync(1, String(server.address().port));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      });`]);
    t.after(() => deaf.kill('SIGKILL'));
    const [port] = (await once(deaf.stdout, 'data')) as [Buffer];
    for (let at = 0; at < 8; at++) {
      const socket = connect(Number(port.toString()), '127.0.0.1').on('error', () => undefined);
      t.after(() => socket.destroy());
    }
    await sleep(300);
    const main = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url));
    const argv = ['get', `http://127.0.0.1:${port.toString()}/`, 't', '--exact', '--connect-timeout', '500ms'];
    const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), main, ...argv], { timeout: 20_000, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'pipe'] });
    const [code] = (await once(child, 'exit')) as [number | null];
    equal(code, 7);
  });
});
