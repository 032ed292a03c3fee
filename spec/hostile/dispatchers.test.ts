/**
 * Whatever dispatcher a call is given: a good answer is the answer, one request is one request, nothing is followed, and nothing that was
 * compressed is taken for plain.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
  Agent,
  BalancedPool,
  Client,
  Dispatcher1Wrapper,
  EnvHttpProxyAgent,
  H2CClient,
  MockAgent,
  Pool,
  ProxyAgent,
  RetryAgent,
  RoundRobinPool,
  SnapshotAgent,
  interceptors,
  type Dispatcher,
} from 'undici';
import { call, callOutcome, failureFrom, pass, streamOutcome } from './calls.js';
import { CERTIFICATE } from './certificate.js';
import { keep, keepDispatcher } from './keep.js';
import { LoopbackProxy } from './proxy.js';
import {
  JSON_FIELD,
  RawServer,
  SSE_FIELD,
  WORKING,
  chunk,
  errorText,
  event,
  good,
  goodStream,
  response,
  resultText,
  streamBody,
  type Answer,
} from './raw_server.js';
import { EAGER, SUBJECTS, type Subject } from './subjects.js';

/** What the agent does, by the first segment of the path. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  good: (socket, { id }) => socket.write(good(id)),
  hinted: (socket, { id }) => socket.write(Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'), good(id)])),
  'redirect-here': (socket) => socket.write(response(302, ['location: /good'])),
  'redirect-away': (socket) => socket.write(response(302, [`location: ${elsewhere.origin}/good`])),
  'redirect-post': (socket) => socket.write(response(307, ['location: /good'])),
  'redirect-post-away': (socket) => socket.write(response(308, [`location: ${elsewhere.origin}/good`])),
  'redirect-get': (socket) => socket.write(response(303, ['location: /good'])),
  'unavailable': (socket) => socket.write(response(503, ['content-type: text/html', 'retry-after: 7'], '<p>later</p>')),
  'too-many': (socket) => socket.write(response(429, ['retry-after: 0'])),
  'bad-gateway-close': (socket) => socket.end(response(502, ['connection: close'], 'bad gateway')),
  'agent-error': (socket, { id }) => socket.write(response(400, [JSON_FIELD], errorText(id))),
  'reset': (socket) => socket.resetAndDestroy(),
  'close': (socket) => socket.end(),
  'reset-body': (socket) => {
    socket.write(response(200, [JSON_FIELD, 'content-length: 100'], '{"jsonrpc":'), () => setTimeout(() => socket.resetAndDestroy(), 5));
  },
  'early-close': (socket) => socket.end(response(200, [JSON_FIELD, 'content-length: 100'], '{"jsonrpc":')),
  'early-close-chunked': (socket, { id }) => socket.end(Buffer.concat([response(200, [JSON_FIELD, 'transfer-encoding: chunked']), chunk(resultText(id))])),
  'gzip': (socket, { id }) => socket.write(response(200, [JSON_FIELD, 'content-encoding: gzip'], gzipSync(resultText(id)))),
  'gzip-chunked': (socket, { id }) => {
    const body = gzipSync(resultText(id));
    socket.write(Buffer.concat([response(200, [JSON_FIELD, 'content-encoding: GZip', 'transfer-encoding: chunked']), chunk(body), Buffer.from('0\r\n\r\n')]));
  },
  'brotli': (socket, { id }) => socket.write(response(200, [JSON_FIELD, 'content-encoding: br'], brotliCompressSync(resultText(id)))),
  'twice-coded': (socket, { id }) =>
    socket.write(response(200, [JSON_FIELD, 'content-encoding: deflate', 'content-encoding: gzip'], gzipSync(deflateSync(resultText(id))))),
  'six-times-coded': (socket) => socket.write(response(200, [JSON_FIELD, 'content-encoding: gzip, gzip, gzip, gzip, gzip, gzip'], 'no matter')),
  'gzip-plain': (socket, { id }) => socket.write(response(200, [JSON_FIELD, 'content-encoding: gzip'], resultText(id))),
  'stream': (socket, { id }) => socket.write(goodStream(id)),
  'stream-pieces': (socket, { id }) => {
    socket.write(response(200, [SSE_FIELD, 'transfer-encoding: chunked']));
    const pieces = Array.from(Buffer.from(streamBody(id)), (byte) => chunk(Buffer.of(byte)));
    socket.write(Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]));
  },
  'stream-gzip': (socket, { id }) => socket.write(response(200, [SSE_FIELD, 'content-encoding: gzip'], gzipSync(streamBody(id)))),
  'stream-cut': (socket, { id }) => {
    socket.end(Buffer.concat([response(200, [SSE_FIELD, 'transfer-encoding: chunked']), chunk(event(id, 1, WORKING))]));
  },
  'stream-reset': (socket, { id }) => {
    socket.write(Buffer.concat([response(200, [SSE_FIELD, 'transfer-encoding: chunked']), chunk(event(id, 1, WORKING))]), () =>
      setTimeout(() => socket.resetAndDestroy(), 5),
    );
  },
};

interface Row {
  readonly answer: string;
  readonly sentence: string;
  readonly expected: string;
  /** Where no body is let through. */
  readonly withheld?: string;
  /** Where that counts as a body cut short. */
  readonly missed?: string;
  /** Where error bodies are not let through. */
  readonly hidden?: string;
}

