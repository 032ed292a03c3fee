import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Agent } from 'undici';
import { StrictClient } from '../lib/client.js';
import { userText } from '../lib/dialect/request.js';
import { Failure, RemoteError } from '../lib/failure.js';
import type { CallInterceptor, FinishedCall, OutgoingCall } from '../lib/interceptor.js';
import type { StreamOptions } from '../lib/options.js';
import { TASK, endedTask, failureFrom, json, record, taskNotFound, type Recorder } from './support/caller_server.js';

type Kind = 'unary call' | 'stream';
const KINDS: readonly Kind[] = ['unary call', 'stream'];

let agent: Agent;
let client: StrictClient;
let recorder: Recorder;
let base: StreamOptions;
before(async () => {
  agent = new Agent();
  client = new StrictClient(agent);
  recorder = await record(endedTask);
  base = { endpoint: `${recorder.origin}/a2a?key=1`, protocolVersion: '1.0', maxResponseBytes: 10_000, maxEventBytes: 10_000 };
});
after(async () => {
  await agent.destroy();
  await recorder.close();
});
beforeEach(() => {
  recorder.answer = endedTask;
  recorder.received.length = 0;
});

/** Makes a call and sees it to its end. */
async function run(kind: Kind, options: Partial<StreamOptions>): Promise<unknown[]> {
  const all = { ...base, ...options };
  if (kind === 'unary call') return [await client.sendMessage(all, { message: userText('hi') })];
  const items: unknown[] = [];
  for await (const item of client.sendStreamingMessage(all, { message: userText('hi') })) items.push(item);
  return items;
}

/** An interceptor that keeps what it is shown. */
function witness(name = '', log: string[] = []): CallInterceptor & { outgoing: OutgoingCall[]; finished: FinishedCall[] } {
  const outgoing: OutgoingCall[] = [];
  const finished: FinishedCall[] = [];
  return {
    outgoing,
    finished,
    before(call) {
      log.push(`before ${name}`);
      outgoing.push(call);
    },
    after(call) {
      log.push(`after ${name}`);
      finished.push(call);
    },
  };
}

/** Fails the test if a rejection or an exception reaches the process meanwhile. */
async function nothingUnhandled(body: () => Promise<void>): Promise<void> {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => {
    unhandled.push(error);
  };
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
  try {
    await body();
    // Rejections are reported once the microtasks are done.
    await turn();
    await turn();
  } finally {
    process.off('unhandledRejection', note);
    process.off('uncaughtException', note);
  }
  assert.deepEqual(unhandled, []);
}

const THROWS: readonly (readonly [how: string, run: () => never | Promise<never>])[] = [
  [
    'throws',
    () => {
      throw new TypeError('FAKE-SECRET');
    },
  ],
  ['rejects', () => Promise.reject(new TypeError('FAKE-SECRET'))],
  [
    'rejects later',
    async () => {
      await turn();
      throw new TypeError('FAKE-SECRET');
    },
  ],
];

