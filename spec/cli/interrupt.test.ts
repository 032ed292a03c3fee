import { deepEqual, equal, match } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { describe, test, type TestContext } from 'node:test';
import { Running } from './cli.js';
import { json, startOdd, taskOf, taskText, type Asked } from './odd_agent.js';

const frame = (id: string, result: string): string => `data: {"jsonrpc":"2.0","id":"${id}","result":${result}}\n\n`;
const working = (text: string): string => `{"task":${taskText(text, 'TASK_STATE_WORKING')}}`;

/** Begins a stream, and leaves it open. */
function begin(response: ServerResponse, { id }: Asked, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(frame(id, working(text)));
}

interface Stage {
  readonly running: Running;
  readonly asked: readonly Asked[];
  /** The agent has seen the stream's connection close. */
  readonly closed: Promise<undefined>;
}

/** A stream that goes on until it is interrupted, which happens as soon as its first text was printed. */
async function interrupted(t: TestContext, others: readonly string[], answerCancel?: (asked: Asked, response: ServerResponse, stream: { readonly id: string; readonly response: ServerResponse }) => void): Promise<Stage> {
  const closed = Promise.withResolvers<undefined>();
  let open: { readonly id: string; readonly response: ServerResponse } | undefined;
  const { url, asked } = await startOdd(t, (one, response) => {
    if (one.method === 'CancelTask' && open !== undefined) {
      answerCancel?.(one, response, open);
      return;
    }
    open = { id: one.id, response };
    begin(response, one, 'so far');
    response.on('close', () => {
      closed.resolve(undefined);
    });
  });
  const running: Running = new Running(['stream', url, 'hi', ...others], {
    onOutput: () => {
      running.interrupt();
    },
  });
  return { running, asked, closed: closed.promise };
}

const methods = (asked: readonly Asked[]): string[] => asked.map(({ method }) => method).filter((method) => method !== '');

