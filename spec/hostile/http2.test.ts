/** Over HTTP/2 every answer has the verdict it has over HTTP/1.1, and a request that the server refuses is not sent again. */
import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import type { LookupFunction } from 'node:net';
import { before, describe, test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Agent, type Dispatcher } from 'undici';
import { StrictClient, userText } from '../../lib/index.js';
import { callOptions, callOutcome, drain, openStream, outcome, pass, streamOptions, streamOutcome, until, type Options } from './calls.js';
import { CERTIFICATE } from './certificate.js';
import { H2Server, type H2Answer } from './h2_server.js';
import { keep, keepDispatcher } from './keep.js';
import { RawH2Server, type Fields, type RawH2Stream } from './raw_h2_server.js';
import {
  COMPLETED,
  COMPLETED_0_3,
  PROGRESS,
  RawServer,
  WORKING,
  WORKING_0_3,
  chunk,
  errorText,
  event,
  resultText,
  streamBody,
} from './raw_server.js';
import { SUBJECTS } from './subjects.js';
import { warmUp } from './warm.js';

type Version = '1.0' | '0.3';

interface Case {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: (id: string, version: Version) => string | Buffer;
  /** A length is said; otherwise the end of the framing is the end. */
  readonly isLengthy?: true;
  /** How many informational answers come first. */
  readonly hints?: number;
  /** What happens behind the body. Absent: the end. */
  readonly then?: 'cut' | 'nothing';
  /** The connection or the stream is lost before the head. */
  readonly isLost?: true;
  readonly options?: Options;
  readonly unary?: string;
  readonly stream?: string;
}

const JSON_HEADERS = { 'content-type': 'application/json' };
const SSE_HEADERS = { 'content-type': 'text/event-stream' };
const result = (id: string, version: Version): string => resultText(id, version === '1.0' ? WORKING : WORKING_0_3);
const events = (id: string, version: Version): string =>
  version === '1.0' ? streamBody(id) : event(id, 1, WORKING_0_3) + event(id, 2, COMPLETED_0_3);
const working = (id: string, version: Version): string => event(id, 1, version === '1.0' ? WORKING : WORKING_0_3);

