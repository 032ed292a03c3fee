import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Agent, Client, interceptors, type Dispatcher } from 'undici';
import { fetchAgentCard, type CardOptions } from '../../lib/discovery/index.js';
import { failureFrom, until } from '../hostile/calls.js';
import { keep, keepDispatcher } from '../hostile/keep.js';
import { JSON_FIELD, LAST_CHUNK, RawServer, chunk, response, type Answer } from '../hostile/raw_server.js';
import { WELL_KNOWN, card, cardText, lineOf, pathOf, serve } from './agent.js';

describe('A fetch of a card', () => {
  test('is one GET, for the identity encoding and the current version', async (t) => {
    const { server, dispatcher, origin } = await serve(t, card());
    await fetchAgentCard(dispatcher, `${origin}/agents/a`, { headers: { 'x-key': 'k' } });
    assert.equal(server.requests.length, 1);
    const [request] = server.requests;
    assert.equal(request!.line, `GET /agents/a${WELL_KNOWN} HTTP/1.1`);
    const { host, connection, ...headers } = Object.fromEntries(request!.headers);
    assert.deepEqual(headers, { accept: 'application/json, application/a2a+json', 'accept-encoding': 'identity', 'a2a-version': '1.0', 'x-key': 'k' });
    assert.ok(host !== undefined && connection !== undefined);
    assert.equal(request!.body, '');
  });

  test('gives the card, its exact bytes, where it came from, and its validators', async (t) => {
    const text = ` {"name":"Käse", "x-new": 1e0}\n`;
    const { dispatcher, origin } = await serve(t, response(200, [JSON_FIELD, 'etag: "v1"', 'last-modified: Mon, 30 Nov 2026 10:00:00 GMT'], text));
    const fetched = await fetchAgentCard(dispatcher, origin);
    assert.equal(fetched.card.name, 'Käse');
    assert.equal(Buffer.from(fetched.raw).toString(), text);
    assert.equal(fetched.raw.buffer.byteLength, fetched.raw.length);
    assert.equal(fetched.url, origin + WELL_KNOWN);
    assert.deepEqual([fetched.generation, fetched.signedBy], ['1.0', undefined]);
    assert.deepEqual([fetched.etag, fetched.lastModified], ['"v1"', 'Mon, 30 Nov 2026 10:00:00 GMT']);
  });

  test('says until when its agent calls it fresh', async (t) => {
    const told = async (...fields: readonly string[]): Promise<number | undefined> => {
      const { dispatcher, origin } = await serve(t, response(200, [JSON_FIELD, ...fields], '{"name":"x"}'));
      const before = Date.now();
      const { freshUntil } = await fetchAgentCard(dispatcher, origin);
      // In whole minutes from now: no machine is slower.
      return freshUntil === undefined ? undefined : Math.round((freshUntil - before) / 60_000);
    };
    assert.equal(await told(), undefined);
    assert.equal(await told('cache-control: max-age=3600'), 60);
    assert.equal(await told('cache-control: max-age=3600', 'age: 1800'), 30);
    assert.equal(await told('cache-control: max-age=999999999'), 24 * 60);
    assert.equal(await told('cache-control: no-store'), 0);
    assert.equal(await told('cache-control: no-store, max-age=3600'), 0);
    assert.equal(await told('cache-control: no-cache'), 0);
    assert.equal(await told('vary: *'), 0);
  });

  test('gives a card that nobody can change', async (t) => {
    const { dispatcher, origin } = await serve(
      t,
      response(200, [JSON_FIELD], '{"name":"A","capabilities":{"extensions":[{"uri":"x:y","params":{"deep":{"list":[{}]}}}]},"skills":[{"id":"s","tags":["t"]}],"securitySchemes":{"s":{"mtlsSecurityScheme":{}}}}'),
    );
    const { card: fetched } = await fetchAgentCard(dispatcher, origin);
    const open: string[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if (!Object.isFrozen(value)) open.push(path);
      for (const [name, member] of Object.entries(value)) walk(member, `${path}.${name}`);
    };
    walk(fetched, 'card');
    assert.deepEqual(open, []);
    assert.equal(fetched.capabilities?.extensions[0]?.params?.['deep'] !== undefined, true);
  });

  test('gives no validators that are malformed or there twice', async (t) => {
    for (const fields of [['etag: v1', 'last-modified: yesterday'], ['etag: "a"', 'etag: "b"', 'last-modified: Mon, 30 Nov 2026 10:00:00 GMT', 'last-modified: Mon, 30 Nov 2026 10:00:00 GMT'], ['etag: "a\tb"', 'last-modified: Mon, 31 Nov 2026 10:00:00 GMT'], ['etag: "é"']]) {
      const { dispatcher, origin } = await serve(t, response(200, [JSON_FIELD, ...fields], cardText()));
      const { etag, lastModified } = await fetchAgentCard(dispatcher, origin);
      assert.deepEqual([etag, lastModified], [undefined, undefined], fields.join());
    }
  });
});