for (const kind of KINDS) {
  describe(`Interceptors of a ${kind}`, () => {
    test('run in order, one at a time, before and after', async () => {
      const log: string[] = [];
      const slow = (name: string): CallInterceptor => ({
        async before() {
          log.push(`before ${name} begins`);
          await turn();
          log.push(`before ${name} ends`);
        },
        async after() {
          log.push(`after ${name} begins`);
          await turn();
          log.push(`after ${name} ends`);
        },
      });
      await run(kind, { interceptors: [slow('a'), slow('b'), witness('c', log)] });
      assert.deepEqual(log, [
        'before a begins',
        'before a ends',
        'before b begins',
        'before b ends',
        'before c',
        'after a begins',
        'after a ends',
        'after b begins',
        'after b ends',
        'after c',
      ]);
    });

    test('see the call that is about to be sent', async () => {
      const seen = witness();
      await run(kind, { interceptors: [seen], headers: { 'X-Key': 'a' } });
      const [call, ...others] = seen.outgoing;
      assert(call !== undefined && others.length === 0);
      const [request] = recorder.received;
      assert.equal(call.operation, kind === 'stream' ? 'sendStreamingMessage' : 'sendMessage');
      assert.equal(call.method, request?.rpc.method);
      assert.equal(call.endpoint, `${recorder.origin}/a2a?key=1`);
      assert.equal(call.requestId, request?.rpc.id);
      assert.deepEqual([...call.headers], [['x-key', 'a']]);
    });

    test('run before anything is sent', async () => {
      let receivedBefore = -1;
      const connections = recorder.connections;
      const other = new Agent();
      const own = new StrictClient(other);
      const options: StreamOptions = {
        ...base,
        interceptors: [
          {
            async before() {
              // Long enough for a request that is not held back: another one overtakes it.
              await client.sendMessage(base, { message: userText('meanwhile') });
              receivedBefore = recorder.received.length;
            },
          },
        ],
      };
      if (kind === 'unary call') await own.sendMessage(options, { message: userText('hi') });
      else await own.sendStreamingMessage(options, { message: userText('hi') }).next();
      assert.equal(receivedBefore, 1, 'only the other request');
      assert.equal(recorder.received.length, 2);
      assert(recorder.connections > connections);
      await other.destroy();
    });

    test('add, change and take off headers, each seeing what those before it did', async () => {
      await run(kind, {
        headers: { 'x-keep': 'k', 'x-change': 'old', 'x-remove': 'r' },
        interceptors: [
          {
            before({ headers }) {
              headers.set('Authorization', 'Bearer FAKE-SECRET');
              headers.set('X-Change', 'new');
            },
          },
          {
            async before({ headers }) {
              await turn();
              assert.equal(headers.get('authorization'), 'Bearer FAKE-SECRET');
              headers.append('x-change', 'er');
              headers.delete('x-remove');
              headers.set('x-latin', 'caf\u00e9');
            },
          },
        ],
      });
      const sent = new Map(recorder.received[0]?.headers);
      assert.equal(sent.get('authorization'), 'Bearer FAKE-SECRET');
      assert.equal(sent.get('x-keep'), 'k');
      assert.equal(sent.get('x-change'), 'new, er');
      assert.equal(sent.get('x-latin'), 'caf\u00e9');
      assert.equal(sent.has('x-remove'), false);
    });

    test('add nothing any more once they are done', async () => {
      let kept: Headers | undefined;
      await run(kind, {
        interceptors: [
          {
            before({ headers }) {
              kept = headers;
            },
          },
          {
            before() {
              // Once the request has been written, and long before it is answered.
              setImmediate(() => kept?.set('x-late', 'late'));
            },
          },
        ],
      });
      await turn();
      assert.equal(kept?.get('x-late'), 'late');
      assert.equal(new Map(recorder.received[0]?.headers).has('x-late'), false);
    });

    test('may not set a header that is reserved or that is none', async () => {
      const refused: readonly (readonly [name: string, value: string])[] = [
        ...[
          'host',
          'Content-Length',
          'content-type',
          'Accept',
          'accept-encoding',
          'transfer-encoding',
          'connection',
          'te',
          'trailer',
          'upgrade',
          'expect',
          'keep-alive',
          'proxy-connection',
          'A2A-Version',
          'a2a-extensions',
          'x-a2a-extensions',
        ].map((name) => [name, 'x'] as const),
        ['x-key', 'a\u0001b'],
        ['x-key', 'a\u007f'],
      ];
      for (const [name, value] of refused) {
        const seen = witness();
        const setting: CallInterceptor = {
          before({ headers }) {
            headers.set(name, value);
          },
        };
        const failure = await failureFrom(() => run(kind, { interceptors: [seen, setting] }));
        assert.equal(failure.rule, 'options.headers', name);
        assert.equal(failure.kind, 'invalid_argument');
        assert.equal(failure.delivery, 'not_sent');
        assert.equal(seen.finished[0]?.failure, failure);
      }
      for (const [name, value] of [['x key', 'a'], ['x-key', 'a\r\nx-evil: 1'], ['x-key', 'a\0'], ['x-key', '\u20ac']] as const) {
        const setting: CallInterceptor = {
          before({ headers }) {
            // Headers themselves throw.
            headers.set(name, value);
          },
        };
        const failure = await failureFrom(() => run(kind, { interceptors: [setting] }));
        assert.equal(failure.rule, 'interceptor.before', name);
        assert.equal(failure.delivery, 'not_sent');
      }
      assert.equal(recorder.received.length, 0);
    });

    test('cannot get a reserved header past the check by putting other headers in the place of theirs', async () => {
      const replacing: CallInterceptor = {
        before(call) {
          try {
            Object.assign(call, { headers: new Map([['host', 'evil.example']]), endpoint: 'http://127.0.0.1:1/', requestId: 'mine' });
          } catch {
            // Frozen is as good.
          }
        },
      };
      try {
        await run(kind, { interceptors: [replacing] });
      } catch (error) {
        assert(error instanceof Failure);
        assert.equal(error.rule, 'options.headers');
      }
      for (const { headers, rpc } of recorder.received) {
        assert.equal(new Map(headers).get('host'), new URL(recorder.origin).host);
        assert.match(String(rpc.id), /^[0-9a-f]{32}$/);
      }
    });

    test('see how the call ended', async () => {
      const seen = witness();
      const startedAt = performance.now();
      await run(kind, { interceptors: [seen] });
      const took = performance.now() - startedAt;
      const [call, ...others] = seen.finished;
      assert(call !== undefined && others.length === 0);
      assert.equal(call.operation, kind === 'stream' ? 'sendStreamingMessage' : 'sendMessage');
      assert.equal(call.method, recorder.received[0]?.rpc.method);
      assert.equal(call.endpoint, `${recorder.origin}/a2a?key=1`);
      assert.equal(call.requestId, recorder.received[0]?.rpc.id);
      assert.equal(call.status, 200);
      assert.equal(call.headers?.['content-type'], kind === 'stream' ? 'text/event-stream' : 'application/json');
      const rpc = JSON.stringify({ jsonrpc: '2.0', id: call.requestId, result: { task: TASK } });
      assert.equal(call.bytes, kind === 'stream' ? `id: 1\ndata: ${rpc}\n\n`.length : rpc.length);
      assert.equal(call.events, kind === 'stream' ? 1 : 0);
      assert(call.milliseconds > 0 && call.milliseconds <= took, `${call.milliseconds} of ${took}`);
      assert.equal(call.failure, undefined);
    });

    test('see the failure that the call ends with, and what came before it', async () => {
      const body = { error: { code: -32001, message: 'no' } };
      recorder.answer = ({ rpc }, response) => {
        response.setHeader('x-trace', 'abc');
        json(response, { id: rpc.id, ...body });
      };
      const seen = [witness(), witness()];
      const failure = await failureFrom(() => run(kind, { interceptors: seen }));
      assert.equal(failure.rule, 'remote.error');
      for (const { finished } of seen) {
        const [call] = finished;
        assert.equal(call?.failure, failure);
        assert(call.failure.unwrap() instanceof RemoteError);
        assert.equal(call.status, 200);
        assert.equal(call.headers?.['x-trace'], 'abc');
        assert.equal(call.bytes, JSON.stringify({ jsonrpc: '2.0', id: call.requestId, ...body }).length);
        assert.equal(call.events, 0);
      }
    });

    test('see no status, headers or bytes of an answer that never came', async () => {
      recorder.answer = (_request, response) => response.socket?.destroy();
      const seen = witness();
      const failure = await failureFrom(() => run(kind, { interceptors: [seen] }));
      assert.equal(failure.rule, 'http.connection_lost');
      const [call] = seen.finished;
      assert.equal(call?.failure, failure);
      assert.equal(call.status, undefined);
      assert.equal(call.headers, undefined);
      assert.equal(call.bytes, 0);
    });

    test('see the status of an answer that is refused', async () => {
      recorder.answer = (_request, response) => {
        response.writeHead(503, { 'content-type': 'text/plain', 'retry-after': '7' }).end('busy');
      };
      const seen = witness();
      const failure = await failureFrom(() => run(kind, { interceptors: [seen] }));
      assert.equal(failure.rule, 'http.status');
      assert.equal(seen.finished[0]?.status, 503);
      assert.equal(seen.finished[0].headers?.['retry-after'], '7');
      assert.equal(seen.finished[0].failure?.retryAfterMs, 7000);
    });

    for (const [how, fail] of THROWS) {
      test(`whose before ${how} end the call, and nothing is sent`, async () => {
        await nothingUnhandled(async () => {
          const log: string[] = [];
          const failing = { ...witness('failing', log), before: fail };
          const interceptors = [witness('first', log), witness('second', log), failing, witness('last', log)];
          const failure = await failureFrom(() => run(kind, { interceptors }));
          assert.equal(failure.rule, 'interceptor.before');
          assert.equal(failure.kind, 'invalid_argument');
          assert.equal(failure.delivery, 'not_sent');
          assert(failure.unwrap() instanceof TypeError);
          assert.deepEqual(log, ['before first', 'before second', 'after first', 'after second']);
          for (const { finished } of interceptors) for (const call of finished) assert.equal(call.failure, failure);
          assert.equal(recorder.received.length, 0);
        });
      });

      test(`whose after ${how} end a call that went well, the others running all the same`, async () => {
        await nothingUnhandled(async () => {
          const failing = { ...witness(), after: fail };
          const [first, last] = [witness(), witness()];
          const failure = await failureFrom(() => run(kind, { interceptors: [first, failing, last] }));
          assert.equal(failure.rule, 'interceptor.after');
          assert.equal(failure.kind, 'invalid_argument');
          assert.equal(failure.delivery, 'answered');
          assert(failure.unwrap() instanceof TypeError);
          assert.equal(first.finished[0]?.failure, undefined);
          assert.equal(last.finished[0]?.failure, failure);
        });
      });

      test(`whose after ${how} never replace a failure that is there`, async () => {
        await nothingUnhandled(async () => {
          recorder.answer = taskNotFound;
          const seen = witness();
          const failure = await failureFrom(() => run(kind, { interceptors: [{ after: fail }, { after: fail }, seen] }));
          assert.equal(failure.rule, 'remote.error');
          assert.equal(failure.code, -32001);
          assert.equal(seen.finished[0]?.failure, failure);
        });
      });
    }

    test('that throw what is no error have it behind unwrap() all the same', async () => {
      for (const thrown of [undefined, null, 'text', 0, { a: 1 }]) {
        const failure = await failureFrom(() =>
          run(kind, {
            interceptors: [
              {
                before() {
                  // What others throw need not be an Error.
                  // eslint-disable-next-line @typescript-eslint/only-throw-error
                  throw thrown;
                },
              },
            ],
          }),
        );
        assert.equal(failure.rule, 'interceptor.before');
        assert.equal(failure.unwrap(), thrown);
      }
    });

    test('that end with the failure of a call of their own have it for a cause', async () => {
      recorder.answer = taskNotFound;
      const failure = await failureFrom(() =>
        run(kind, {
          interceptors: [
            {
              async before() {
                await client.getTask(base, { id: 'token' });
              },
            },
          ],
        }),
      );
      assert.equal(failure.rule, 'interceptor.before');
      assert.equal(failure.delivery, 'not_sent');
      assert.equal((failure.unwrap() as Failure).rule, 'remote.error');
      assert.equal((failure.unwrap() as Failure).delivery, 'answered');
    });

    const ENDINGS = [
      ['timeoutMs', 'deadline.total'],
      ['a signal', 'canceled.signal'],
      ['a signal that times out', 'deadline.signal'],
    ] as const;
    for (const [ending, rule] of ENDINGS) {
      /** Options by which the call ends once `reached` is called. */
      const endingBy = (): { options: Partial<StreamOptions>; reached: () => void } => {
        if (ending === 'timeoutMs') return { options: { timeoutMs: 60 }, reached: () => undefined };
        const controller = new AbortController();
        const reason = ending === 'a signal' ? new Error('enough') : new DOMException('late', 'TimeoutError');
        return {
          options: { signal: controller.signal },
          reached() {
            setTimeout(() => {
              controller.abort(reason);
            }, 5);
          },
        };
      };

      test(`that hang in before are not waited for once ${ending} ends the call`, async () => {
        await nothingUnhandled(async () => {
          const { options, reached } = endingBy();
          const hanging = Promise.withResolvers<undefined>();
          const first = witness();
          const last = witness();
          const failing: CallInterceptor = {
            before() {
              reached();
              return hanging.promise;
            },
          };
          const failure = await failureFrom(() => run(kind, { ...options, interceptors: [first, failing, last] }));
          assert.equal(failure.rule, rule);
          assert.equal(failure.delivery, 'not_sent');
          assert.equal(first.finished[0]?.failure, failure);
          hanging.reject(new Error('too late'));
          await turn();
          assert.equal(last.outgoing.length, 0);
          assert.equal(recorder.received.length, 0);
        });
      });

      test(`that are late in before send nothing once ${ending} has ended the call`, async () => {
        const { options, reached } = endingBy();
        const hanging = Promise.withResolvers<undefined>();
        const failure = await failureFrom(() =>
          run(kind, {
            ...options,
            interceptors: [
              {
                before() {
                  reached();
                  return hanging.promise;
                },
              },
            ],
          }),
        );
        assert.equal(failure.rule, rule);
        hanging.resolve(undefined);
        await turn();
        await run(kind, {});
        assert.equal(recorder.received.length, 1);
      });

      test(`that hang in after are not waited for once ${ending} ends the call`, async () => {
        await nothingUnhandled(async () => {
          const { options, reached } = endingBy();
          const hanging = Promise.withResolvers<undefined>();
          const seen: FinishedCall[] = [];
          const failing: CallInterceptor = {
            after(call) {
              seen.push(call);
              reached();
              return hanging.promise;
            },
          };
          const failure = await failureFrom(() => run(kind, { ...options, interceptors: [failing] }));
          assert.equal(failure.rule, rule);
          assert.equal(failure.delivery, 'answered');
          assert.equal(seen.length, 1);
          assert.equal(seen[0]?.failure, undefined, 'it had gone well so far');
          hanging.reject(new Error('too late'));
        });
      });

      test(`that hang in after keep the failure that is there when ${ending} ends the wait`, async () => {
        recorder.answer = taskNotFound;
        const { options, reached } = endingBy();
        const failing: CallInterceptor = {
          after() {
            reached();
            return new Promise<undefined>(() => undefined);
          },
        };
        const failure = await failureFrom(() => run(kind, { ...options, interceptors: [failing] }));
        assert.equal(failure.rule, 'remote.error');
      });
    }

    test('that are late in before still have their after, for what they opened is to be closed', async () => {
      const controller = new AbortController();
      const hanging = Promise.withResolvers<undefined>();
      const ended = Promise.withResolvers<FinishedCall>();
      const late: CallInterceptor = {
        before() {
          setImmediate(() => {
            controller.abort();
          });
          return hanging.promise;
        },
        after: ended.resolve,
      };
      const failure = await failureFrom(() => run(kind, { signal: controller.signal, interceptors: [late] }));
      hanging.resolve(undefined);
      const call = await Promise.race([ended.promise, turn().then(() => turn()).then(() => undefined)]);
      assert.equal(call?.failure, failure);
    });

    test('do not run at all where the signal had been aborted before', async () => {
      const seen = witness();
      const failure = await failureFrom(() => run(kind, { interceptors: [seen], signal: AbortSignal.abort() }));
      assert.equal(failure.rule, 'canceled.signal');
      assert.equal(failure.delivery, 'not_sent');
      assert.deepEqual([seen.outgoing.length, seen.finished.length], [0, 0]);
    });

    test('leave no listener on the signal, however they end', async () => {
      const controller = new AbortController();
      const { signal } = controller;
      const listeners = (): number => getEventListeners(signal, 'abort').length;
      const watching: CallInterceptor = {
        before() {
          assert.equal(listeners(), 1);
        },
        after() {
          assert.equal(listeners(), 1, 'the wait for interceptors can be cut short too');
        },
      };
      await run(kind, { signal, interceptors: [watching] });
      assert.equal(listeners(), 0);
      for (const [, fail] of THROWS) {
        await failureFrom(() => run(kind, { signal, interceptors: [{ before: fail }] }));
        await failureFrom(() => run(kind, { signal, interceptors: [{ after: fail }] }));
        assert.equal(listeners(), 0);
      }
    });

    test('may be instances of a class: their methods keep their this', async () => {
      class Tracing {
        readonly seen: string[] = [];
        #count = 0;
        before(call: OutgoingCall): void {
          this.#count++;
          this.seen.push(`${call.operation} ${this.#count}`);
        }
        after({ status }: FinishedCall): void {
          this.seen.push(`${status} ${this.#count}`);
        }
      }
      const tracing = new Tracing();
      await run(kind, { interceptors: [tracing, tracing] });
      const operation = kind === 'stream' ? 'sendStreamingMessage' : 'sendMessage';
      assert.deepEqual(tracing.seen, [`${operation} 1`, `${operation} 2`, '200 2', '200 2']);
    });

    test('may have before alone, or after alone', async () => {
      const log: string[] = [];
      const interceptors: CallInterceptor[] = [
        { before: () => void log.push('before') },
        { after: () => void log.push('after') },
        { before: () => void log.push('before'), after: undefined } as unknown as CallInterceptor,
      ];
      await run(kind, { interceptors });
      assert.deepEqual(log, ['before', 'before', 'after']);
    });

    test('are not run by a call whose options or params are refused', async () => {
      const seen = witness();
      await failureFrom(() => run(kind, { interceptors: [seen], maxResponseBytes: 0 }));
      const wrong = { message: { ...userText('x'), parts: [] } };
      await failureFrom(() => client.sendMessage({ ...base, interceptors: [seen] }, wrong));
      await failureFrom(() => client.sendStreamingMessage({ ...base, interceptors: [seen] }, wrong).next());
      assert.equal(seen.outgoing.length, 0);
    });
  });
}