/** What an agent may answer, and the verdict, whatever HTTP it is. */
const CASES: Readonly<Record<string, Case>> = {
  'a good answer': { headers: JSON_HEADERS, body: result, unary: 'ok', stream: '0 http.content_type answered' },
  'a good answer with its length': { headers: JSON_HEADERS, body: result, isLengthy: true, unary: 'ok' },
  'a good answer behind hints': { headers: JSON_HEADERS, body: result, hints: 16, unary: 'ok' },
  'too many hints': { headers: JSON_HEADERS, body: result, hints: 17, unary: 'http.malformed unknown', stream: '0 http.malformed unknown' },
  'the id of another': { headers: JSON_HEADERS, body: (_, version) => result('another', version), unary: 'jsonrpc.id answered', stream: '0 jsonrpc.id answered' },
  'no JSON': { headers: JSON_HEADERS, body: () => '{"jsonrpc"', unary: 'json.syntax answered', stream: '0 json.syntax answered' },
  'no body': { headers: JSON_HEADERS, unary: 'json.syntax answered', stream: '0 json.syntax answered' },
  'a result that is none': { headers: JSON_HEADERS, body: (id) => resultText(id, {}), unary: 'a2a.payload answered' },
  "the agent's error": { headers: JSON_HEADERS, body: (id) => errorText(id), unary: 'remote.error answered 200', stream: '0 remote.error answered 200' },
  "the agent's error under a 404": { status: 404, headers: JSON_HEADERS, body: (id) => errorText(id), unary: 'remote.error answered 404', stream: '0 remote.error answered 404' },
  'a page under a 404': { status: 404, headers: { 'content-type': 'text/html' }, body: () => '<p>no</p>', unary: 'http.status answered 404', stream: '0 http.status answered 404' },
  'a 204': { status: 204, unary: 'http.status answered 204', stream: '0 http.status answered 204' },
  'a redirect': { status: 302, headers: { location: '/elsewhere' }, unary: 'http.redirect answered 302', stream: '0 http.redirect answered 302' },
  'a redirect that keeps the method': { status: 307, headers: { location: '/elsewhere' }, unary: 'http.redirect answered 307', stream: '0 http.redirect answered 307' },
  'a page': { headers: { 'content-type': 'text/html' }, body: () => '<p>yes</p>', unary: 'http.content_type answered', stream: '0 http.content_type answered' },
  'no media type': { body: result, unary: 'http.content_type answered', stream: '0 http.content_type answered' },
  'Latin-1': { headers: { 'content-type': 'application/json; charset=iso-8859-1' }, body: result, unary: 'http.content_type answered', stream: '0 http.content_type answered' },
  'gzip': {
    headers: { ...JSON_HEADERS, 'content-encoding': 'gzip' },
    body: (id, version) => gzipSync(result(id, version)),
    unary: 'http.content_encoding answered',
    stream: '0 http.content_encoding answered',
  },
  'too large a length': { headers: JSON_HEADERS, body: () => ' '.repeat(2000), isLengthy: true, options: { maxResponseBytes: 1000 }, unary: 'limit.response_bytes answered', stream: '0 limit.response_bytes answered' },
  'too large a body': { headers: JSON_HEADERS, body: () => ' '.repeat(200_000), options: { maxResponseBytes: 1000 }, unary: 'limit.response_bytes answered', stream: '0 limit.response_bytes answered' },
  'a cut before the head': { isLost: true, unary: 'http.connection_lost unknown', stream: '0 http.connection_lost unknown' },
  'a cut behind the head': { headers: JSON_HEADERS, then: 'cut', unary: 'http.truncated answered', stream: '0 http.truncated answered' },
  'a cut inside the body': { headers: JSON_HEADERS, body: (id) => resultText(id).slice(0, 20), then: 'cut', unary: 'http.truncated answered', stream: '0 http.truncated answered' },
  'a cut behind the body': { headers: JSON_HEADERS, body: result, then: 'cut', unary: 'http.truncated answered' },
  'an error that is cut': { status: 500, headers: JSON_HEADERS, body: (id) => errorText(id), then: 'cut', unary: 'http.status answered 500', stream: '0 http.status answered 500' },
  'a body that stops': { headers: JSON_HEADERS, body: (id) => resultText(id).slice(0, 20), then: 'nothing', options: { idleTimeoutMs: 300 }, unary: 'deadline.idle answered', stream: '0 deadline.idle answered' },
  'a good stream': { headers: SSE_HEADERS, body: events, unary: 'http.content_type answered', stream: '2 ok' },
  'a good stream with its length': { headers: SSE_HEADERS, body: events, isLengthy: true, stream: '2 ok' },
  'a stream that the agent leaves': { headers: SSE_HEADERS, body: working, stream: '1 stream.incomplete answered' },
  'a stream that is cut': { headers: SSE_HEADERS, body: working, then: 'cut', stream: '1 http.truncated answered' },
  'a stream that is cut behind its end': { headers: SSE_HEADERS, body: events, then: 'cut', stream: '2 ok' },
  'a stream that is not closed behind its end': { headers: SSE_HEADERS, body: events, then: 'nothing', stream: '2 ok' },
  'a stream that stops': { headers: SSE_HEADERS, body: working, then: 'nothing', options: { idleTimeoutMs: 300 }, stream: '1 deadline.idle answered' },
  'a field that there is not': { headers: SSE_HEADERS, body: (id, version) => `${working(id, version)}retry: 1\n\n`, stream: '1 sse.field answered' },
  'an id twice': { headers: SSE_HEADERS, body: (id, version) => working(id, version) + working(id, version), stream: '1 sse.id_duplicate answered' },
  'an event for another': { headers: SSE_HEADERS, body: (_, version) => working('another', version), stream: '0 jsonrpc.id answered' },
  'an event behind the end': { headers: SSE_HEADERS, body: (id, version) => events(id, version) + event(id, 3, version === '1.0' ? WORKING : WORKING_0_3), stream: '2 stream.after_end answered' },
  "an agent's error as an event": { headers: SSE_HEADERS, body: (id) => `event: error\nid: 1\ndata: ${errorText(id)}\n\n`, stream: '0 remote.error answered 200' },
  'a large event': { headers: SSE_HEADERS, body: (id, version) => `:${'x'.repeat(150_000)}\n${events(id, version)}`, options: { maxEventBytes: 100_000 }, stream: '0 limit.event_bytes answered' },
};