const UNARY: readonly Row[] = [
  { answer: 'good', sentence: 'a good answer', expected: 'ok', withheld: 'json.syntax answered', missed: 'http.truncated answered' },
  {
    answer: 'hinted',
    sentence: 'a good answer behind an early hint',
    expected: 'ok',
    withheld: 'json.syntax answered',
    missed: 'http.truncated answered',
  },
  { answer: 'redirect-here', sentence: 'a 302 to another path', expected: 'http.redirect answered 302' },
  { answer: 'redirect-away', sentence: 'a 302 to another origin', expected: 'http.redirect answered 302' },
  { answer: 'redirect-post', sentence: 'a 307 to another path', expected: 'http.redirect answered 307' },
  { answer: 'redirect-post-away', sentence: 'a 308 to another origin', expected: 'http.redirect answered 308' },
  { answer: 'redirect-get', sentence: 'a 303', expected: 'http.redirect answered 303' },
  { answer: 'unavailable', sentence: 'a 503', expected: 'http.status answered 503' },
  { answer: 'too-many', sentence: 'a 429 that says to come back at once', expected: 'http.status answered 429' },
  { answer: 'bad-gateway-close', sentence: 'a 502 that closes', expected: 'http.status answered 502' },
  {
    answer: 'agent-error',
    sentence: "the agent's error under a 400",
    expected: 'remote.error answered 400',
    withheld: 'http.status answered 400',
    hidden: 'http.status answered 400',
  },
  { answer: 'reset', sentence: 'a reset after the request', expected: 'http.connection_lost unknown' },
  { answer: 'close', sentence: 'a close after the request', expected: 'http.connection_lost unknown' },
  { answer: 'reset-body', sentence: 'a reset inside the body', expected: 'http.truncated answered' },
  { answer: 'early-close', sentence: 'a close inside the body', expected: 'http.truncated answered' },
  { answer: 'early-close-chunked', sentence: 'a close before the last chunk', expected: 'http.truncated answered' },
  { answer: 'gzip', sentence: 'a gzip answer', expected: 'http.content_encoding answered' },
  { answer: 'gzip-chunked', sentence: 'a chunked gzip answer', expected: 'http.content_encoding answered' },
  { answer: 'brotli', sentence: 'a brotli answer', expected: 'http.content_encoding answered' },
  { answer: 'twice-coded', sentence: 'an answer that is coded twice', expected: 'http.content_encoding answered' },
  { answer: 'six-times-coded', sentence: 'an answer that is coded six times', expected: 'http.content_encoding answered' },
  { answer: 'gzip-plain', sentence: 'a plain answer that says it is gzip', expected: 'http.content_encoding answered' },
];