describe('Interceptors', () => {
  test('of every operation are told its name', async () => {
    recorder.answer = taskNotFound;
    const config = { taskId: 'x', id: 'y' };
    const calls: Readonly<Record<string, (options: StreamOptions) => Promise<unknown>>> = {
      getTask: (options) => client.getTask(options, { id: 'x' }),
      listTasks: (options) => client.listTasks(options),
      cancelTask: (options) => client.cancelTask(options, { id: 'x' }),
      subscribeToTask: (options) => client.subscribeToTask(options, { id: 'x' }).next(),
      createTaskPushNotificationConfig: (options) =>
        client.createTaskPushNotificationConfig(options, { taskId: 'x', url: 'https://example.com/' }),
      getTaskPushNotificationConfig: (options) => client.getTaskPushNotificationConfig(options, config),
      listTaskPushNotificationConfigs: (options) => client.listTaskPushNotificationConfigs(options, { taskId: 'x' }),
      deleteTaskPushNotificationConfig: (options) => client.deleteTaskPushNotificationConfig(options, config),
      getExtendedAgentCard: (options) => client.getExtendedAgentCard(options),
      call: (options) => client.call(options, 'x/Any'),
    };
    for (const [name, call] of Object.entries(calls)) {
      const seen = witness();
      await failureFrom(() => call({ ...base, interceptors: [seen] }));
      assert.equal(seen.outgoing[0]?.operation, name);
      assert.equal(seen.finished[0]?.operation, name);
      assert.equal(seen.finished[0].method, recorder.received.at(-1)?.rpc.method);
    }
  });

  test('of calls at once are not mixed up', async () => {
    const seen = Array.from({ length: 10 }, () => witness());
    await Promise.all(seen.map((interceptor, i) => run(i % 2 === 0 ? 'stream' : 'unary call', { interceptors: [interceptor] })));
    const ids = seen.map(({ outgoing, finished }) => {
      assert.equal(outgoing.length, 1);
      assert.equal(finished.length, 1);
      assert.equal(outgoing[0]?.requestId, finished[0]?.requestId);
      return outgoing[0]?.requestId;
    });
    assert.equal(new Set(ids).size, 10);
  });
});