describe('The older path', () => {
  const missing = response(404, [JSON_FIELD], '{}');

  test('is asked after a 404 where the caller allows it', async (t) => {
    const { server, dispatcher, origin } = await serve(t, missing, card([], 'old'));
    const fetched = await fetchAgentCard(dispatcher, `${origin}/a`, { allowLegacyCardPath: true });
    assert.equal(fetched.card.description, 'old');
    assert.equal(fetched.url, `${origin}/a/.well-known/agent.json`);
    assert.deepEqual(server.requests.map(pathOf), [`/a${WELL_KNOWN}`, '/a/.well-known/agent.json']);
  });

  test('is not asked without the option', async (t) => {
    const { server, dispatcher, origin } = await serve(t, missing, card([], 'old'));
    assert.equal(await lineOf(fetchAgentCard(dispatcher, origin)), 'http.status answered 404');
    assert.equal(server.requests.length, 1);
  });

  test('is asked after nothing but a 404', async (t) => {
    for (const [first, line] of [
      [response(410, [JSON_FIELD], '{}'), 'http.status answered 410'],
      [response(401, [JSON_FIELD], '{}'), 'http.status answered 401'],
      [response(503, [JSON_FIELD], '{}'), 'http.status answered 503'],
      [response(302, ['location: /.well-known/agent.json']), 'http.redirect answered 302'],
      [response(200, [JSON_FIELD], '{}'), 'a2a.schema answered'],
      [response(200, ['content-type: text/html'], 'x'), 'http.content_type answered'],
    ] as const) {
      const { server, dispatcher, origin } = await serve(t, first, card([], 'old'));
      assert.equal(await lineOf(fetchAgentCard(dispatcher, origin, { allowLegacyCardPath: true })), line);
      assert.equal(server.requests.length, 1);
    }
  });

  test('that has no card either is the failure', async (t) => {
    const { server, dispatcher, origin } = await serve(t, missing, response(403, [JSON_FIELD], '{}'));
    assert.equal(await lineOf(fetchAgentCard(dispatcher, origin, { allowLegacyCardPath: true })), 'http.status answered 403');
    assert.equal(server.requests.length, 2);
  });

  test('has what is left of the time of the call', async (t) => {
    const { dispatcher, origin } = await serve(t, missing, () => undefined);
    assert.equal(await lineOf(fetchAgentCard(dispatcher, origin, { allowLegacyCardPath: true, timeoutMs: 150 })), 'deadline.total unknown');
  });
});

/** Sends a head, and a body of its own. */
const raw = (head: readonly string[], ...parts: (string | Buffer)[]): Answer => {
  return (socket) => {
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    for (const part of parts) socket.write(part);
  };
};
const OK = ['HTTP/1.1 200 OK', JSON_FIELD];
const LIMIT = 2000;
/** A card of so many bytes. */
const sized = (bytes: number): string => cardText('x'.repeat(bytes - Buffer.byteLength(cardText())));

