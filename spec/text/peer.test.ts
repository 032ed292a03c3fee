import { TaskState } from '@a2a-js/sdk';
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test, type TestContext } from 'node:test';
import { Agent, Client } from 'undici';
import { FAILURE_RULES, type FailureRule } from '../../lib/index.js';
import { textPeer, type TextAgent, type TextPeer, type TextPeerOptions, type TextReply } from '../../lib/text/index.js';
import { checkTextOptions } from '../../lib/text/options.js';
import { keep, keepDispatcher } from '../hostile/keep.js';
import { JSON_FIELD, RawServer, SSE_FIELD, event, good, response, resultText, type Answer, type SeenRequest } from '../hostile/raw_server.js';
import { until } from '../stream/peer.js';
import { failureFrom } from '../support/caller_server.js';
import { readAll } from './read.js';

const COMPLETED = {
  task: {
    id: 'task-1',
    contextId: 'context-1',
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ artifactId: 'a', parts: [{ text: 'hello ' }, { text: 'there' }] }],
  },
};

const completes: Answer = (socket, { id }) => socket.write(good(id, COMPLETED));
const neverAnswers: Answer = () => undefined;

async function listen(t: TestContext, answer: Answer = completes): Promise<RawServer> {
  return keep(t, await RawServer.listen(answer));
}

/** A peer at an `a2a:` address of `server`. */
function at(t: TestContext, server: RawServer, options?: TextPeerOptions): TextPeer {
  return keep(t, textPeer(`a2a://127.0.0.1:${server.port}`, options));
}

const paramsOf = ({ body }: SeenRequest): Record<string, Record<string, unknown>> =>
  (JSON.parse(body) as { params: Record<string, Record<string, unknown>> }).params;

/** The rule that both kinds of call end with. */
async function assertRefused(peer: TextPeer, rule: FailureRule, ...asked: [text?: string, settings?: object]): Promise<void> {
  const [text, settings] = asked.length === 0 ? ['hi'] : asked;
  const failures = [
    await failureFrom(() => peer.send(text as string, settings)),
    await failureFrom(() => peer.stream(text as string, settings).getReader().read()),
  ];
  for (const failure of failures) {
    assert.deepEqual([failure.rule, failure.kind, failure.delivery], [rule, FAILURE_RULES[rule], 'not_sent']);
  }
}

