/** The command as its own process: what a shell sees of it. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startOdd, taskText, type Asked } from './odd_agent.js';

const MAIN = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url));

function start(t: TestContext, argv: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), MAIN, ...argv], { env: { ...process.env, ...env }, timeout: 60_000 });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

async function end(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  child.stdin?.end();
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!), child.exitCode === null ? once(child, 'exit') : undefined]);
  return { code: child.exitCode, stdout, stderr };
}

/** Begins a stream whose text has one line, and leaves it open. */
function begin({ id }: Asked, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: {"jsonrpc":"2.0","id":"${id}","result":{"task":${taskText('one line\n', 'TASK_STATE_WORKING')}}}\n\n`);
}

describe('The process', { concurrency: true }, () => {
  test('Its file says what runs it, and it tells its version', async (t) => {
    match(readFileSync(MAIN, 'utf8'), /^#!\/usr\/bin\/env node\n/);
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
    deepEqual(await end(start(t, ['--version'])), { code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('Of a pipe it prints no colours, a wrong command line ends it with 2, and a secret is nowhere', async (t) => {
    const { url } = await startOdd(t, (_asked, response) => response.writeHead(500).end());
    const { code, stdout, stderr } = await end(start(t, ['get', `${url}?key=fake-key-77`, 't', '--exact', '--header-env', 'X-Key=KEY'], { KEY: 'fake-secret-0123' }));
    deepEqual([code, stdout], [6, '']);
    ok(!/\x1b|fake-key|fake-secret/.test(stderr), stderr);
  });

  test('A first Ctrl-C closes the stream and ends it; nothing keeps it alive', async (t) => {
    const closed = Promise.withResolvers<undefined>();
    const { url } = await startOdd(t, (asked, response) => {
      begin(asked, response);
      response.on('close', () => {
        closed.resolve(undefined);
      });
    });
    const child = start(t, ['stream', url, 'hi']);
    const ended = end(child);
    await once(child.stdout!, 'data');
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    deepEqual([code, stderr], [130, '']);
    await closed.promise;
  });

  test('A second Ctrl-C ends it at once, whatever it waits for', async (t) => {
    const asked = Promise.withResolvers<undefined>();
    const { url } = await startOdd(t, (one, response) => {
      // A cancellation is never answered.
      if (one.method === 'CancelTask') asked.resolve(undefined);
      else begin(one, response);
    });
    const child = start(t, ['stream', url, 'hi', '--cancel-on-interrupt']);
    const ended = end(child);
    await once(child.stdout!, 'data');
    child.kill('SIGINT');
    await asked.promise;
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    deepEqual([code, stderr], [130, 'canceling task task-1\n']);
  });

  test('A reader that leaves, as head does, ends it without a word', async (t) => {
    const { url } = await startOdd(t, (asked, response) => {
      begin(asked, response);
      const timer = setInterval(() => {
        const update = { statusUpdate: { taskId: 'task-1', contextId: 'context-1', status: { state: 'TASK_STATE_WORKING' } } };
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: update })}\n\n`);
      }, 20);
      response.on('close', () => {
        clearInterval(timer);
      });
    });
    const child = start(t, ['stream', url, 'hi', '--json']);
    const stderr = text(child.stderr!);
    await once(child.stdout!, 'data');
    child.stdout!.destroy();
    const [code] = (await once(child, 'exit')) as [number | null];
    equal(code, 0);
    equal(await stderr, '');
  });
});