const toLoopback: LookupFunction = (_host, options, callback) => {
  if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
};
const OVER_H2: Agent.Options = { allowH2: true, connect: { ca: CERTIFICATE.cert, lookup: toLoopback } };

async function listen(t: TestContext, answer: H2Answer): Promise<[server: H2Server, agent: Agent]> {
  return [keep(t, await H2Server.listen(answer)), keepDispatcher(t, new Agent(OVER_H2))];
}

async function listenRaw(t: TestContext, answer: (stream: RawH2Stream) => void): Promise<[server: RawH2Server, agent: Agent]> {
  return [keep(t, await RawH2Server.listen(answer)), keepDispatcher(t, new Agent(OVER_H2))];
}

/** Plays a case over HTTP/2, unless it is one of a stream that is cut: `node:http2` would end that one first. */
function playH2(stream: Parameters<H2Answer>[0], id: string, version: Version, played: Case): void {
  for (let i = 0; i < (played.hints ?? 0); i++) stream.additionalHeaders({ ':status': 103, link: '</a>' });
  const body = Buffer.from(played.body?.(id, version) ?? '');
  stream.respond({ ':status': played.status ?? 200, ...played.headers, ...(played.isLengthy && { 'content-length': body.length }) });
  if (played.then === 'nothing') stream.write(body);
  else stream.end(body);
}

/** Plays one that is cut. */
function playRawH2(stream: RawH2Stream, version: Version, played: Case): void {
  if (played.isLost !== true) {
    stream.head([[':status', String(played.status ?? 200)], ...Object.entries(played.headers ?? {})]);
    const body = played.body?.(stream.requestId, version) ?? '';
    if (body.length > 0) stream.data(body);
  }
  setTimeout(() => { stream.reset(constants.NGHTTP2_INTERNAL_ERROR); }, 20);
}

/** Plays a case over HTTP/1.1. */
function playH1(socket: Parameters<Parameters<typeof RawServer.listen>[0]>[0], id: string, version: Version, played: Case): void {
  if (played.isLost === true) {
    socket.resetAndDestroy();
    return;
  }
  const body = Buffer.from(played.body?.(id, version) ?? '');
  const hasBody = played.status !== 204;
  const framing = played.isLengthy ? [`content-length: ${body.length}`] : hasBody ? ['transfer-encoding: chunked'] : [];
  const fields = [...Object.entries(played.headers ?? {}).map(([name, value]) => `${name}: ${value}`), ...framing];
  socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(played.hints ?? 0));
  socket.write(`HTTP/1.1 ${played.status ?? 200} Whatever\r\n${fields.join('\r\n')}\r\n\r\n`);
  if (body.length > 0) socket.write(played.isLengthy ? body : chunk(body));
  if (played.then === undefined) {
    if (!played.isLengthy && hasBody) socket.write('0\r\n\r\n');
  } else if (played.then === 'cut') {
    setTimeout(() => socket.resetAndDestroy(), 20);
  }
}

/** A call whose message is the name of a case. */
function run(dispatcher: Dispatcher, endpoint: string, version: Version, isStream: boolean, name: string, options?: Options): Promise<string> {
  const client = new StrictClient(dispatcher);
  const all = { protocolVersion: version, ...options };
  const message = userText(name);
  return isStream
    ? drain(client.sendStreamingMessage(streamOptions(endpoint, all), { message }))
    : outcome(client.sendMessage(callOptions(endpoint, all), { message }));
}