const STREAMS: readonly Row[] = [
  {
    answer: 'stream',
    sentence: 'a stream',
    expected: '2 ok',
    withheld: '0 stream.incomplete answered',
    missed: '0 http.truncated answered',
  },
  { answer: 'stream-pieces', sentence: 'a stream in single bytes', expected: '2 ok', withheld: '0 stream.incomplete answered' },
  { answer: 'stream-gzip', sentence: 'a gzip stream', expected: '0 http.content_encoding answered' },
  { answer: 'stream-cut', sentence: 'a stream that is cut', expected: '1 http.truncated answered', withheld: '0 http.truncated answered' },
  { answer: 'stream-reset', sentence: 'a stream that is reset', expected: '1 http.truncated answered', withheld: '0 http.truncated answered' },
  { answer: 'redirect-post', sentence: 'a redirect of a stream', expected: '0 http.redirect answered 307' },
  { answer: 'unavailable', sentence: 'a 503 to a stream', expected: '0 http.status answered 503' },
  { answer: 'reset', sentence: 'a reset of a stream before its head', expected: '0 http.connection_lost unknown' },
];

let server: RawServer;
let elsewhere: RawServer;
let proxy: LoopbackProxy;

before(async () => {
  elsewhere = await RawServer.listen((socket, { id }) => socket.write(good(id)));
  server = await RawServer.listen((socket, request) => {
    const scenario = /\/([a-z0-9-]+)\?/.exec(request.line)?.[1] ?? '';
    (ANSWERS[scenario] ?? ANSWERS['good'])?.(socket, request);
  });
  proxy = await LoopbackProxy.listen();
});

after(async () => {
  await Promise.all([server.close(), elsewhere.close(), proxy.close()]);
});

/** The targets that were asked for under a mark, here and at the other origin. */
function arrivals(mark: string): string[] {
  const here = server.requests.map(({ line }) => /\/[a-z0-9-]+\?\S+/.exec(line)?.[0] ?? line).filter((target) => target.includes(mark));
  return [...here, ...elsewhere.requests.map(({ line }) => `elsewhere: ${line}`)].sort();
}

function expectedOf({ expected, withheld, missed, hidden }: Row, { withholdsBodies, missesBodies, hidesErrorBodies }: Subject): string {
  return (missesBodies ? missed : undefined) ?? (withholdsBodies ? withheld : undefined) ?? (hidesErrorBodies ? hidden : undefined) ?? expected;
}

async function verdicts(t: TestContext, subject: Subject, rows: readonly Row[], run: typeof callOutcome): Promise<[got: Record<string, string>, wanted: Record<string, string>]> {
  const mark = `?${SUBJECTS.indexOf(subject)}-${run.name}`;
  const dispatcher = keepDispatcher(t, subject.make({}, proxy.origin));
  const got: Record<string, string> = {};
  const wanted: Record<string, string> = {};
  const endpoint = `http://${subject.host ?? '127.0.0.1'}:${server.port}`;
  await Promise.all(
    rows.map(async (row) => {
      wanted[row.sentence] = expectedOf(row, subject);
      got[row.sentence] = await run(dispatcher, `${endpoint}/${row.answer}${mark}`);
    }),
  );
  // What would be repeated or followed has its chance now.
  await pass(30);
  assert.deepEqual(arrivals(mark), rows.map(({ answer }) => `/${answer}${mark}`).sort());
  return [got, wanted];
}

describe('Every answer has its one verdict, and every request arrives once,', { concurrency: 4 }, () => {
  for (const subject of SUBJECTS) {
    test(`under ${subject.name}`, async (t) => {
      const [got, wanted] = await verdicts(t, subject, UNARY, callOutcome);
      assert.deepEqual(got, wanted);
    });

    test(`for streams, under ${subject.name}`, async (t) => {
      const [got, wanted] = await verdicts(t, subject, STREAMS, streamOutcome);
      assert.deepEqual(got, wanted);
    });
  }
});