describe('A text peer', () => {
  test('sends a text to /invoke of an a2a: address, in 1.0, and gives the text of the answer', async (t) => {
    const server = await listen(t);
    const peer = keep(t, textPeer(`a2a://127.0.0.1:${server.port}?retries=3&x`));
    const { raw, ...reply }: TextReply = await peer.send('two\r\nlines');
    assert.deepEqual(reply, { text: 'hello there', taskId: 'task-1', state: TaskState.TASK_STATE_COMPLETED, contextId: 'context-1' });
    assert.equal(Buffer.from(raw).toString(), JSON.stringify(COMPLETED));

    const [request, ...others] = server.requests;
    assert.ok(request !== undefined && others.length === 0);
    assert.equal(request.line, 'POST /invoke?retries=3&x HTTP/1.1');
    assert.equal(request.headers.get('a2a-version'), '1.0');
    const { message } = paramsOf(request);
    assert.deepEqual(message?.['parts'], [{ text: 'two\r\nlines' }]);
    assert.equal(message['role'], 'ROLE_USER');
  });

  test('calls an exact endpoint, in the dialect and with what else its options say', async (t) => {
    const server = await listen(t, (socket, { id }) =>
      socket.write(good(id, { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: 'hello' }] })),
    );
    const seen: string[] = [];
    const options: TextPeerOptions = {
      protocolVersion: '0.3',
      headers: { 'x-trace': '1' },
      extensions: ['https://agent.example/ext'],
      interceptors: [{ before: ({ operation }) => void seen.push(operation) }],
    };
    const peer = keep(t, textPeer(new URL(`${server.origin}/a2a/jsonrpc?x=1`), options));
    assert.equal((await peer.send('hi')).text, 'hello');
    const headers = server.requests[0]!.headers;
    assert.equal(server.requests[0]!.line, 'POST /a2a/jsonrpc?x=1 HTTP/1.1');
    assert.deepEqual(
      ['a2a-version', 'x-trace', 'x-a2a-extensions'].map((name) => headers.get(name)),
      [undefined, '1', 'https://agent.example/ext'],
    );
    assert.deepEqual(seen, ['sendMessage']);
  });

  test('puts the tenant, the task and the context into the request', async (t) => {
    const server = await listen(t);
    const peer = at(t, server, { tenant: 'tenant-1' });
    const { taskId, contextId } = await peer.send('first');
    await peer.send('second', { taskId, contextId });
    await peer.send('third', { taskId: undefined });
    const asked = server.requests.map((request) => {
      const { tenant, message } = paramsOf(request);
      return [tenant, message?.['taskId'], message?.['contextId']];
    });
    assert.deepEqual(asked, [
      ['tenant-1', undefined, undefined],
      ['tenant-1', 'task-1', 'context-1'],
      ['tenant-1', undefined, undefined],
    ]);
  });

  test('keeps its options as they were when it was made', async (t) => {
    const server = await listen(t);
    const headers: Record<string, string> = { 'x-trace': '1' };
    const limits = { maxResponseBytes: 10_000 };
    const peer = at(t, server, { headers, limits });
    headers['x-trace'] = '2';
    limits.maxResponseBytes = 1;
    await peer.send('hi');
    assert.equal(server.requests[0]!.headers.get('x-trace'), '1');
  });

  test('a task that failed is the failure of the call', async (t) => {
    const failed = { task: { id: 'task-1', status: { state: 'TASK_STATE_REJECTED' } } };
    const server = await listen(t, (socket, { id }) => socket.write(good(id, failed)));
    const failure = await failureFrom(() => at(t, server).send('hi'));
    assert.deepEqual([failure.rule, failure.delivery], ['text.failed', 'answered']);
  });

  test('an empty text is refused, and nothing is sent; one of a space is sent', async (t) => {
    const server = await listen(t);
    const peer = at(t, server);
    await assertRefused(peer, 'text.empty', '');
    assert.equal(server.connections, 0);
    await peer.send(' ');
    assert.deepEqual(paramsOf(server.requests[0]!)['message']?.['parts'], [{ text: ' ' }]);
  });

  test('what is no text is refused by the layer below, half a surrogate pair too', async (t) => {
    const server = await listen(t);
    const peer = at(t, server);
    for (const wrong of [undefined, null, 7, ['hi'], '\ud83d'] as string[]) await assertRefused(peer, 'request.params', wrong);
    assert.equal(server.connections, 0);
  });

  test('nothing is opened before the first call, and making a peer that is wrong throws nothing', async (t) => {
    const server = await listen(t);
    const peer = at(t, server);
    const stream = peer.stream('hi');
    for (const wrong of ['nonsense', 'a2a://127.0.0.1:1/path', undefined, {}] as string[]) keep(t, textPeer(wrong));
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(server.connections, 0);
    await stream.cancel();
    assert.equal(server.connections, 0);
  });

  test('a wrong address is the same failure on every call', async (t) => {
    const peer = keep(t, textPeer('a2a://user:secret@127.0.0.1:9000'));
    for (let i = 0; i < 3; i++) await assertRefused(peer, 'text.address');
    const [first, second] = [await failureFrom(() => peer.send('hi')), await failureFrom(() => peer.send('ho'))];
    assert.deepEqual(JSON.stringify(first), JSON.stringify(second));
    assert.deepEqual(first.unwrap(), second.unwrap());
    assert.ok(!`${String(first.stack)}${JSON.stringify(first)}`.includes('secret'));
  });

  const WRONG: readonly (readonly [rule: FailureRule, options: unknown])[] = [
    ['options.unknown', { timeout: 1 }],
    ['options.unknown', { endpoint: 'http://127.0.0.1/' }],
    ['options.unknown', { signal: AbortSignal.abort() }],
    ['options.unknown', { maxEventBytes: 1 }],
    ['options.unknown', { limits: { maxTextBytes: 1 } }],
    ['options.unknown', { limits: 7 }],
    ['options.unknown', null],
    ['options.limit', { limits: { maxStreamBytes: 0 } }],
    ['options.limit', { limits: { maxRequestBytes: NaN } }],
    ['options.limit', { limits: { maxResponseBytes: Infinity } }],
    ['options.limit', { limits: { maxEventBytes: 1.5 } }],
    ['options.limit', { limits: { maxStreamEvents: -1 } }],
    ['options.dispatcher', { dispatcher: {} }],
    ['options.dispatcher', { dispatcher: null }],
    ['options.dispatcher', { dispatcher: new Client('http://127.0.0.1:1') }],
    ['options.dialect', { protocolVersion: '1' }],
    ['options.dialect', { eventIds: 'sometimes' }],
    ['options.dialect', { protocolVersion: '0.3', tenant: 'tenant-1' }],
    ['options.headers', { headers: { host: 'elsewhere' } }],
    ['options.headers', { extensions: ['no URI'] }],
    ['options.interceptors', { interceptors: [{}] }],
    ['options.time', { connectTimeoutMs: 0 }],
    ['options.time', { timeoutMs: '1' }],
    ['options.cleartext_credentials', { allowCleartextCredentials: false }],
  ];
  for (const [index, [rule, options]] of WRONG.entries()) {
    test(`wrong options are the same failure on every call: ${rule}, ${index}`, async (t) => {
      const server = await listen(t);
      const peer = at(t, server, options as TextPeerOptions);
      await assertRefused(peer, rule);
      await assertRefused(peer, rule);
      assert.equal(server.connections, 0);
    });
  }

  test('what throws when it is looked at is a wrong address', async (t) => {
    const throwing = new Proxy({}, { get: () => assert.fail('looked at') }) as TextAgent;
    await assertRefused(keep(t, textPeer(throwing)), 'text.address');
  });

  test('wrong settings are refused', async (t) => {
    const server = await listen(t);
    const peer = at(t, server);
    await assertRefused(peer, 'options.unknown', 'hi', { text: 'ho' });
    await assertRefused(peer, 'options.signal', 'hi', { signal: new AbortController() });
    await assertRefused(peer, 'request.params', 'hi', { taskId: 7 });
    await assertRefused(peer, 'request.params', 'hi', { contextId: '\ud83d' });
    assert.equal(server.connections, 0);
  });

  test('credentials do not travel unencrypted to another machine', async (t) => {
    const peer = keep(t, textPeer('a2a://agent.invalid', { headers: { authorization: 'Bearer fake' } }));
    await assertRefused(peer, 'options.cleartext_credentials');
  });

  test('its defaults are those that are documented', () => {
    const { dispatcher, call } = checkTextOptions({});
    const { maxResponseBytes, maxEventBytes, maxStreamBytes, maxRequestBytes, maxStreamEvents } = call;
    assert.equal(dispatcher, undefined);
    assert.deepEqual([maxResponseBytes, maxEventBytes, maxStreamBytes], [8_388_608, 1_048_576, 67_108_864]);
    assert.deepEqual([maxRequestBytes, maxStreamEvents], [undefined, undefined]);
    assert.deepEqual([call.connectTimeoutMs, call.timeoutMs, call.idleTimeoutMs], [30_000, undefined, undefined]);
    assert.deepEqual([call.protocolVersion, call.eventIds], ['1.0', 'optional']);
  });

  test('the default bounds are kept', async (t) => {
    const text = (bytes: number): object => ({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x'.repeat(bytes) }] } });
    const server = await listen(t, (socket, { id, headers }) => {
      const isStream = headers.get('accept')?.includes('event-stream') === true;
      socket.end(isStream ? response(200, [SSE_FIELD], event(id, 1, text(1 << 20))) : good(id, text(8 << 20)));
    });
    const peer = at(t, server);
    assert.equal((await failureFrom(() => peer.send('hi'))).rule, 'limit.response_bytes');
    assert.equal((await failureFrom(() => peer.stream('hi').getReader().read())).rule, 'limit.event_bytes');
    assert.equal((await at(t, server, { limits: { maxResponseBytes: 9 << 20 } }).send('hi')).text.length, 8 << 20);
  });

  test('event ids are optional unless the options say otherwise', async (t) => {
    const server = await listen(t, (socket, { id }) =>
      socket.end(response(200, [SSE_FIELD], event(id, 1, COMPLETED).replace(/^id: .*\n/, ''))),
    );
    assert.deepEqual(await readAll(at(t, server).stream('hi')), { chunks: ['hello there'], failure: undefined });
    const strict = at(t, server, { eventIds: 'required' });
    assert.equal((await readAll(strict.stream('hi'))).failure?.rule, 'sse.id_missing');
  });
});