function caseOf(body: string): Case {
  const { params } = JSON.parse(body) as { params: { message: { parts: [{ text: string }] } } };
  return CASES[params.message.parts[0].text]!;
}

describe('Over HTTP/2 and over HTTP/1.1 alike,', () => {
  before(async () => {
    await warmUp();
    const server = await H2Server.listen((stream, { id }) => {
      playH2(stream, id, '1.0', CASES['a good answer']!);
    });
    const agent = new Agent(OVER_H2);
    for (let i = 0; i < 5; i++) await callOutcome(agent, server.origin);
    await agent.close();
    await server.close();
  });

  for (const version of ['1.0', '0.3'] as const) {
    for (const isStream of [false, true]) {
      test(`in ${version}, every answer to ${isStream ? 'a stream' : 'a call'} has its one verdict`, async (t) => {
        const [h2, h2Agent] = await listen(t, (stream, { body, id }) => {
          playH2(stream, id, version, caseOf(body));
        });
        const [raw, rawAgent] = await listenRaw(t, (stream) => {
          playRawH2(stream, version, caseOf(stream.body));
        });
        const h1 = keep(
          t,
          await RawServer.listen((socket, { body, id }) => {
            playH1(socket, id, version, caseOf(body));
          }),
        );
        const h1Agent = keepDispatcher(t, new Agent());
        const expected: Record<string, string> = {};
        const over1: Record<string, string> = {};
        const over2: Record<string, string> = {};
        const rows = Object.entries(CASES).filter(([, row]) => (isStream ? row.stream : row.unary) !== undefined);
        await Promise.all(
          rows.map(async ([name, row]) => {
            const isCut = row.then === 'cut' || row.isLost === true;
            expected[name] = (isStream ? row.stream : row.unary)!;
            over2[name] = await run(isCut ? rawAgent : h2Agent, isCut ? raw.origin : h2.origin, version, isStream, name, row.options);
            over1[name] = await run(h1Agent, h1.origin, version, isStream, name, row.options);
          }),
        );
        assert.deepEqual(over2, expected);
        assert.deepEqual(over1, expected);
        assert.deepEqual([h2.connections, raw.connections], [1, 1], 'all on one connection');
        assert.equal(h2.begun + raw.begun, rows.length);
        assert.equal(h1.requests.length, rows.length);
      });
    }
  }
});

const JSON_HEAD: Fields = [[':status', '200'], ['content-type', 'application/json']];
const SSE_HEAD: Fields = [[':status', '200'], ['content-type', 'text/event-stream']];
const isForStream = ({ body }: RawH2Stream): boolean => body.includes('"SendStreamingMessage"');