describe('Interceptors of a stream', () => {
  const working = { ...TASK, status: { state: 'TASK_STATE_WORKING' } };

  /** Answers with two events of a task that goes on, and nothing more. */
  const goingOn = (): void => {
    recorder.answer = ({ rpc }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const id of [1, 2]) {
        const result = id === 1 ? { task: working } : { statusUpdate: { taskId: TASK.id, contextId: TASK.contextId, status: working.status } };
        response.write(`id: ${id}\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: rpc.id, result })}\n\n`);
      }
    };
  };

  test('do not run before the first next()', async () => {
    const seen = witness();
    const stream = client.sendStreamingMessage({ ...base, interceptors: [seen] }, { message: userText('hi') });
    await turn();
    assert.equal(seen.outgoing.length, 0);
    await stream.next();
    assert.equal(seen.outgoing.length, 1);
    await stream.return();
  });

  test('do not run for a stream that is closed unread', async () => {
    const seen = witness();
    const stream = client.sendStreamingMessage({ ...base, interceptors: [seen] }, { message: userText('hi') });
    await stream.return();
    assert.deepEqual([seen.outgoing.length, seen.finished.length], [0, 0]);
  });

  test('see the end of one that the caller leaves early: no failure, and the events that were delivered', async () => {
    goingOn();
    const seen = witness();
    for await (const { event } of client.sendStreamingMessage({ ...base, interceptors: [seen] }, { message: userText('hi') })) {
      assert.equal(event.$case, 'task');
      break;
    }
    assert.equal(seen.finished.length, 1);
    assert.equal(seen.finished[0]?.failure, undefined);
    assert.equal(seen.finished[0]?.events, 1);
    assert.equal(seen.finished[0].status, 200);
  });

  test('have run before return() is done', async () => {
    goingOn();
    let isDone = false;
    const slow: CallInterceptor = {
      async after() {
        await turn();
        isDone = true;
      },
    };
    const stream = client.sendStreamingMessage({ ...base, interceptors: [slow] }, { message: userText('hi') });
    await stream.next();
    assert.deepEqual(await stream.return(), { done: true, value: undefined });
    assert.equal(isDone, true);
  });

  test('that fail after the caller has left trouble nobody', async () => {
    await nothingUnhandled(async () => {
      goingOn();
      const stream = client.sendStreamingMessage(
        { ...base, interceptors: [{ after: () => Promise.reject(new Error('FAKE-SECRET')) }] },
        { message: userText('hi') },
      );
      await stream.next();
      assert.deepEqual(await stream.return(), { done: true, value: undefined });
      assert.deepEqual(await stream.next(), { done: true, value: undefined });
    });
  });

  test('see the failure that comes after events, with their number and bytes', async () => {
    goingOn();
    const answer = recorder.answer;
    recorder.answer = (request, response) => {
      answer(request, response);
      response.end();
    };
    const seen = witness();
    const stream = client.sendStreamingMessage({ ...base, interceptors: [seen] }, { message: userText('hi') });
    await stream.next();
    await stream.next();
    const failure = await failureFrom(() => stream.next());
    assert.equal(failure.rule, 'stream.incomplete');
    assert.equal(seen.finished[0]?.failure, failure);
    assert.equal(seen.finished[0].events, 2);
    assert(seen.finished[0].bytes > 200);
  });

  test('run after once, whatever ends the stream twice', async () => {
    goingOn();
    const controller = new AbortController();
    const seen = witness();
    const stream = client.sendStreamingMessage({ ...base, interceptors: [seen], signal: controller.signal }, { message: userText('hi') });
    await stream.next();
    controller.abort();
    await stream.return();
    await stream.return();
    await turn();
    assert.equal(seen.finished.length, 1);
    assert.equal(seen.finished[0]?.failure?.rule, 'canceled.signal');
  });
});