describe('What a retry keeps for itself', () => {
  for (const [name, make] of [
    ['a RetryAgent', () => new RetryAgent(new Agent(), EAGER)],
    ['an Agent that retries', () => new Agent().compose(interceptors.retry(EAGER))],
    ['an Agent that makes errors of error answers', () => new Agent().compose(interceptors.responseError())],
  ] as const) {
    test(`${name} still says when to come back`, async (t) => {
      const dispatcher = keepDispatcher<Dispatcher>(t, make());
      const failure = await failureFrom(call(dispatcher, `${server.origin}/unavailable?later`));
      assert.deepEqual([failure.rule, failure.delivery, failure.status, failure.retryAfterMs], ['http.status', 'answered', 503, 7000]);
    });
  }
});

describe('A dispatcher that is bound to an origin is refused', () => {
  const origin = 'http://127.0.0.1:1';
  const bound: Record<string, () => Dispatcher> = {
    Client: () => new Client(origin),
    Pool: () => new Pool(origin),
    BalancedPool: () => new BalancedPool([origin]),
    'BalancedPool without an upstream': () => new BalancedPool([]),
    RoundRobinPool: () => new RoundRobinPool(origin),
    H2CClient: () => new H2CClient(origin),
    MockClient: () => new MockAgent({ connections: 1 }).get(origin),
    MockPool: () => new MockAgent().get(origin),
    'a subclass of Client': () => new (class Mine extends Client {})(origin),
    'a subclass of Pool under the name of Agent': () => new (class Agent extends Pool {})(origin),
    'a composed Client': () => new Client(origin).compose(interceptors.redirect({ maxRedirections: 5 })),
    'a Client composed twice': () => new Client(origin).compose(interceptors.retry()).compose(interceptors.decompress()),
    'a composed Pool': () => new Pool(origin).compose(interceptors.retry(EAGER)),
    'a composed BalancedPool': () => new BalancedPool([origin]).compose(interceptors.retry(EAGER)),
    'a composed RoundRobinPool': () => new RoundRobinPool(origin).compose(interceptors.retry(EAGER)),
    'a RetryAgent over a Client': () => new RetryAgent(new Client(origin)),
    'a RetryAgent over a Pool': () => new RetryAgent(new Pool(origin)),
    'a RetryAgent over a BalancedPool': () => new RetryAgent(new BalancedPool([origin])),
    'a RetryAgent over a RoundRobinPool': () => new RetryAgent(new RoundRobinPool(origin)),
    'a RetryAgent over a composed Client': () => new RetryAgent(new Client(origin).compose(interceptors.decompress())),
    'a RetryAgent over a composed BalancedPool': () => new RetryAgent(new BalancedPool([origin]).compose(interceptors.decompress())),
    'a composed RetryAgent over a BalancedPool': () => new RetryAgent(new BalancedPool([origin])).compose(interceptors.decompress()),
    'a Dispatcher1Wrapper over a Client': () => new Dispatcher1Wrapper(new Client(origin)),
    'a Dispatcher1Wrapper over a Pool': () => new Dispatcher1Wrapper(new Pool(origin)),
    'a Dispatcher1Wrapper over a BalancedPool': () => new Dispatcher1Wrapper(new BalancedPool([origin])),
    'a Dispatcher1Wrapper over a RetryAgent over a BalancedPool': () => new Dispatcher1Wrapper(new RetryAgent(new BalancedPool([origin]))),
  };
  for (const [name, make] of Object.entries(bound)) {
    test(name, async () => {
      const dispatcher = make();
      const already = server.requests.length;
      assert.equal(await callOutcome(dispatcher, `${server.origin}/good`), 'options.dispatcher not_sent');
      assert.equal(await streamOutcome(dispatcher, `${server.origin}/stream`), '0 options.dispatcher not_sent');
      assert.equal(server.requests.length, already);
    });
  }

  test('What is no dispatcher at all is refused', async () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const throwing = {
      get dispatch(): never {
        throw new Error('not today');
      },
    };
    for (const value of [undefined, null, 1, 'agent', {}, { dispatch: 1 }, () => true, revoked.proxy, throwing]) {
      assert.equal(await callOutcome(value as Dispatcher, `${server.origin}/good`), 'options.dispatcher not_sent');
    }
  });
});