describe('A stream that the server resets', { concurrency: 4 }, () => {
  const CODES = {
    NO_ERROR: constants.NGHTTP2_NO_ERROR,
    PROTOCOL_ERROR: constants.NGHTTP2_PROTOCOL_ERROR,
    INTERNAL_ERROR: constants.NGHTTP2_INTERNAL_ERROR,
    FLOW_CONTROL_ERROR: constants.NGHTTP2_FLOW_CONTROL_ERROR,
    STREAM_CLOSED: constants.NGHTTP2_STREAM_CLOSED,
    REFUSED_STREAM: constants.NGHTTP2_REFUSED_STREAM,
    CANCEL: constants.NGHTTP2_CANCEL,
    ENHANCE_YOUR_CALM: constants.NGHTTP2_ENHANCE_YOUR_CALM,
    HTTP_1_1_REQUIRED: constants.NGHTTP2_HTTP_1_1_REQUIRED,
    'a code that there is not': 0xabcdef,
  };
  /** node:http2 reads these two as an end like any, and undici passes that on: what came is judged as if it were whole. */
  const QUIET = new Set(['NO_ERROR', 'CANCEL']);

  for (const [name, code] of Object.entries(CODES)) {
    test(`with ${name} behind the request is lost, and is not sent again`, async (t) => {
      const [server, agent] = await listenRaw(t, (stream) => {
        stream.reset(code);
      });
      assert.equal(await callOutcome(agent, server.origin), 'http.connection_lost unknown');
      assert.equal(await streamOutcome(agent, server.origin), '0 http.connection_lost unknown');
      await pass(20);
      assert.deepEqual([server.begun, server.whole], [2, 2]);
    });

    test(`with ${name} inside the answer is truncated`, async (t) => {
      const [server, agent] = await listenRaw(t, (stream) => {
        const isStream = isForStream(stream);
        stream.head(isStream ? SSE_HEAD : JSON_HEAD);
        stream.data(isStream ? event(stream.requestId, 1, WORKING) : resultText(stream.requestId).slice(0, 20));
        setTimeout(() => { stream.reset(code); }, 10);
      });
      const outcomes = [await callOutcome(agent, server.origin), await streamOutcome(agent, server.origin)];
      assert.deepEqual(
        outcomes,
        QUIET.has(name) ? ['json.syntax answered', '1 stream.incomplete answered'] : ['http.truncated answered', '1 http.truncated answered'],
      );
      await pass(20);
      assert.equal(server.begun, 2);
    });

    test(`with ${name} behind the end event has ended before`, async (t) => {
      const [server, agent] = await listenRaw(t, (stream) => {
        stream.head(SSE_HEAD);
        stream.data(streamBody(stream.requestId));
        setTimeout(() => { stream.reset(code); }, 10);
      });
      assert.equal(await streamOutcome(agent, server.origin), '2 ok');
      assert.equal(server.begun, 1);
    });
  }

  for (const { name, make, connectsItself } of SUBJECTS) {
    if (connectsItself) continue;
    test(`with REFUSED_STREAM is asked once, under ${name}`, async (t) => {
      const server = keep(
        t,
        await H2Server.listen((stream) => {
          stream.close(constants.NGHTTP2_REFUSED_STREAM);
        }),
      );
      const dispatcher = keepDispatcher(t, make(OVER_H2, ''));
      assert.equal(await callOutcome(dispatcher, `${server.origin}/call`, { timeoutMs: 2000 }), 'http.connection_lost unknown');
      assert.equal(await streamOutcome(dispatcher, `${server.origin}/stream`, { timeoutMs: 2000 }), '0 http.connection_lost unknown');
      await pass(20);
      assert.deepEqual(server.requests.map(({ path }) => path), ['/call', '/stream']);
    });
  }

  test('leaves the others on its connection alone', async (t) => {
    const [server, agent] = await listen(t, (stream, { path, id }) => {
      if (path === '/reset') stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      else setTimeout(() => { stream.respond({ ':status': 200, ...JSON_HEADERS }); stream.end(resultText(id)); }, 40);
    });
    assert.equal(await callOutcome(agent, server.origin), 'ok');
    const outcomes = await Promise.all([callOutcome(agent, server.origin), callOutcome(agent, `${server.origin}/reset`), callOutcome(agent, server.origin)]);
    assert.deepEqual(outcomes, ['ok', 'http.connection_lost unknown', 'ok']);
    assert.equal(server.connections, 1);
  });
});