describe('An answer to the GET of a card', () => {
  const rows: [what: string, answer: Buffer | Answer, outcome: string, options?: CardOptions][] = [
    ['that is a card is accepted', card([], 'fine'), 'fine'],
    ['of the media type of A2A is accepted', response(200, ['content-type: application/a2a+json'], cardText('fine')), 'fine'],
    ['with a charset of UTF-8 is accepted', response(200, ['content-type: Application/JSON; charset="UTF-8"'], cardText('fine')), 'fine'],
    ['in chunks is accepted', raw([...OK, 'transfer-encoding: chunked'], ...[...Buffer.from(cardText('fine'))].map((byte) => chunk(Buffer.of(byte))), LAST_CHUNK), 'fine'],
    ['that ends with its connection is accepted', (socket) => socket.end(`${OK.join('\r\n')}\r\nconnection: close\r\n\r\n${cardText('fine')}`), 'fine'],
    ['after informational ones is accepted', raw(['HTTP/1.1 103 Early Hints', 'link: </x>', '', ...OK, `content-length: ${cardText('fine').length}`], cardText('fine')), 'fine'],
    ['that is encoded as identity is accepted', card(['content-encoding: identity'], 'fine'), 'fine'],
    ['of just the bound is accepted', response(200, [JSON_FIELD], sized(LIMIT)), 'x'.repeat(LIMIT - cardText().length)],
    ['of another media type is refused', response(200, ['content-type: text/html'], cardText()), 'http.content_type answered'],
    ['of text is refused', response(200, ['content-type: text/plain'], cardText()), 'http.content_type answered'],
    ['of an event stream is refused', response(200, ['content-type: text/event-stream'], ''), 'http.content_type answered'],
    ['of some other JSON is refused', response(200, ['content-type: application/problem+json'], cardText()), 'http.content_type answered'],
    ['without a media type is refused', response(200, [], cardText()), 'http.content_type answered'],
    ['with two media types is refused', response(200, [JSON_FIELD, JSON_FIELD], cardText()), 'http.content_type answered'],
    ['in another charset is refused', response(200, [`${JSON_FIELD}; charset=latin1`], cardText()), 'http.content_type answered'],
    ['that is compressed is refused', response(200, [JSON_FIELD, 'content-encoding: gzip'], gzipSync(cardText())), 'http.content_encoding answered'],
    ['that says it is compressed is refused', card(['content-encoding: br']), 'http.content_encoding answered'],
    ['that redirects is refused', response(301, [`location: ${WELL_KNOWN}2`]), 'http.redirect answered 301'],
    ['that redirects to another origin is refused', response(307, ['location: http://127.0.0.1:9/']), 'http.redirect answered 307'],
    ['that says that nothing has changed since nothing was known is refused', response(304, ['etag: "v"']), 'http.redirect answered 304'],
    ['of status 201 is refused', response(201, [JSON_FIELD], cardText()), 'http.status answered 201'],
    ['of status 204 is refused', (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'), 'http.status answered 204'],
    ['of status 206 is refused', response(206, [JSON_FIELD, 'content-range: bytes 0-9/10'], cardText()), 'http.status answered 206'],
    ['of status 404 is refused', response(404, [JSON_FIELD], cardText()), 'http.status answered 404'],
    ['of status 500 is refused', response(500, [JSON_FIELD], cardText()), 'http.status answered 500'],
    ['that switches protocols is refused', (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'), 'http.malformed unknown'],
    ['that is no HTTP is refused', (socket) => socket.end('SSH-2.0-agent\r\n'), 'http.malformed unknown'],
    ['with two lengths is refused', raw([...OK, 'content-length: 2', 'content-length: 2'], '{}'), 'http.malformed unknown'],
    ['with a length and chunks is refused', raw([...OK, 'content-length: 2', 'transfer-encoding: chunked'], '{}'), 'http.malformed unknown'],
    ['with a transfer coding that was not asked for is refused', raw([...OK, 'transfer-encoding: gzip, chunked'], chunk(cardText()), LAST_CHUNK), 'http.malformed answered'],
    ['with an endless head is refused', (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}`), 'limit.head_bytes unknown'],
    ['that is too long is refused', response(200, [JSON_FIELD], sized(LIMIT + 1)), 'limit.response_bytes answered'],
    ['that says it is too long is refused before a byte of it', raw([...OK, `content-length: ${LIMIT + 1}`]), 'limit.response_bytes answered'],
    ['that says it is far too long is refused before a byte of it', raw([...OK, `content-length: ${'9'.repeat(15)}`]), 'limit.response_bytes answered'],
    ['in chunks that are too long together is refused', raw([...OK, 'transfer-encoding: chunked'], chunk('x'.repeat(LIMIT)), chunk('x')), 'limit.response_bytes answered'],
    ['that ends early is refused', (socket) => socket.end(`${OK.join('\r\n')}\r\ncontent-length: 500\r\n\r\n${cardText()}`), 'http.truncated answered'],
    ['that is reset is refused', (socket) => socket.write(`${OK.join('\r\n')}\r\ncontent-length: 500\r\n\r\n{`, () => socket.resetAndDestroy()), 'http.truncated answered'],
    ['that never comes is refused', (socket) => socket.resetAndDestroy(), 'http.connection_lost unknown'],
    ['that is closed within a chunk is refused', (socket) => socket.end(`${OK.join('\r\n')}\r\ntransfer-encoding: chunked\r\n\r\n20\r\n{`), 'http.truncated answered'],
    ['that the close cuts short is refused', (socket) => socket.end(`${OK.join('\r\n')}\r\nconnection: close\r\n\r\n${cardText().slice(0, -2)}`), 'json.syntax answered'],
    ['with a byte order mark is refused', response(200, [JSON_FIELD], `\ufeff${cardText()}`), 'json.utf8 answered'],
    ['with a member twice is refused', response(200, [JSON_FIELD], '{"name":"a","name":"b"}'), 'json.duplicate_member answered'],
    ['that is no card is refused', response(200, [JSON_FIELD], '{"error":"not found"}'), 'a2a.schema answered'],
    ['that is empty is refused', response(200, [JSON_FIELD], ''), 'json.syntax answered'],
    ['that never begins is refused by the clock', () => undefined, 'deadline.total unknown', { timeoutMs: 100 }],
    ['that never ends is refused by the clock', raw([...OK, 'content-length: 500'], '{'), 'deadline.total answered', { timeoutMs: 100 }],
    ['that falls silent is refused by the idle clock', raw([...OK, 'content-length: 500'], '{'), 'deadline.idle answered', { idleTimeoutMs: 100 }],
  ];
  for (const [what, answer, outcome, options] of rows) {
    test(what, async (t) => {
      const { server, dispatcher, origin } = await serve(t, answer);
      assert.equal(await lineOf(fetchAgentCard(dispatcher, origin, { maxCardBytes: LIMIT, timeoutMs: 20_000, ...options })), outcome);
      assert.equal(server.requests.length, 1);
    });
  }

  test('that was too long is not read on', async (t) => {
    let sent = 0;
    const { server, dispatcher, origin } = await serve(t, (socket) => {
      socket.write(`${OK.join('\r\n')}\r\ntransfer-encoding: chunked\r\n\r\n`);
      const flood = (): void => {
        if (socket.destroyed || sent > 1 << 28) return;
        sent += 1 << 16;
        socket.write(chunk(Buffer.alloc(1 << 16, 0x20)), flood);
      };
      flood();
    });
    assert.equal(await lineOf(fetchAgentCard(dispatcher, origin)), 'limit.response_bytes answered');
    await until(() => server.sockets.size === 0, 'the connection is closed');
    assert.ok(sent < 1 << 25, String(sent));
  });

  test('may be of 256 KiB where the caller says nothing of it', async (t) => {
    const bound = 256 * 1024;
    const fits = await serve(t, response(200, [JSON_FIELD], sized(bound)));
    assert.equal((await fetchAgentCard(fits.dispatcher, fits.origin)).raw.length, bound);
    const over = await serve(t, response(200, [JSON_FIELD], sized(bound + 1)));
    assert.equal(await lineOf(fetchAgentCard(over.dispatcher, over.origin)), 'limit.response_bytes answered');
  });

  test('with retry-after says so', async (t) => {
    const { dispatcher, origin } = await serve(t, response(503, ['retry-after: 7'], ''));
    assert.equal((await failureFrom(fetchAgentCard(dispatcher, origin))).retryAfterMs, 7000);
  });

  test('that is refused says nothing of the agent outside of unwrap()', async (t) => {
    const { dispatcher, origin } = await serve(t, response(200, [JSON_FIELD], '{"name":"secret","skills":{"secret":1}}'));
    const failure = await failureFrom(fetchAgentCard(dispatcher, origin));
    assert.equal(failure.path, 'skills');
    assert.ok(!`${JSON.stringify(failure)}${failure.stack}`.includes('secret'));
  });
});

describe('No redirect is followed and no card asked for twice', () => {
  const composed = {
    redirect: (agent: Dispatcher) => agent.compose(interceptors.redirect({ maxRedirections: 5 })),
    retry: (agent: Dispatcher) => agent.compose(interceptors.retry({ maxRetries: 3, minTimeout: 1, statusCodes: [503, 500] })),
  };
  for (const [name, compose] of Object.entries(composed)) {
    test(`under undici's ${name} interceptor`, async (t) => {
      for (const [answer, line] of [
        [response(302, ['location: /elsewhere']), 'http.redirect answered 302'],
        [response(503, ['retry-after: 0'], ''), 'http.status answered 503'],
      ] as const) {
        const server = keep(t, await RawServer.listen((socket) => socket.write(answer)));
        const dispatcher = compose(keepDispatcher(t, new Agent()));
        assert.equal(await lineOf(fetchAgentCard(dispatcher, server.origin)), line);
        assert.equal(server.requests.length, 1);
      }
    });
  }
});

describe('A fetch that is given up', () => {
  test('by its signal before it began sends nothing', async (t) => {
    const { server, dispatcher, origin } = await serve(t, card());
    assert.equal(await lineOf(fetchAgentCard(dispatcher, origin, { signal: AbortSignal.abort() })), 'canceled.signal not_sent');
    assert.equal(server.connections, 0);
  });

  test('by its signal closes its connection', async (t) => {
    const controller = new AbortController();
    const { server, dispatcher, origin } = await serve(t, () => {
      controller.abort(new Error('no longer wanted'));
    });
    const failure = await failureFrom(fetchAgentCard(dispatcher, origin, { signal: controller.signal }));
    assert.deepEqual([failure.rule, failure.delivery], ['canceled.signal', 'unknown']);
    assert.equal((failure.unwrap() as Error).message, 'no longer wanted');
    await until(() => server.sockets.size === 0, 'the connection is closed');
  });

  test('by a timeout signal is a deadline', async (t) => {
    const { dispatcher, origin } = await serve(t, () => undefined);
    assert.equal(await lineOf(fetchAgentCard(dispatcher, origin, { signal: AbortSignal.timeout(50) })), 'deadline.signal unknown');
  });

  test('while it connects has sent nothing', async (t) => {
    const dispatcher = keepDispatcher(t, new Agent({ connect: () => undefined }));
    assert.equal(await lineOf(fetchAgentCard(dispatcher, 'http://127.0.0.1:9', { timeoutMs: 50 })), 'deadline.total not_sent');
    assert.equal(await lineOf(fetchAgentCard(dispatcher, 'http://127.0.0.1:9', { connectTimeoutMs: 50 })), 'deadline.connect not_sent');
  });

  test('or is not, leaves no clock and no listener on its signal', async (t) => {
    const { dispatcher, origin } = await serve(t, card(), response(500, []));
    const { signal } = new AbortController();
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    // Days: a clock that were left would be seen.
    const options = { signal, timeoutMs: 2 ** 31 - 1, connectTimeoutMs: 2 ** 31 - 1, idleTimeoutMs: 2 ** 31 - 1 };
    assert.equal(await lineOf(fetchAgentCard(dispatcher, origin, options)), '');
    assert.equal(await lineOf(fetchAgentCard(dispatcher, origin, options)), 'http.status answered 500');
    await dispatcher.destroy();
    assert.ok(timers() <= before, `${timers()} ${before}`);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});

describe('A fetch is refused before anything is sent', () => {
  const rows: [what: string, options: unknown, rule: string, path?: string][] = [
    ['for an option that is none', { timeout: 1 }, 'options.unknown'],
    ['for options that are no object', 'fast', 'options.unknown'],
    ['for options that are null', null, 'options.unknown'],
    ['for a bound of zero', { maxCardBytes: 0 }, 'options.limit', 'maxCardBytes'],
    ['for a bound that is NaN', { maxCardBytes: NaN }, 'options.limit', 'maxCardBytes'],
    ['for a bound that is a text', { maxCardBytes: '1000' }, 'options.limit', 'maxCardBytes'],
    ['for a card path that is no text', { cardPath: 1 }, 'options.endpoint', 'cardPath'],
    ['for a card path that is none', { cardPath: 'https://evil.example/' }, 'options.endpoint'],
    ['for a card path that does not begin at the root', { cardPath: 'card' }, 'options.endpoint'],
    ['for an older path that is not allowed by true', { allowLegacyCardPath: 1 }, 'options.endpoint', 'allowLegacyCardPath'],
    ['for a time of zero', { timeoutMs: 0 }, 'options.time', 'timeoutMs'],
    ['for a header that every request has', { headers: { accept: 'text/html' } }, 'options.headers', 'headers'],
    ['for a version of its own', { headers: { 'A2A-Version': '0.3' } }, 'options.headers', 'headers'],
    ['for a condition of its own', { headers: { 'If-None-Match': '"x"' } }, 'options.headers'],
    ['for a range', { headers: { range: 'bytes=0-9' } }, 'options.headers'],
    ['for what speaks to caches', { headers: { 'cache-control': 'no-store' } }, 'options.headers'],
    ['for a signal that is none', { signal: {} }, 'options.signal', 'signal'],
    ['for a verification that is none', { verify: true }, 'card.keys', 'verify'],
    ['for a verification without keys', { verify: { algorithms: ['ES256'] } }, 'card.keys', 'verify.keys'],
    ['for interceptors, which are for calls', { interceptors: [] }, 'options.unknown'],
  ];
  for (const [what, options, rule, path] of rows) {
    test(what, async (t) => {
      const { server, dispatcher, origin } = await serve(t, card());
      const failure = await failureFrom(fetchAgentCard(dispatcher, origin, options as CardOptions));
      assert.deepEqual([failure.rule, failure.kind, failure.delivery, failure.path], [rule, 'invalid_argument', 'not_sent', path]);
      assert.equal(server.connections, 0);
    });
  }

  test('for a getter that throws, and a proxy that does', async (t) => {
    const { server, dispatcher, origin } = await serve(t, card());
    const thrower = { get maxCardBytes(): number { throw new Error('hostile'); } };
    assert.equal(await lineOf(fetchAgentCard(dispatcher, origin, thrower)), 'options.limit not_sent');
    const proxy = new Proxy({}, { ownKeys: () => { throw new Error('hostile'); } });
    assert.equal(await lineOf(fetchAgentCard(dispatcher, origin, proxy)), 'options.unknown not_sent');
    assert.equal(server.connections, 0);
  });

  test('for a dispatcher that is none, or is bound to an origin', async (t) => {
    const { server, origin } = await serve(t, card());
    const bound = keepDispatcher(t, new Client('http://127.0.0.1:9'));
    for (const dispatcher of [undefined, {}, bound]) assert.equal(await lineOf(fetchAgentCard(dispatcher as never, origin)), 'options.dispatcher not_sent');
    assert.equal(server.connections, 0);
  });

  test('for credentials over http: to another machine, unless the caller allows it', async (t) => {
    const hosts: string[] = [];
    const dispatcher = keepDispatcher(t, new Agent({ connect: ({ hostname }, callback) => { hosts.push(hostname); callback(new Error('no network'), null); } }));
    const base = 'http://agent.example';
    for (const options of [{ headers: { authorization: 'Bearer fake' } }, { headers: { 'x-key': 'fake' }, secretHeaders: ['X-Key'] }]) {
      assert.equal(await lineOf(fetchAgentCard(dispatcher, base, options)), 'options.cleartext_credentials not_sent');
      assert.deepEqual(hosts, []);
      assert.equal(await lineOf(fetchAgentCard(dispatcher, base, { ...options, allowCleartextCredentials: true })), 'http.connect not_sent');
      assert.deepEqual(hosts.splice(0), ['agent.example']);
    }
  });

  test('and its options are read once, at the call', async (t) => {
    const { server, dispatcher, origin } = await serve(t, card());
    const headers: Record<string, string> = { 'x-key': 'first' };
    const options = { headers };
    const answer = fetchAgentCard(dispatcher, origin, options);
    headers['x-key'] = 'second';
    options.headers = { 'x-key': 'third' };
    await answer;
    assert.equal(server.requests[0]!.headers.get('x-key'), 'first');
  });
});