describe('A Dispatcher1Wrapper over an Agent', () => {
  test('is like the Agent', async (t) => {
    const dispatcher = keepDispatcher(t, new Dispatcher1Wrapper(new Agent()));
    assert.equal(await callOutcome(dispatcher, `${server.origin}/good?wrapped`), 'ok');
    assert.equal(await streamOutcome(dispatcher, `${server.origin}/stream?wrapped`), '2 ok');
    assert.equal(await callOutcome(dispatcher, `${server.origin}/redirect-here?wrapped`), 'http.redirect answered 302');
  });
});

/** The id in a request body, which a MockAgent hands over as it was given. */
function idOf(body: unknown): string {
  assert.ok(Buffer.isBuffer(body));
  return (JSON.parse(body.toString()) as { id: string }).id;
}

describe('A MockAgent that answers by itself', () => {
  const origin = 'http://agent.test';

  function mocked(t: TestContext): [MockAgent, (status: number, fields: Record<string, string>, body: (id: string) => string | Buffer) => void] {
    const agent = keepDispatcher(t, new MockAgent());
    agent.disableNetConnect();
    return [
      agent,
      (status, headers, body) => {
        agent
          .get(origin)
          .intercept({ path: '/a2a', method: 'POST' })
          .reply((request) => ({
            statusCode: status,
            data: body(idOf(request.body)),
            responseOptions: { headers },
          }));
      },
    ];
  }

  test('is judged like any agent', async (t) => {
    const [agent, reply] = mocked(t);
    const json = { 'content-type': 'application/json' };
    const table: [string, number, Record<string, string>, (id: string) => string | Buffer][] = [
      ['ok', 200, json, (id) => resultText(id)],
      ['remote.error answered 200', 200, json, (id) => errorText(id)],
      ['jsonrpc.id answered', 200, json, () => resultText('another')],
      ['http.redirect answered 302', 302, { location: `${server.origin}/good` }, () => ''],
      ['http.status answered 503', 503, {}, () => 'busy'],
      ['http.content_type answered', 200, {}, (id) => resultText(id)],
      ['http.content_encoding answered', 200, { ...json, 'content-encoding': 'gzip' }, (id) => resultText(id)],
      ['limit.response_bytes answered', 200, json, (id) => resultText(id, 'x'.repeat(2 << 20))],
    ];
    for (const [expected, status, headers, body] of table) {
      reply(status, headers, body);
      assert.equal(await callOutcome(agent, `${origin}/a2a`), expected);
    }
    reply(200, { 'content-type': 'text/event-stream' }, streamBody);
    assert.equal(await streamOutcome(agent, `${origin}/a2a`), '2 ok');
  });

  test('may fail, and may know nothing of the call: nothing was sent', async (t) => {
    const [agent] = mocked(t);
    agent.get(origin).intercept({ path: '/a2a', method: 'POST' }).replyWithError(new Error('no such agent'));
    assert.equal(await callOutcome(agent, `${origin}/a2a`), 'http.connect not_sent');
    assert.equal(await callOutcome(agent, `${origin}/other`), 'http.connect not_sent');
  });

  test('is let go of when the call is canceled while it takes its time', async (t) => {
    const [agent] = mocked(t);
    agent.get(origin).intercept({ path: '/a2a', method: 'POST' }).reply(200, '{}').delay(60_000);
    const canceling = new AbortController();
    const answer = callOutcome(agent, `${origin}/a2a`, { signal: canceling.signal });
    canceling.abort();
    assert.equal(await answer, 'canceled.signal unknown');
  });
});