describe('A session that the server ends', { concurrency: 4 }, () => {
  for (const [name, code] of [['NO_ERROR', constants.NGHTTP2_NO_ERROR], ['ENHANCE_YOUR_CALM', constants.NGHTTP2_ENHANCE_YOUR_CALM]] as const) {
    test(`with GOAWAY and ${name}, and says that it did not see the request, is lost, and the request is not sent again`, async (t) => {
      const [server, agent] = await listenRaw(t, (stream) => {
        stream.goaway(code, 0);
      });
      assert.equal(await callOutcome(agent, server.origin, { timeoutMs: 3000 }), 'http.connection_lost unknown');
      assert.equal(await streamOutcome(agent, server.origin, { timeoutMs: 3000 }), '0 http.connection_lost unknown');
      await pass(30);
      assert.equal(server.begun, 2);
    });

    test(`with GOAWAY and ${name} inside the answer is truncated`, async (t) => {
      const [server, agent] = await listenRaw(t, (stream) => {
        const isStream = isForStream(stream);
        stream.head(isStream ? SSE_HEAD : JSON_HEAD);
        stream.data(isStream ? event(stream.requestId, 1, WORKING) : '{');
        setTimeout(() => { stream.goaway(code, 0); }, 10);
      });
      assert.equal(await callOutcome(agent, server.origin, { timeoutMs: 3000 }), 'http.truncated answered');
      assert.equal(await streamOutcome(agent, server.origin, { timeoutMs: 3000 }), '1 http.truncated answered');
      await pass(30);
      assert.equal(server.begun, 2);
    });
  }

  test('with GOAWAY, and answers all the same, has answered; the next call has a connection of its own', async (t) => {
    const [server, agent] = await listen(t, (stream, { path, id }) => {
      const isStream = path === '/stream';
      stream.respond({ ':status': 200, ...(isStream ? SSE_HEADERS : JSON_HEADERS) });
      if (isStream) stream.write(event(id, 1, WORKING));
      stream.session?.close();
      setTimeout(() => stream.end(isStream ? event(id, 2, COMPLETED) : resultText(id)), 20);
    });
    assert.equal(await callOutcome(agent, server.origin), 'ok');
    assert.equal(await streamOutcome(agent, `${server.origin}/stream`), '2 ok');
    assert.equal(await callOutcome(agent, server.origin), 'ok');
    assert.equal(server.begun, 3);
    assert.equal(server.connections, 3);
  });

  test('by closing the connection is lost, or truncated, and nothing is sent again', async (t) => {
    let isAnswered = false;
    const [server, agent] = await listenRaw(t, (stream) => {
      const isStream = isForStream(stream);
      if (isAnswered) {
        stream.head(isStream ? SSE_HEAD : JSON_HEAD);
        stream.data(isStream ? event(stream.requestId, 1, WORKING) : '{');
      }
      setTimeout(() => stream.socket.destroy(), 10);
    });
    assert.equal(await callOutcome(agent, server.origin), 'http.connection_lost unknown');
    assert.equal(await streamOutcome(agent, server.origin), '0 http.connection_lost unknown');
    isAnswered = true;
    assert.equal(await callOutcome(agent, server.origin), 'http.truncated answered');
    assert.equal(await streamOutcome(agent, server.origin), '1 http.truncated answered');
    await pass(30);
    assert.equal(server.begun, 4);
  });

  test('while nothing is under way costs nothing', async (t) => {
    const [server, agent] = await listen(t, (stream, { id }) => {
      stream.respond({ ':status': 200, ...JSON_HEADERS });
      stream.end(resultText(id));
    });
    for (let i = 0; i < 3; i++) {
      assert.equal(await callOutcome(agent, server.origin), 'ok');
      for (const session of server.sessions) session.close();
      await until(() => server.sessions.size === 0, 'the session is over');
      await pass(5);
    }
    assert.equal(server.begun, 3);
  });
});

