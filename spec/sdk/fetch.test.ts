/** `strictFetch` by itself: what it sends, what it hands over, what it refuses. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Agent, Pool, RetryAgent } from 'undici';
import { Failure, type FailureRule } from '../../lib/index.js';
import { strictFetch, type StrictFetchOptions } from '../../lib/sdk/index.js';
import { handMade, type Play } from '../hostile/hand_made.js';
import { JSON_FIELD, LAST_CHUNK, RawServer, SSE_FIELD, chunk, response, type Answer } from '../hostile/raw_server.js';

const LIMIT = { timeout: 20_000 };
const CHUNKED = 'transfer-encoding: chunked';
const EVENTS = { headers: { accept: 'text/event-stream' } };

let answer: Answer = () => undefined;
let server: RawServer;
const dispatcher = new Agent();

before(async () => {
  server = await RawServer.listen((socket, request) => {
    answer(socket, request);
  });
});
after(async () => {
  await dispatcher.destroy();
  await server.close();
});

const fetchWith = (more: Partial<StrictFetchOptions> = {}): typeof fetch => strictFetch(dispatcher, { maxResponseBytes: 1000, ...more });
const ask = (init?: RequestInit, more?: Partial<StrictFetchOptions>): Promise<Response> => fetchWith(more)(`${server.origin}/a?b=c`, init);

async function failureFrom(promise: Promise<unknown>): Promise<Failure> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof Failure, String(error));
    return error;
  }
  assert.fail('nothing was thrown');
}

const fine: Answer = (socket) => socket.write(response(200, [JSON_FIELD, 'x-one: 1', 'x-two: a', 'x-two: b'], '{"fine":true}'));
const raw =
  (...parts: (string | Buffer)[]): Answer =>
  (socket) => {
    for (const part of parts) socket.write(part);
  };
const HEAD = 'HTTP/1.1 200 OK\r\n';

describe('strictFetch sends', LIMIT, () => {
  test('what it was asked for, identity encoding, and nothing else', async () => {
    answer = fine;
    await ask();
    const { line, headers } = server.requests.at(-1) ?? assert.fail();
    assert.equal(line, 'GET /a?b=c HTTP/1.1');
    assert.deepEqual([...headers.keys()].sort(), ['accept-encoding', 'connection', 'host']);
    assert.equal(headers.get('accept-encoding'), 'identity');
  });

  test('each form of a request that the SDK makes', async () => {
    answer = fine;
    const url = new URL(`${server.origin}/a`);
    const fetching = fetchWith();
    await fetching(url, { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: '{"é":1}' });
    const sent = server.requests.at(-1) ?? assert.fail();
    assert.equal(sent.line, 'POST /a HTTP/1.1');
    assert.equal(sent.body, '{"é":1}');
    assert.equal(sent.headers.get('content-type'), 'application/json');
    assert.equal(sent.headers.get('accept'), 'application/json');
    await fetching(url, { method: 'POST', headers: new Headers({ 'A2A-Version': '1.0', 'X-A2A-Extensions': 'urn:a' }), body: Buffer.from('bytes') });
    assert.equal(server.requests.at(-1)?.body, 'bytes');
    assert.equal(server.requests.at(-1)?.headers.get('a2a-version'), '1.0');
    assert.equal(server.requests.at(-1)?.headers.get('x-a2a-extensions'), 'urn:a');
    await fetching(url, { method: 'POST' });
    assert.equal(server.requests.at(-1)?.headers.get('content-length'), '0');
    await fetching(url, { method: 'DELETE' });
    assert.equal(server.requests.at(-1)?.line, 'DELETE /a HTTP/1.1');
    // What `fetch` takes for none, and for a POST.
    await fetching(url, { method: 'post', body: null, signal: null });
    assert.equal(server.requests.at(-1)?.line, 'POST /a HTTP/1.1');
  });

  const refused: readonly (readonly [what: string, input: unknown, init: unknown, rule: FailureRule, more?: Partial<StrictFetchOptions>])[] = [
    ['a Request', new Request('https://agent.example/'), undefined, 'options.endpoint'],
    ['a relative URL', '/a', undefined, 'options.endpoint'],
    ['another scheme', 'file:///etc/passwd', undefined, 'options.endpoint'],
    ['user info', 'https://user:fake@agent.example/', undefined, 'options.endpoint'],
    ['a path that a URL parser rewrites', 'https://agent.example/a/../b', undefined, 'options.endpoint'],
    ['an option of fetch that is not kept', '', { redirect: 'follow' }, 'options.unknown'],
    ['init that is no object', '', 'GET', 'options.unknown'],
    ['another method', '', { method: 'PUT' }, 'request.params'],
    ['a method that is no text', '', { method: 7 }, 'request.params'],
    ['a body to a GET', '', { body: 'x' }, 'request.params'],
    ['a body that is a form', '', { method: 'POST', body: new URLSearchParams() }, 'request.params'],
    ['a body that is a stream', '', { method: 'POST', body: new ReadableStream() }, 'request.params'],
    ['a body with half of a surrogate pair', '', { method: 'POST', body: 'a\ud800' }, 'request.params'],
    ['a body over its bound', '', { method: 'POST', body: 'éé' }, 'request.bytes', { maxRequestBytes: 3 }],
    ['headers as a list', '', { headers: [['a', 'b']] }, 'options.headers'],
    ['a header twice', '', { headers: { Accept: 'a', accept: 'a' } }, 'options.headers'],
    ['a value that is none', '', { headers: { accept: 'a\nb' } }, 'options.headers'],
    ['a coding of its own', '', { headers: { 'accept-encoding': 'gzip' } }, 'options.headers'],
    ['another host', '', { headers: { host: 'agent.example' } }, 'options.headers'],
    ['a signal that is none', '', { signal: {} }, 'options.signal'],
    ['init that throws', '', new Proxy({}, { ownKeys: () => assert.fail('trap') }), 'options.unknown'],
    ['credentials in clear text', 'http://agent.example/', { headers: { Authorization: 'Bearer fake' } }, 'options.cleartext_credentials'],
    ['secrets in clear text', 'http://agent.example/', { headers: { 'X-Key': 'fake' } }, 'options.cleartext_credentials', { secretHeaders: ['x-key'] }],
  ];
  for (const [what, input, init, rule, more] of refused) {
    test(`nothing for ${what} (${rule})`, async () => {
      const seen = server.requests.length;
      const failure = await failureFrom(fetchWith(more)((input === '' ? `${server.origin}/` : input) as string, init as RequestInit));
      assert.deepEqual([failure.rule, failure.delivery], [rule, 'not_sent']);
      assert.equal(server.requests.length, seen);
    });
  }

  test('nothing for options that are wrong: they are refused when it is made', async () => {
    const pool = new Pool('http://127.0.0.1:9');
    const cases: readonly (readonly [dispatcher: unknown, options: unknown, rule: FailureRule])[] = [
      [dispatcher, undefined, 'options.unknown'],
      [dispatcher, {}, 'options.limit'],
      [dispatcher, { maxResponseBytes: 0 }, 'options.limit'],
      [dispatcher, { maxResponseBytes: 1, maxStreamBytes: -1 }, 'options.limit'],
      [dispatcher, { maxResponseBytes: 1, timeoutMs: 1.5 }, 'options.time'],
      [dispatcher, { maxResponseBytes: 1, headers: {} }, 'options.unknown'],
      [undefined, { maxResponseBytes: 1 }, 'options.dispatcher'],
      [pool, { maxResponseBytes: 1 }, 'options.dispatcher'],
    ];
    for (const [over, options, rule] of cases) {
      assert.throws(
        () => strictFetch(over as Agent, options as StrictFetchOptions),
        (error) => error instanceof Failure && error.rule === rule,
      );
    }
    await pool.close();
  });

  test('a request once, also through an agent that repeats', async () => {
    const retrying = new RetryAgent(new Agent(), { minTimeout: 1, maxRetries: 3, methods: ['GET', 'POST', 'DELETE'] });
    for (const method of ['GET', 'POST', 'DELETE']) {
      const seen = server.requests.length;
      const fetching = strictFetch(retrying, { maxResponseBytes: 100 });
      answer = fine;
      assert.equal((await fetching(`${server.origin}/`, { method })).status, 200);
      answer = (socket) => socket.write(response(503, [JSON_FIELD], '{}'));
      const unavailable = await failureFrom(fetching(`${server.origin}/`, { method }));
      assert.deepEqual([unavailable.rule, unavailable.status], ['http.status', 503], method);
      answer = (socket) => socket.destroy();
      assert.equal((await failureFrom(fetching(`${server.origin}/`, { method }))).rule, 'http.connection_lost', method);
      assert.equal(server.requests.length, seen + 3, method);
    }
    await retrying.close();
  });
});

describe('strictFetch hands over', LIMIT, () => {
  test('status, headers and body of a good answer', async () => {
    answer = fine;
    const got = await ask();
    assert.equal(got.ok, true);
    assert.equal(got.status, 200);
    assert.equal(got.headers.get('Content-Type'), 'application/json');
    assert.equal(got.headers.get('x-two'), 'a, b');
    const all: [string, string][] = [];
    got.headers.forEach((value, name) => all.push([name, value]));
    assert.deepEqual(all, [
      ['content-length', '13'],
      ['content-type', 'application/json'],
      ['x-one', '1'],
      ['x-two', 'a, b'],
    ]);
    assert.deepEqual(await got.json(), { fine: true });
    assert.equal(await (await ask()).text(), '{"fine":true}');
  });

  test('other statuses with their bodies: they are the caller’s to judge', async () => {
    for (const status of [201, 400, 401, 404, 429, 500, 599]) {
      answer = (socket) => socket.write(response(status, ['content-type: text/plain'], `status ${status}`));
      const got = await ask();
      assert.deepEqual([got.ok, got.status, await got.text()], [status < 300, status, `status ${status}`]);
    }
  });

  test('a body in chunks, one that only the close delimits, and none', async () => {
    answer = raw(`${HEAD}${CHUNKED}\r\n\r\n`, chunk('on'), chunk('e'), LAST_CHUNK);
    assert.equal(await (await ask()).text(), 'one');
    answer = (socket) => socket.end(`${HEAD}connection: close\r\n\r\nclosed`);
    assert.equal(await (await ask()).text(), 'closed');
    for (const status of [204, 205]) {
      answer = raw(`HTTP/1.1 ${status} Fine\r\ncontent-length: 0\r\n\r\n`);
      const got = await ask();
      assert.deepEqual([got.status, got.body, await got.text()], [status, null, '']);
    }
  });

  test('a body of just its bound', async () => {
    answer = (socket) => socket.write(response(200, [], 'x'.repeat(1000)));
    assert.equal((await (await ask()).text()).length, 1000);
  });
});

describe('strictFetch refuses', LIMIT, () => {
  const cases: readonly (readonly [what: string, answer: Answer, rule: FailureRule, init?: RequestInit])[] = [
    ['a redirect', raw(response(302, ['location: http://127.0.0.1:9/'])), 'http.redirect'],
    ['304, which nothing asked for', raw('HTTP/1.1 304 Same\r\n\r\n'), 'http.redirect'],
    ['a status that is none', raw(response(600, [])), 'http.status'],
    ['a compressed body', raw(response(200, ['content-encoding: gzip'], 'x')), 'http.content_encoding'],
    ['a compressed error', raw(response(500, ['content-encoding: br'], 'x')), 'http.content_encoding'],
    ['a length over the bound, before a byte of it', raw(`${HEAD}content-length: 1001\r\n\r\n`), 'limit.response_bytes'],
    ['an error over the bound', raw(response(404, [], 'x'.repeat(1001))), 'limit.response_bytes'],
    ['chunks over the bound', raw(`${HEAD}${CHUNKED}\r\n\r\n`, chunk('x'.repeat(1001))), 'limit.response_bytes'],
    ['two lengths', raw(`${HEAD}content-length: 1\r\ncontent-length: 1\r\n\r\nx`), 'http.malformed'],
    ['an unknown transfer coding', raw(`${HEAD}transfer-encoding: gzip, chunked\r\n\r\n`, chunk('x'), LAST_CHUNK), 'http.malformed'],
    ['an event stream over the bound that nobody asked for', raw(`${HEAD}${SSE_FIELD}\r\n${CHUNKED}\r\n\r\n`, chunk('x'.repeat(1001))), 'limit.response_bytes'],
    ['an event stream over the bound that is an error', raw(response(500, [SSE_FIELD], 'x'.repeat(1001))), 'limit.response_bytes', EVENTS],
    ['what looks like an event stream, over the bound', raw(response(200, [`${SSE_FIELD}-ish`], 'x'.repeat(1001))), 'limit.response_bytes', EVENTS],
    ['two media types, over the bound', raw(response(200, [SSE_FIELD, SSE_FIELD], 'x'.repeat(1001))), 'limit.response_bytes', EVENTS],
    ['a compressed event stream', raw(response(200, [SSE_FIELD, 'content-encoding: gzip'], 'x')), 'http.content_encoding', EVENTS],
    [
      'a body that is cut',
      (socket) => {
        socket.end(`${HEAD}content-length: 5\r\n\r\nxy`);
      },
      'http.truncated',
    ],
    ['no answer', (socket) => socket.destroy(), 'http.connection_lost'],
  ];
  for (const [what, answering, rule, init] of cases) {
    test(`${what} (${rule})`, async () => {
      answer = answering;
      const failure = await failureFrom(ask(init));
      assert.equal(failure.rule, rule);
      assert.equal(failure.status, rule === 'http.redirect' ? failure.status : rule === 'http.status' ? 600 : undefined);
    });
  }

  test('what no parser lets through, but a dispatcher of other make might', async () => {
    const empty = { 'content-length': '0' };
    const scripts: readonly (readonly [script: (play: Play) => unknown, rule: FailureRule])[] = [
      [(play) => play.start().head(200, { 'x-one': 'a\nb' }).end(), 'http.malformed'],
      [(play) => play.start().head(200, { 'x one': 'a' }).end(), 'http.malformed'],
      [(play) => play.start().head(204, empty).data('x').end(), 'http.malformed'],
      [(play) => play.start().head(205, empty).data('x').end(), 'http.malformed'],
      [(play) => play.start().head(200, { 'content-type': 'text/event-stream', 'x-one': 'a\nb' }), 'http.malformed'],
    ];
    for (const [script, rule] of scripts) {
      const fetching = strictFetch(handMade(script), { maxResponseBytes: 100 });
      const failure = await failureFrom(fetching('http://127.0.0.1:9/', { ...EVENTS, method: 'POST', body: '{}' }));
      assert.equal(failure.rule, rule);
    }
  });

  test('to connect in vain, to wait beyond its clocks, and to go on once the signal aborts', async () => {
    assert.equal((await failureFrom(fetchWith()('http://127.0.0.1:9/'))).rule, 'http.connect');
    answer = () => undefined;
    assert.equal((await failureFrom(ask(undefined, { timeoutMs: 30 }))).rule, 'deadline.total');
    assert.equal((await failureFrom(ask(undefined, { idleTimeoutMs: 30 }))).rule, 'deadline.idle');
    assert.equal((await failureFrom(ask({ signal: AbortSignal.timeout(30) }))).rule, 'deadline.signal');
    const seen = server.requests.length;
    const reason = new Error('mine');
    const aborted = await failureFrom(ask({ signal: AbortSignal.abort(reason) }));
    assert.deepEqual([aborted.rule, aborted.delivery, aborted.unwrap()], ['canceled.signal', 'not_sent', reason]);
    assert.equal(server.requests.length, seen);
    answer = raw(`${HEAD}content-length: 5\r\n\r\nxy`);
    assert.equal((await failureFrom(ask(undefined, { timeoutMs: 50 }))).rule, 'deadline.total');
  });
});

describe('strictFetch hands an event stream on as it is read', LIMIT, () => {
  const open: Answer = (socket) => socket.write(`${HEAD}${SSE_FIELD}; charset=utf-8\r\n${CHUNKED}\r\n\r\n`);
  let peer: Socket;
  const opened: Answer = (socket, request) => {
    peer = socket;
    open(socket, request);
  };
  const reader = async (init: RequestInit = EVENTS, more?: Partial<StrictFetchOptions>): Promise<ReadableStreamDefaultReader<Uint8Array>> => {
    answer = opened;
    const { body } = await ask(init, more);
    assert.ok(body !== null);
    return body.getReader();
  };
  const text = ({ value }: { value?: Uint8Array | undefined }): string => Buffer.from(value ?? []).toString();

  test('chunk by chunk to its end; its connection serves the next', async () => {
    const events = await reader();
    const connections = server.connections;
    peer.write(chunk('one'));
    assert.equal(text(await events.read()), 'one');
    const pending = events.read();
    peer.write(chunk('two'));
    assert.equal(text(await pending), 'two');
    peer.write(LAST_CHUNK);
    assert.deepEqual(await events.read(), { done: true, value: undefined });
    await new Promise((resolve) => setTimeout(resolve, 20));
    answer = fine;
    await ask();
    assert.equal(server.connections, connections);
  });

  test('with what had arrived before a failure delivered first', async () => {
    const events = await reader();
    peer.write(chunk('one'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    peer.destroy();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(text(await events.read()), 'one');
    assert.equal((await failureFrom(events.read())).rule, 'http.truncated');
  });

  test('within maxStreamBytes, or maxResponseBytes where that is not set', async () => {
    for (const [more, max] of [
      [{}, 1000],
      [{ maxStreamBytes: 50 }, 50],
      [{ maxStreamBytes: 5000 }, 5000],
    ] as const) {
      const events = await reader(EVENTS, more);
      peer.write(chunk('x'.repeat(max)));
      let got = 0;
      while (got < max) got += (await events.read()).value?.length ?? 0;
      peer.write(chunk('x'));
      assert.equal((await failureFrom(events.read())).rule, 'limit.stream_bytes');
      await once(peer, 'close');
    }
  });

  test('no faster than it is read', async () => {
    const events = await reader(EVENTS, { maxStreamBytes: 1 << 26 });
    const block = chunk(Buffer.alloc(64 * 1024, 'x'));
    const total = 400;
    for (let i = 0; i < total; i++) peer.write(block);
    peer.write(LAST_CHUNK);
    // What the kernel's buffers on both sides take differs; that all of it goes into them does not happen.
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.ok(peer.writableLength > 0, 'the agent is held back');
    let got = 0;
    for (let read = await events.read(); !read.done; read = await events.read()) got += read.value.length;
    assert.equal(got, total * 64 * 1024);
  });

  test('until the signal aborts, or a clock runs out, whatever had arrived', async () => {
    const mine = new AbortController();
    const events = await reader({ ...EVENTS, signal: mine.signal });
    peer.write(chunk('one'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    mine.abort();
    assert.equal((await failureFrom(events.read())).rule, 'canceled.signal');
    await once(peer, 'close');
    const silent = await reader(EVENTS, { idleTimeoutMs: 30 });
    assert.equal((await failureFrom(silent.read())).rule, 'deadline.idle');
  });

  test('and leaves no listener on the signal, however it ends', async () => {
    const { signal } = new AbortController();
    const left = (): number => getEventListeners(signal, 'abort').length;
    answer = fine;
    await ask({ signal });
    assert.equal(left(), 0, 'a whole body');
    answer = (socket) => socket.destroy();
    await failureFrom(ask({ signal }));
    assert.equal(left(), 0, 'a failure');
    for (const ending of ['end', 'destroy', 'cancel'] as const) {
      const events = await reader({ ...EVENTS, signal });
      assert.equal(left(), 1, 'while it goes on');
      if (ending === 'cancel') await events.cancel();
      else if (ending === 'end') peer.write(LAST_CHUNK);
      else peer.destroy();
      if (ending !== 'cancel') await events.read().catch(() => undefined);
      assert.equal(left(), 0, ending);
    }
  });

  test('until it is canceled', async () => {
    for (const pending of [false, true]) {
      const events = await reader();
      const next = pending ? events.read() : undefined;
      await events.cancel();
      assert.equal((await next)?.done, pending ? true : undefined);
      await once(peer, 'close');
    }
  });

  test('until it is dropped', async () => {
    const child = fileURLToPath(new URL('./children/dropped.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '--import', 'tsx', child], { timeout: 15_000 });
    assert.deepEqual(JSON.parse(stdout), { unread: 'closed', partly: 'closed', pending: 'open' });
  });
});