describe('A SnapshotAgent', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'a2a-strict-'));
  });
  after(() => rm(folder, { recursive: true }));

  test('that plays back is judged like any agent: the id of a recorded answer is another', async (t) => {
    const snapshotPath = join(folder, 'recorded.json');
    const endpoint = `${server.origin}/good?snapshot`;
    const recording = new SnapshotAgent({ mode: 'record', snapshotPath, matchBody: false });
    assert.equal(await callOutcome(recording, endpoint), 'ok');
    await recording.close();
    const playing = keepDispatcher(t, new SnapshotAgent({ mode: 'playback', snapshotPath, matchBody: false }));
    assert.equal(await callOutcome(playing, endpoint), 'jsonrpc.id answered');
    assert.equal(await callOutcome(playing, `${server.origin}/good?unknown`), 'http.connect not_sent');
    assert.equal(arrivals('?snapshot').length, 1);
  });

  test('whose recording is missing sends nothing, and says so', async (t) => {
    const playing = keepDispatcher(t, new SnapshotAgent({ mode: 'playback', snapshotPath: join(folder, 'missing.json') }));
    assert.equal(await callOutcome(playing, `${server.origin}/good`, { timeoutMs: 1000 }), 'http.connect not_sent');
  });
});

describe('A proxy', () => {
  test('that does not let us through leaves the request unsent', async (t) => {
    for (const status of ['403 Forbidden', '407 Proxy Authentication Required', '502 Bad Gateway']) {
      const refusing = keep(t, await LoopbackProxy.listen(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`));
      const dispatcher = keepDispatcher(t, new ProxyAgent({ uri: refusing.origin, proxyTunnel: true }));
      assert.equal(await callOutcome(dispatcher, `${server.origin}/good?tunnel`), 'http.connect not_sent');
    }
    assert.deepEqual(arrivals('?tunnel'), []);
  });

  test('that is not there leaves the request unsent', async (t) => {
    const gone = await LoopbackProxy.listen();
    const { origin } = gone;
    await gone.close();
    for (const proxyTunnel of [true, false]) {
      const dispatcher = keepDispatcher(t, new ProxyAgent({ uri: origin, proxyTunnel }));
      assert.equal(await callOutcome(dispatcher, `${server.origin}/good?gone`), 'http.connect not_sent');
    }
  });

  test('that answers a request it was to hand on has answered', async (t) => {
    for (const [status, expected] of [
      ['502 Bad Gateway', 'http.status answered 502'],
      ['407 Proxy Authentication Required', 'http.status answered 407'],
    ]) {
      const refusing = keep(t, await LoopbackProxy.listen(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`));
      const dispatcher = keepDispatcher(t, new ProxyAgent(refusing.origin));
      assert.equal(await callOutcome(dispatcher, `${server.origin}/good?forward`), expected);
      assert.equal(refusing.asked.length, 1);
    }
  });

  test('is asked with its own credentials, and the agent never sees them', async (t) => {
    const dispatcher = keepDispatcher(t, new ProxyAgent({ uri: proxy.origin, token: 'Basic not-a-secret', proxyTunnel: true }));
    assert.equal(await callOutcome(dispatcher, `${server.origin}/good?credentials`), 'ok');
    const seen = server.requests.find(({ line }) => line.includes('?credentials'));
    assert.equal(seen?.headers.has('proxy-authorization'), false);
  });

  test('tunnels TLS to the agent', async (t) => {
    const secure = keep(t, await RawServer.listen((socket, { id }) => socket.write(good(id)), { tls: CERTIFICATE }));
    for (const dispatcher of [
      new ProxyAgent({ uri: proxy.origin, requestTls: { ca: CERTIFICATE.cert } }),
      new EnvHttpProxyAgent({ httpsProxy: proxy.origin, noProxy: '', requestTls: { ca: CERTIFICATE.cert } }),
    ]) {
      keepDispatcher(t, dispatcher);
      assert.equal(await callOutcome(dispatcher, `https://localhost:${secure.port}/good`), 'ok');
      }
    const distrusting = keepDispatcher(t, new ProxyAgent({ uri: proxy.origin }));
    assert.equal(await callOutcome(distrusting, `https://localhost:${secure.port}/good`), 'http.connect not_sent');
    assert.equal(secure.requests.length, 2);
  });
});