describe("A call's end by a signal", () => {
  test("the caller's signal ends a call, with its own reason", async (t) => {
    const server = await listen(t, neverAnswers);
    const peer = at(t, server);
    const reason = new Error('enough');
    for (const begin of [
      (signal: AbortSignal) => peer.send('hi', { signal }),
      (signal: AbortSignal) => peer.stream('hi', { signal }).getReader().read(),
    ]) {
      const before = server.requests.length;
      const controller = new AbortController();
      const ended = failureFrom(() => begin(controller.signal));
      await until(() => server.requests.length > before);
      controller.abort(reason);
      const failure = await ended;
      assert.deepEqual([failure.rule, failure.delivery, failure.unwrap()], ['canceled.signal', 'unknown', reason]);
      assert.deepEqual(getEventListeners(controller.signal, 'abort'), []);
    }
  });

  test("a timeout of the caller's is a deadline", async (t) => {
    const server = await listen(t, neverAnswers);
    const failure = await failureFrom(() => at(t, server).send('hi', { signal: AbortSignal.timeout(20) }));
    assert.equal(failure.rule, 'deadline.signal');
  });

  test('a signal that has aborted already ends a call before anything is sent', async (t) => {
    const server = await listen(t);
    const peer = at(t, server);
    await assertRefused(peer, 'canceled.signal', 'hi', { signal: AbortSignal.abort() });
    assert.equal(server.connections, 0);
  });

  test('a call that has ended listens to no signal any more', async (t) => {
    const server = await listen(t, (socket, { id, headers }) => {
      const isStream = headers.get('accept')?.includes('event-stream') === true;
      socket.write(isStream ? response(200, [SSE_FIELD], event(id, 1, COMPLETED)) : good(id, COMPLETED));
    });
    const peer = at(t, server);
    const { signal } = new AbortController();
    await peer.send('hi', { signal });
    await readAll(peer.stream('hi', { signal }));
    for await (const _ of peer.stream('hi', { signal })) break;
    await peer.stream('hi', { signal }).cancel();
    const bounded = at(t, server, { limits: { maxResponseBytes: 1, maxStreamBytes: 1 } });
    await failureFrom(() => bounded.send('hi', { signal }));
    assert.equal((await readAll(bounded.stream('hi', { signal }))).failure?.rule, 'limit.stream_bytes');
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });
});