describe('Ctrl-C', { concurrency: true }, () => {
  test('It closes the stream, and leaves the task alone', async (t) => {
    const { running, asked, closed } = await interrupted(t, []);
    deepEqual(await running.ended, { code: 130, stdout: 'so far\n', stderr: '', both: 'so far\n' });
    await closed;
    deepEqual(methods(asked), ['SendStreamingMessage']);
  });

  test('The other signal has an exit code of its own', async (t) => {
    const { url } = await startOdd(t, () => undefined);
    const running = new Running(['get', url, 't', '--exact']);
    setImmediate(() => {
      running.interrupt('SIGTERM');
    });
    equal((await running.ended).code, 143);
  });

  test('Where the user wants it, the task is canceled first', async (t) => {
    const { running, asked, closed } = await interrupted(t, ['--cancel-on-interrupt'], ({ id }, response) => {
      json(response, { jsonrpc: '2.0', id, result: taskOf('', 'TASK_STATE_CANCELED') });
    });
    const { code, stdout, stderr } = await running.ended;
    deepEqual([code, stdout, stderr], [130, 'so far\n', 'canceling task task-1\nit is canceled\n']);
    await closed;
    deepEqual(methods(asked), ['SendStreamingMessage', 'CancelTask']);
    equal((JSON.parse(asked.at(-1)!.body) as { params: { id: string } }).params.id, 'task-1');
  });

  test('The agent may end the stream while it cancels the task: both are told', async (t) => {
    const { running } = await interrupted(t, ['--cancel-on-interrupt'], ({ id }, response, stream) => {
      stream.response.end(frame(stream.id, `{"task":${taskText('so far and no further', 'TASK_STATE_CANCELED')}}`));
      // The stream has ended by then: the answer is waited for all the same.
      setTimeout(() => {
        json(response, { jsonrpc: '2.0', id, result: taskOf('', 'TASK_STATE_CANCELED') });
      }, 100);
    });
    const { code, stdout, stderr } = await running.ended;
    deepEqual([code, stdout], [130, 'so far and no further\n']);
    match(stderr, /^canceling task task-1\n(.*\n)*it is canceled\n$/);
  });

  test('An agent that does not cancel is told', async (t) => {
    const { running } = await interrupted(t, ['--cancel-on-interrupt'], ({ id }, response) => {
      json(response, { jsonrpc: '2.0', id, error: { code: -32002, message: 'no' } });
    });
    const { code, stderr } = await running.ended;
    equal(code, 130);
    match(stderr, /it could not be canceled: remote\.error/);
  });

  test('send looks at the task every second, and knows what to cancel', async (t) => {
    let running: Running | undefined = undefined;
    const { url, asked } = await startOdd(t, ({ id, method }, response) => {
      const isCancel = method === 'CancelTask';
      const task = taskOf('', isCancel ? 'TASK_STATE_CANCELED' : 'TASK_STATE_WORKING');
      json(response, { jsonrpc: '2.0', id, result: method === 'SendMessage' ? { task } : task });
      if (method === 'GetTask') running?.interrupt();
    });
    running = new Running(['send', url, 'hi', '--cancel-on-interrupt']);
    const { code, stderr } = await running.ended;
    deepEqual([code, stderr], [130, 'canceling task task-1\nit is canceled\n']);
    deepEqual(methods(asked), ['SendMessage', 'GetTask', 'CancelTask']);
  });

  test('send with that option prints the answer that comes in the end', async (t) => {
    let looks = 0;
    const { url } = await startOdd(t, ({ id, method }, response) => {
      if (method === 'GetTask') looks++;
      const task = taskOf('found', looks === 1 ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_SUBMITTED');
      json(response, { jsonrpc: '2.0', id, result: method === 'SendMessage' ? { task } : task });
    });
    const { code, stdout } = await new Running(['send', url, 'hi', '--cancel-on-interrupt']).ended;
    deepEqual([code, stdout], [0, 'found\n']);
  });

  test('Before there is a task, there is none to cancel', async (t) => {
    let running: Running | undefined = undefined;
    const { url } = await startOdd(t, () => running?.interrupt());
    running = new Running(['send', url, 'hi', '--cancel-on-interrupt']);
    const { code, stderr } = await running.ended;
    deepEqual([code, stderr], [130, 'no task is known yet: none is canceled\n']);
  });

  test('Until then, demo --serve runs an agent that others can call', async () => {
    let printed = '';
    let told = (): void => undefined;
    const listening = new Promise<void>((resolve) => (told = resolve));
    const agent: Running = new Running(['demo', '--serve', '0'], {
      onOutput: (text) => {
        printed = text;
        told();
      },
    });
    await listening;
    const [url = ''] = printed.split(' ');
    const { code, stdout } = await new Running(['send', url, 'some words']).ended;
    deepEqual([code, stdout.startsWith('words 2')], [0, true]);
    const taken = await new Running(['demo', '--serve', new URL(url).port]).ended;
    deepEqual([taken.code, /something else listens on port/.test(taken.stderr)], [2, true]);
    agent.interrupt();
    deepEqual(await agent.ended.then(({ code: ended, stderr }) => [ended, stderr]), [130, '']);
  });

  test('demo --serve takes a port and no text', async () => {
    for (const args of [['--serve', 'x'], ['--serve', '65536'], ['--serve', '-1'], ['--serve', '0', 'text']]) {
      const { code, stderr } = await new Running(['demo', ...args]).ended;
      deepEqual([code, stderr.startsWith('a2a-strict: ')], [2, true], args.join(' '));
    }
  });

  test('It ends a check, a demonstration and the wait for stdin', async (t) => {
    let asked = (): void => undefined;
    const asking = new Promise<void>((resolve) => (asked = resolve));
    const { url } = await startOdd(t, () => {
      asked();
    });
    const check: Running = new Running(['check', url, '--exact']);
    void asking.then(() => {
      check.interrupt();
    });
    const demo: Running = new Running(['demo'], {
      onOutput: () => {
        demo.interrupt();
      },
    });
    const send = new Running(['send', url, '-'], { stdin: new Readable({ read: () => undefined }) });
    setImmediate(() => {
      send.interrupt();
    });
    for (const running of [check, demo, send]) deepEqual(await running.ended.then(({ code, stderr }) => [code, stderr]), [130, '']);
  });
});