describe('What HTTP/2 has of its own', { concurrency: 4 }, () => {
  test('trailers say nothing of the head', async (t) => {
    const [server, agent] = await listen(t, (stream, { path, id }) => {
      const isStream = path === '/stream';
      stream.respond({ ':status': 200, ...(isStream ? SSE_HEADERS : JSON_HEADERS) }, { waitForTrailers: true });
      stream.on('wantTrailers', () => {
        stream.sendTrailers({ 'content-type': 'text/html', 'content-encoding': 'gzip', 'retry-after': '1', 'grpc-status': '13' });
      });
      stream.end(isStream ? streamBody(id) : resultText(id));
    });
    assert.equal(await callOutcome(agent, server.origin), 'ok');
    assert.equal(await streamOutcome(agent, `${server.origin}/stream`), '2 ok');
  });

  test('a body that is not of the length it said is no answer', async (t) => {
    const [server, agent] = await listen(t, (stream, { path, id }) => {
      const text = resultText(id);
      stream.respond({ ':status': 200, ...JSON_HEADERS, 'content-length': path === '/longer' ? text.length - 1 : text.length + 1 });
      stream.end(text);
    });
    assert.equal(await callOutcome(agent, `${server.origin}/shorter`), 'http.truncated answered');
    // RFC 9113 section 8.1.1: malformed; undici calls both a mismatch.
    assert.match(await callOutcome(agent, `${server.origin}/longer`), /^http\.(?:truncated|malformed) answered$/);
  });

  test('a 100 that nobody asked for is skipped', async (t) => {
    const [server, agent] = await listen(t, (stream, { id }) => {
      stream.additionalHeaders({ ':status': 100 });
      stream.respond({ ':status': 200, ...JSON_HEADERS });
      stream.end(resultText(id));
    });
    assert.equal(await callOutcome(agent, server.origin), 'ok');
  });

  test('a call that is canceled, or refused, leaves the connection to the others', async (t) => {
    const [server, agent] = await listen(t, (stream, { path, id }) => {
      if (path === '/silent') return;
      if (path === '/redirect') stream.respond({ ':status': 302, location: '/' });
      else if (path === '/large') {
        stream.respond({ ':status': 200, ...JSON_HEADERS });
        stream.write('x'.repeat(100_000));
      } else {
        stream.respond({ ':status': 200, ...JSON_HEADERS });
        stream.end(resultText(id));
      }
    });
    assert.equal(await callOutcome(agent, server.origin), 'ok');
    for (let i = 0; i < 10; i++) {
      const canceling = new AbortController();
      const canceled = callOutcome(agent, `${server.origin}/silent`, { signal: canceling.signal });
      const waiting = server.begun;
      await until(() => server.begun > waiting, 'the request');
      canceling.abort();
      assert.equal(await canceled, 'canceled.signal unknown');
      assert.equal(await callOutcome(agent, `${server.origin}/redirect`), 'http.redirect answered 302');
      assert.equal(await callOutcome(agent, `${server.origin}/large`, { maxResponseBytes: 1000 }), 'limit.response_bytes answered');
      assert.equal(await callOutcome(agent, server.origin), 'ok');
    }
    assert.equal(server.connections, 1);
    const [session] = server.sessions;
    await until(() => session?.state.outboundQueueSize === 0, 'the session is quiet');
  });

  test('a call that ends while its connection is made is never written', async (t) => {
    const [server, agent] = await listen(t, () => undefined);
    const canceling = new AbortController();
    const answers = [callOutcome(agent, server.origin, { signal: canceling.signal }), streamOutcome(agent, server.origin, { signal: canceling.signal })];
    await pass(0);
    canceling.abort();
    assert.deepEqual(await Promise.all(answers), ['canceled.signal not_sent', '0 canceled.signal not_sent']);
    await pass(100);
    assert.equal(server.begun, 0);
  });

  test('a slow consumer holds one stream back and not the others, and gets every event in order', async (t) => {
    const [server, agent] = await listen(t, (stream, { path, id }) => {
      if (path !== '/flood') {
        stream.respond({ ':status': 200, ...JSON_HEADERS });
        stream.end(resultText(id));
        return;
      }
      stream.respond({ ':status': 200, ...SSE_HEADERS });
      stream.write(event(id, 0, WORKING));
      for (let i = 1; i < 1000; i++) stream.write(`:${'x'.repeat(3000)}\n${event(id, i, PROGRESS)}`);
      stream.end(event(id, 1000, COMPLETED));
    });
    const ids: unknown[] = [];
    for await (const { id } of openStream(agent, `${server.origin}/flood`, { eventIds: 'sequential', idleTimeoutMs: 1000 })) {
      ids.push(id);
      if (ids.length === 5 || ids.length === 500) {
        await pass(50);
        assert.equal(await callOutcome(agent, server.origin, { timeoutMs: 2000 }), 'ok');
      }
    }
    assert.deepEqual(ids, Array.from({ length: 1001 }, (_, i) => String(i)));
    assert.equal(server.connections, 1);
  });

  test('a hundred streams at once are a hundred streams', async (t) => {
    const [server, agent] = await listen(t, (stream, { id }) => {
      stream.respond({ ':status': 200, ...SSE_HEADERS });
      stream.write(event(id, 1, WORKING));
      setTimeout(() => stream.end(event(id, 2, COMPLETED)), 10);
    });
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => streamOutcome(agent, server.origin)));
    assert.deepEqual(new Set(outcomes), new Set(['2 ok']));
    assert.equal(server.begun, 100);
  });

  const heads: [sentence: string, expected: RegExp, play: (stream: RawH2Stream) => void][] = [
    // nghttp2 calls what is not HTTP/2 a protocol error; as a reset of the stream, it looks as one of the server's.
    ['without a status', /^http\.(?:malformed|connection_lost) unknown$/, (stream) => { stream.head(JSON_HEAD.slice(1)); }],
    ['with a transfer coding', /^http\.(?:malformed|connection_lost) unknown$/, (stream) => { stream.head([...JSON_HEAD, ['transfer-encoding', 'chunked']]); }],
    ['with a connection header', /^http\.(?:malformed|connection_lost) unknown$/, (stream) => { stream.head([...JSON_HEAD, ['connection', 'close']]); }],
    ['with two lengths', /^http\.(?:malformed|connection_lost) unknown$/, (stream) => { stream.head([...JSON_HEAD, ['content-length', '80'], ['content-length', '80']]); }],
    ['with a length that is none', /^http\.(?:malformed|connection_lost) unknown$/, (stream) => { stream.head([...JSON_HEAD, ['content-length', '+80']]); }],
    ['with a name in capitals', /^http\.(?:malformed|connection_lost) unknown$/, (stream) => { stream.head([...JSON_HEAD, ['X-Capital', '1']]); }],
    ['that switches protocols', /^http\.(?:malformed|connection_lost) unknown$/, (stream) => { stream.head([[':status', '101']]); }],
    // The limit of node:http2 is on how many there are; it resets the stream, as a server might.
    ['with too many fields', /^(?:limit\.head_bytes|http\.connection_lost) unknown$/, (stream) => { stream.head([...JSON_HEAD, ...Array.from({ length: 200 }, (_, i): [string, string] => [`x-${i}`, '1'])]); }],
    ['in too many frames', /^(?:limit\.head_bytes|http\.malformed) unknown$/, (stream) => { stream.head([...JSON_HEAD, ...Array.from({ length: 100 }, (_, i): [string, string] => [`x-${i}`, 'x'.repeat(2000)])]); }],
    ['that is none, in bytes that are not HTTP/2', /^http\.malformed unknown$/, (stream) => { stream.socket.write('HTTP/1.1 200 OK\r\n\r\n'); }],
    ['that comes twice', /^http\.(?:malformed|truncated) answered$/, (stream) => { stream.head(JSON_HEAD); setTimeout(() => { stream.head(JSON_HEAD); }, 10); }],
  ];
  for (const [sentence, expected, play] of heads) {
    test(`a head ${sentence} is no answer`, async (t) => {
      const [server, agent] = await listenRaw(t, (stream) => {
        play(stream);
        // What would be a good answer behind a good head.
        setTimeout(() => { stream.data(resultText(stream.requestId), true); }, 20);
      });
      assert.match(await callOutcome(agent, server.origin, { timeoutMs: 3000 }), expected);
      assert.equal(server.begun, 1);
    });
  }
});