describe('close()', () => {
  test('ends the calls that are under way as canceled, and refuses those that follow', async (t) => {
    const server = await listen(t, neverAnswers);
    const peer = at(t, server);
    const { signal } = new AbortController();
    const ended = [
      failureFrom(() => peer.send('hi')),
      failureFrom(() => peer.send('hi', { signal })),
      failureFrom(() => peer.stream('hi').getReader().read()),
      failureFrom(() => peer.stream('hi', { signal }).getReader().read()),
    ];
    const unread = peer.stream('hi');
    await until(() => server.requests.length === 4);
    await peer.close();
    for (const failure of await Promise.all(ended)) {
      assert.deepEqual([failure.rule, failure.delivery], ['canceled.signal', 'unknown']);
    }
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
    await assertRefused(peer, 'text.closed');
    const late = await failureFrom(() => unread.getReader().read());
    assert.deepEqual([late.rule, late.delivery], ['text.closed', 'not_sent']);
    await peer.close();
    assert.equal(server.requests.length, 4);
  });

  test('closes the connections of a dispatcher of its own', async (t) => {
    const fields = [JSON_FIELD, 'keep-alive: timeout=600'];
    const server = await listen(t, (socket, { id }) => socket.write(response(200, fields, resultText(id, COMPLETED))));
    const peer = at(t, server);
    await peer.send('hi');
    assert.equal(server.sockets.size, 1);
    await peer.close();
    await until(() => server.sockets.size === 0);
  });

  test('leaves the dispatcher of the caller as it is', async (t) => {
    const server = await listen(t);
    const dispatcher = keepDispatcher(t, new Agent());
    const peer = at(t, server, { dispatcher });
    await peer.send('hi');
    await peer.close();
    // undici gives a connection back a turn after the answer.
    await new Promise(setImmediate);
    assert.ok(!dispatcher.closed && !dispatcher.destroyed);
    assert.equal((await at(t, server, { dispatcher }).send('hi')).text, 'hello there');
    assert.equal(server.connections, 1, 'and so its connection');
  });

  test('ends no call of another peer that shares the dispatcher', async (t) => {
    const waiting: (() => void)[] = [];
    const server = await listen(t, (socket, { id }) => waiting.push(() => socket.write(good(id, COMPLETED))));
    const dispatcher = keepDispatcher(t, new Agent());
    const [one, other] = [at(t, server, { dispatcher }), at(t, server, { dispatcher })];
    const closed = failureFrom(() => one.send('hi'));
    const answered = other.send('hi');
    await until(() => waiting.length === 2);
    await one.close();
    for (const answer of waiting) answer();
    assert.equal((await closed).rule, 'canceled.signal');
    assert.equal((await answered).text, 'hello there');
  });

  test('is what leaving an await using block does, and of a peer that was never used, or never could be, it is nothing', async (t) => {
    const server = await listen(t);
    let peer: TextPeer;
    {
      await using scoped = at(t, server);
      peer = scoped;
    }
    await assertRefused(peer, 'text.closed');
    await textPeer('nonsense').close();
    assert.equal(server.connections, 0);
  });
});
