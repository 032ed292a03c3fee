/**
 * How far a request came, and that it came there once: connections that are not made, that are lost at every moment, answers that
 * come too early or twice, and dispatchers that call back as they please.
 */
import assert from 'node:assert/strict';
import { connect, createServer, type AddressInfo, type LookupFunction, type Socket } from 'node:net';
import { before, describe, test, type TestContext } from 'node:test';
import { Agent, interceptors, type Dispatcher, type buildConnector } from 'undici';
import { StrictClient, type CallInterceptor } from '../../lib/index.js';
import { callOutcome, drain, openStream, outcome, pass, streamOutcome, until, type Options } from './calls.js';
import { CERTIFICATE } from './certificate.js';
import { NotedController, handMade, type Script } from './hand_made.js';
import { keep, keepDispatcher } from './keep.js';
import {
  JSON_FIELD,
  RawServer,
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
import { SUBJECTS } from './subjects.js';
import { warmUp } from './warm.js';

before(warmUp);

async function listen(t: TestContext, answer: Answer, listening?: Parameters<typeof RawServer.listen>[1]): Promise<RawServer> {
  return keep(t, await RawServer.listen(answer, listening));
}

async function closedPort(): Promise<number> {
  const server = await RawServer.listen(() => undefined);
  const { port } = server;
  await server.close();
  return port;
}

async function bothOutcomes(dispatcher: Dispatcher, endpoint: string, options?: Options): Promise<string[]> {
  return [await callOutcome(dispatcher, endpoint, options), await streamOutcome(dispatcher, endpoint, options)];
}

describe('A request is not sent', { concurrency: 4 }, () => {
  const NOT_CONNECTED = ['http.connect not_sent', '0 http.connect not_sent'];

  test('where the connection is refused', async (t) => {
    const endpoint = `http://127.0.0.1:${await closedPort()}/`;
    assert.deepEqual(await bothOutcomes(keepDispatcher(t, new Agent()), endpoint), NOT_CONNECTED);
  });

  test('where the name is unknown', async (t) => {
    const lookup: LookupFunction = (host, _options, callback) => {
      callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }), '', 4);
    };
    const agent = keepDispatcher(t, new Agent({ connect: { lookup } }));
    assert.deepEqual(await bothOutcomes(agent, 'http://nowhere.test/'), NOT_CONNECTED);
    const unresolved = interceptors.dns({
      lookup: (_origin, _options, callback) => {
        callback(new Error('ENOTFOUND'), []);
      },
    });
    const resolving = keepDispatcher(t, new Agent().compose(unresolved));
    assert.deepEqual(await bothOutcomes(resolving, 'http://nowhere.test/'), NOT_CONNECTED);
  });

  test('where the certificate is signed by nobody we trust', async (t) => {
    const server = await listen(t, (socket, { id }) => socket.write(good(id)), { tls: CERTIFICATE });
    assert.deepEqual(await bothOutcomes(keepDispatcher(t, new Agent()), server.origin), NOT_CONNECTED);
    assert.equal(server.bytes, 0);
  });

  test('where the certificate is for another host', async (t) => {
    const server = await listen(t, (socket, { id }) => socket.write(good(id)), { tls: CERTIFICATE });
    const lookup: LookupFunction = (_host, options, callback) => {
      if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
      else callback(null, '127.0.0.1', 4);
    };
    const agent = keepDispatcher(t, new Agent({ connect: { ca: CERTIFICATE.cert, lookup } }));
    assert.equal(await callOutcome(agent, `https://localhost:${server.port}/`), 'ok');
    const { bytes } = server;
    assert.deepEqual(await bothOutcomes(agent, `https://elsewhere.test:${server.port}/`), NOT_CONNECTED);
    assert.equal(server.bytes, bytes);
  });

  test('where the server does not speak TLS', async (t) => {
    const server = await listen(t, () => undefined, { accepted: (socket) => socket.write('220 mail.test ESMTP\r\n') });
    const agent = keepDispatcher(t, new Agent());
    assert.deepEqual(await bothOutcomes(agent, `https://127.0.0.1:${server.port}/`), NOT_CONNECTED);
    assert.equal(server.requests.length, 0);
  });

  test('where the server closes inside the TLS handshake', async (t) => {
    const server = await listen(t, () => undefined, { accepted: (socket) => socket.once('data', () => socket.destroy()) });
    const agent = keepDispatcher(t, new Agent());
    assert.deepEqual(await bothOutcomes(agent, `https://127.0.0.1:${server.port}/`), NOT_CONNECTED);
  });

  test("where the connection takes longer than the dispatcher's own connect timeout", async (t) => {
    // It accepts the connection and never says a word of TLS.
    const server = await listen(t, () => undefined);
    const agent = keepDispatcher(t, new Agent({ connectTimeout: 40 }));
    const outcomes = await Promise.all([
      callOutcome(agent, `https://127.0.0.1:${server.port}/`),
      streamOutcome(agent, `https://127.0.0.1:${server.port}/`),
    ]);
    assert.deepEqual(outcomes, NOT_CONNECTED);
  });

  test('where the connector throws, or fails, or never calls back', async (t) => {
    const throwing = keepDispatcher(t, new Agent({ connect: () => { throw new Error('no sockets left'); } }));
    assert.equal(await callOutcome(throwing, 'http://agent.test/'), 'http.connect not_sent');
    const failing = keepDispatcher(t, new Agent({ connect: (_options, callback) => { callback(new Error('no route'), null); } }));
    assert.equal(await callOutcome(failing, 'http://agent.test/'), 'http.connect not_sent');
    const silent = keepDispatcher(t, new Agent({ connect: () => undefined }));
    assert.equal(await callOutcome(silent, 'http://agent.test/', { connectTimeoutMs: 30 }), 'deadline.connect not_sent');
    assert.equal(await streamOutcome(silent, 'http://agent.test/', { timeoutMs: 30 }), '0 deadline.total not_sent');
  });

  test('where the dispatcher is closed, destroyed, or serves no further origin', async (t) => {
    const server = await listen(t, (socket, { id }) => socket.write(good(id)));
    const closed = new Agent();
    await closed.close();
    assert.deepEqual(await bothOutcomes(closed, server.origin), NOT_CONNECTED);
    const destroyed = new Agent();
    await destroyed.destroy();
    assert.deepEqual(await bothOutcomes(destroyed, server.origin), NOT_CONNECTED);
    const narrow = keepDispatcher(t, new Agent({ maxOrigins: 1 }));
    assert.equal(await callOutcome(narrow, server.origin), 'ok');
    assert.deepEqual(await bothOutcomes(narrow, 'http://127.0.0.1:1/'), NOT_CONNECTED);
    assert.equal(server.requests.length, 1);
  });

  test('where it waited behind another when the dispatcher was destroyed, or the call canceled', async (t) => {
    const server = await listen(t, () => undefined);
    const agent = new Agent({ connections: 1 });
    const canceling = new AbortController();
    const running = callOutcome(agent, server.origin);
    await until(() => server.requests.length === 1, 'the first request');
    const canceled = callOutcome(agent, server.origin, { signal: canceling.signal });
    const waiting = callOutcome(agent, server.origin);
    canceling.abort();
    assert.equal(await canceled, 'canceled.signal not_sent');
    await agent.destroy();
    assert.equal(await waiting, 'http.connect not_sent');
    assert.equal(await running, 'http.connection_lost unknown');
    assert.equal(server.requests.length, 1);
  });

  test('where an idle connection was reset before anything was written to it, and a new one is refused', async (t) => {
    const server = await RawServer.listen((socket, { id }) => socket.write(good(id)));
    const agent = keepDispatcher(t, new Agent());
    const { origin } = server;
    assert.equal(await callOutcome(agent, origin), 'ok');
    for (const socket of server.sockets) socket.resetAndDestroy();
    await server.close();
    await pass(10);
    assert.equal(await callOutcome(agent, origin), 'http.connect not_sent');
  });
});

describe('What became of a request is unknown', { concurrency: 4 }, () => {
  const LOST = ['http.connection_lost unknown', '0 http.connection_lost unknown'];
  const lost: Record<string, Answer> = {
    'where the connection is reset after the request was read': (socket) => socket.resetAndDestroy(),
    'where the connection is closed after the request was read': (socket) => socket.end(),
    'where the connection is closed after half a status line': (socket) => socket.end('HTTP/1.1 20'),
    'where the connection is closed inside the head': (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'),
    'where the connection is closed after an informational answer': (socket) => socket.end('HTTP/1.1 102 Processing\r\n\r\n'),
  };
  for (const [name, answer] of Object.entries(lost)) {
    test(name, async (t) => {
      const server = await listen(t, answer);
      assert.deepEqual(await bothOutcomes(keepDispatcher(t, new Agent()), server.origin), LOST);
      await pass(10);
      assert.equal(server.requests.length, 2);
    });
  }

  test('where the server resets a connection before it reads from it', async (t) => {
    const server = await listen(t, () => undefined, { accepted: (socket) => socket.resetAndDestroy() });
    const agent = keepDispatcher(t, new Agent());
    for (let i = 0; i < 20; i++) {
      // The system may tell of the reset before it tells of the connection: then nothing was written, and that is known.
      assert.match(await callOutcome(agent, server.origin), /^http\.(?:connection_lost unknown|connect not_sent)$/);
    }
    await pass(10);
    assert.equal(server.connections, 20);
  });

  test('where the server reads half of a large request and resets', async (t) => {
    const seen: Socket[] = [];
    const server = keepNet(
      t,
      createServer((socket) => {
        seen.push(socket);
        socket.on('error', () => undefined);
        socket.once('data', () => socket.resetAndDestroy());
      }),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const agent = keepDispatcher(t, new Agent());
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const body = 'x'.repeat(8 << 20);
    assert.equal(await callOutcome(agent, endpoint), 'http.connection_lost unknown');
    const large = new StrictClient(agent).call({ endpoint, protocolVersion: '1.0', maxResponseBytes: 1000 }, 'Anything', { body });
    assert.equal(await outcome(large), 'http.connection_lost unknown');
    await pass(10);
    assert.equal(seen.length, 2);
  });

  test('where a keep-alive connection is closed at the moment the next request comes', async (t) => {
    for (const end of ['destroy', 'resetAndDestroy', 'end'] as const) {
      const server = await listen(t, (socket, { id, before }) => {
        if (before === 0) socket.write(good(id));
        else socket[end]();
      });
      const agent = keepDispatcher(t, new Agent());
      assert.equal(await callOutcome(agent, server.origin), 'ok');
      await pass(5);
      assert.equal(await callOutcome(agent, server.origin), 'http.connection_lost unknown');
      await pass(10);
      assert.deepEqual([server.connections, server.requests.length], [1, 2], end);
    }
  });

  test('where the dispatcher is destroyed while the agent thinks', async (t) => {
    const server = await listen(t, () => undefined);
    const agent = new Agent();
    const outcomes = Promise.all([callOutcome(agent, server.origin), streamOutcome(agent, server.origin)]);
    await until(() => server.requests.length === 2, 'both requests');
    await agent.destroy();
    assert.deepEqual(await outcomes, LOST);
  });

  for (const { name, make, host, connectsItself } of SUBJECTS) {
    if (connectsItself) continue;
    test(`where the connection fails in any way behind the request, which is not tried again under ${name}`, async (t) => {
      const server = await listen(t, () => undefined);
      const made: Socket[] = [];
      const connecting = (options: buildConnector.Options, callback: buildConnector.Callback): void => {
        const socket = connect(Number(options.port), '127.0.0.1');
        made.push(socket);
        socket.once('connect', () => {
          callback(null, socket);
        });
      };
      const dispatcher = keepDispatcher(t, make({ connect: connecting }, ''));
      // What retries and the resolution of names take for a reason to try again.
      const codes = ['ETIMEDOUT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'UND_ERR_SOCKET'];
      for (const [count, code] of codes.entries()) {
        const answer = callOutcome(dispatcher, `http://${host ?? '127.0.0.1'}:${server.port}/`, { timeoutMs: 5000 });
        await until(() => server.requests.length > count, 'the request');
        for (const socket of made.splice(0)) socket.destroy(Object.assign(new Error(code), { code }));
        assert.equal(await answer, 'http.connection_lost unknown', code);
      }
      await pass(30);
      assert.equal(server.requests.length, codes.length);
    });
  }

  test('where plain HTTP is spoken to a server that wants TLS', async (t) => {
    const server = await listen(t, () => undefined, { tls: CERTIFICATE });
    const agent = keepDispatcher(t, new Agent());
    // The server may close, or say in TLS what it thinks.
    assert.match(await callOutcome(agent, `http://127.0.0.1:${server.port}/`), /^http\.(?:connection_lost|malformed) unknown$/);
    assert.equal(server.connections, 0);
  });

  const malformed: Record<string, string> = {
    'where the answer is not HTTP': 'SSH-2.0-OpenSSH_9.9\r\n',
    'where the answer is HTTP/2 from nowhere': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'where the head is broken': 'HTTP/1.1 200 OK\r\nbroken\r\n\r\n',
  };
  for (const [name, bytes] of Object.entries(malformed)) {
    test(name, async (t) => {
      const server = await listen(t, (socket) => socket.write(bytes));
      const agent = keepDispatcher(t, new Agent());
      assert.deepEqual(await bothOutcomes(agent, server.origin), ['http.malformed unknown', '0 http.malformed unknown']);
      assert.equal(server.requests.length, 2);
    });
  }
});

describe('A request was answered', () => {
  const answers: [string, string, Answer][] = [
    ['where the status says no', 'http.status answered 500', (socket) => socket.write(response(500, []))],
    ['where the agent says no', 'remote.error answered 200', (socket, { id }) => socket.write(response(200, [JSON_FIELD], errorText(id)))],
    ['where it is redirected', 'http.redirect answered 307', (socket) => socket.write(response(307, ['location: /']))],
    ['where the media type is wrong', 'http.content_type answered', (socket) => socket.write(response(200, ['content-type: text/html']))],
    ['where the body is too large', 'limit.response_bytes answered', (socket) => socket.write(response(200, [JSON_FIELD], 'x'.repeat(2 << 20)))],
    ['where the body is cut', 'http.truncated answered', (socket) => socket.end(response(200, [JSON_FIELD, 'content-length: 10'], '{}'))],
    ['where the body is no JSON', 'json.syntax answered', (socket) => socket.write(response(200, [JSON_FIELD], 'nothing'))],
    ['where the id is another', 'jsonrpc.id answered', (socket) => socket.write(good('another'))],
    [
      'where the body stops being chunks',
      'http.malformed answered',
      (socket) => socket.write(Buffer.concat([response(200, [JSON_FIELD, 'transfer-encoding: chunked']), chunk('{'), Buffer.from('zz\r\n')])),
    ],
  ];
  for (const [name, expected, answer] of answers) {
    test(name, async (t) => {
      const server = await listen(t, answer);
      assert.equal(await callOutcome(keepDispatcher(t, new Agent()), server.origin), expected);
      assert.equal(server.requests.length, 1);
    });
  }

  test('where its clock ran out, or the caller went, inside the body', async (t) => {
    const server = await listen(t, (socket) => socket.write(response(200, [JSON_FIELD, 'content-length: 10'], '{')));
    const agent = keepDispatcher(t, new Agent());
    const outcomes = [{ timeoutMs: 300 }, { idleTimeoutMs: 300 }, { signal: AbortSignal.timeout(300) }].map((options) => callOutcome(agent, server.origin, options));
    assert.deepEqual(await Promise.all(outcomes), ['deadline.total answered', 'deadline.idle answered', 'deadline.signal answered']);
  });

  test('where the answer was there before the request was read', async (t) => {
    const server = await listen(t, () => undefined, { accepted: (socket) => { socket.pause(); socket.write(good('guessed')); } });
    const agent = keepDispatcher(t, new Agent());
    assert.equal(await callOutcome(agent, server.origin), 'jsonrpc.id answered');
    const streaming = await listen(t, () => undefined, { accepted: (socket) => { socket.pause(); socket.write(goodStream('guessed')); } });
    assert.equal(await streamOutcome(agent, streaming.origin), '0 jsonrpc.id answered');
  });

  test('where the answer was whole before a large request was', async (t) => {
    const server = keepNet(
      t,
      createServer((socket) => {
        socket.on('error', () => undefined);
        // The first packet has the head and the id, and is the last one that is read.
        socket.once('data', (head: Buffer) => {
          socket.pause();
          const id = /"id":"([0-9a-f]+)"/.exec(head.toString())?.[1] ?? '';
          socket.write(good(id));
        });
      }),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const agent = keepDispatcher(t, new Agent());
    const large = new StrictClient(agent).call({ endpoint, protocolVersion: '1.0', maxResponseBytes: 1000 }, 'Anything', { body: 'x'.repeat(8 << 20) });
    assert.equal(await outcome(large), 'ok');
  });
});

describe('A connection that answers more than it was asked', { concurrency: 4 }, () => {
  /** Calls one after the other; each answer repeats what was asked. Gives the outcomes, and fails where an answer is another's. */
  async function echoes(agent: Dispatcher, endpoint: string, calls: number, rest: () => Promise<void>): Promise<string[]> {
    const outcomes: string[] = [];
    for (let number = 0; number < calls; number++) {
      const answer = new StrictClient(agent).call({ endpoint, protocolVersion: '1.0', maxResponseBytes: 10_000, timeoutMs: 2000 }, 'Echo', { number });
      outcomes.push(await outcome(answer));
      if (outcomes.at(-1) === 'ok') assert.deepEqual((await answer).result, { number });
      await rest();
    }
    return outcomes;
  }
  const echo = (body: string): Buffer => {
    const { id, params } = JSON.parse(body) as { id: string; params: unknown };
    return good(id, params);
  };
  const forged = (id: string): Buffer => good(id, { number: -1 });
  const rests: Record<string, () => Promise<void>> = {
    'at once': () => Promise.resolve(),
    'in the next turn': () => new Promise((resolve) => setImmediate(resolve)),
    'a little later': () => pass(3),
  };
  const extras: Record<string, Answer> = {
    'the same answer twice in one packet': (socket, { body }) => socket.write(Buffer.concat([echo(body), echo(body)])),
    'another answer for the same id in the same packet': (socket, { body, id }) => socket.write(Buffer.concat([echo(body), forged(id)])),
    'the same answer twice, a little apart': (socket, { body }) => {
      socket.write(echo(body));
      setTimeout(() => socket.write(echo(body)), 1);
    },
    'an answer and the beginning of another': (socket, { body, id }) => socket.write(Buffer.concat([echo(body), forged(id).subarray(0, 40)])),
    'an answer and bytes that are not HTTP': (socket, { body }) => socket.write(Buffer.concat([echo(body), Buffer.from('\0\0\0\0\0\0')])),
    'an answer and an informational one': (socket, { body }) => socket.write(Buffer.concat([echo(body), Buffer.from('HTTP/1.1 103 Early\r\n\r\n')])),
    'a hundred answers': (socket, { body, id }) => socket.write(Buffer.concat([echo(body), ...Array.from({ length: 100 }, () => forged(id))])),
  };
  for (const [name, answer] of Object.entries(extras)) {
    for (const [when, rest] of Object.entries(rests)) {
      test(`answers nobody with ${name}, when the next call comes ${when}`, async (t) => {
        const server = await listen(t, answer);
        const agent = keepDispatcher(t, new Agent());
        const outcomes = await echoes(agent, server.origin, 8, rest);
        // What the second answer hits while the next request is under way costs that call its connection, never its truth.
        for (const line of outcomes) assert.match(line, /^(?:ok|http\.connection_lost unknown|http\.malformed unknown|jsonrpc\.id answered)$/);
        assert.equal(outcomes[0], 'ok');
        assert.equal(new Set(server.requests.map(({ id }) => id)).size, server.requests.length, 'no request twice');
      });
    }
  }

  test('and keeps the second for the next request, is found out by the id', async (t) => {
    let kept: Buffer | undefined;
    const server = await listen(t, (socket, { id, body }) => {
      socket.write(kept ?? echo(body));
      kept = forged(id);
    });
    const agent = keepDispatcher(t, new Agent());
    assert.deepEqual(await echoes(agent, server.origin, 3, () => Promise.resolve()), ['ok', 'jsonrpc.id answered', 'jsonrpc.id answered']);
  });
});

describe('A server that closes as it pleases', () => {
  test('never gets a request twice, and a call never an answer that is not its own', async (t) => {
    let turn = 0;
    const server = await listen(t, (socket, { id }) => {
      switch (turn++ % 6) {
        case 0:
          socket.write(good(id));
          break;
        case 1:
          // Says nothing of closing, and closes.
          socket.end(good(id));
          break;
        case 2:
          socket.write(good(id), () => socket.resetAndDestroy());
          break;
        case 3:
          socket.write(good(id));
          setTimeout(() => socket.destroy(), 1);
          break;
        case 4:
          socket.write(response(200, [JSON_FIELD, 'connection: close', `content-length: ${resultText(id).length}`], resultText(id)));
          break;
        default:
          socket.write(good(id));
          setImmediate(() => socket.end());
      }
    });
    const agent = keepDispatcher(t, new Agent());
    const outcomes: string[] = [];
    for (let i = 0; i < 120; i++) outcomes.push(await callOutcome(agent, server.origin));
    const wrong = outcomes.filter((line) => !/^(?:ok|http\.(?:connection_lost unknown|truncated answered))$/.test(line));
    assert.deepEqual(wrong, []);
    assert.ok(outcomes.filter((line) => line === 'ok').length >= 60, 'most of them are answered');
    await pass(10);
    const ids = server.requests.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.length <= 120);
  });
});

describe('A dispatcher that is made by hand', { concurrency: 4 }, () => {
  /** Runs a script under a call, unary or streaming, and tells the outcome; `after` of an interceptor tells how many there were. */
  async function run(script: Script, isStream: boolean, options: Options = {}): Promise<string> {
    let ends = 0;
    const counting: CallInterceptor = {
      before: () => undefined,
      after: () => {
        ends++;
      },
    };
    const all = { timeoutMs: 100, interceptors: [counting], ...options };
    const dispatcher = handMade(script);
    const line = isStream ? await streamOutcome(dispatcher, 'http://agent.test/', all) : await callOutcome(dispatcher, 'http://agent.test/', all);
    // What is called back behind the end comes now.
    await pass(2);
    assert.equal(ends, 1, 'one end');
    return line;
  }

  const sse = { 'content-type': 'text/event-stream' };
  const table: [sentence: string, expected: string, script: Script][] = [
    ['that answers at once is answered', 'ok', (play) => play.start().sent().head().data(resultText(play.id)).end()],
    ['that answers later is answered', 'ok', (play) => setImmediate(() => play.start().sent().head().data(resultText(play.id)).end())],
    [
      'that throws has sent nothing',
      'http.connect not_sent',
      () => {
        throw new Error('no');
      },
    ],
    [
      'that throws nothing at all has sent nothing',
      'http.connect not_sent',
      () => {
        throw undefined as unknown as Error;
      },
    ],
    ['that rejects has sent nothing', 'http.connect not_sent', () => Promise.reject(new Error('no'))],
    [
      'that rejects after it started may have sent something',
      'http.connection_lost unknown',
      (play) => {
        play.start();
        return Promise.reject(new Error('no'));
      },
    ],
    [
      'that throws after it started may have sent something',
      'http.connection_lost unknown',
      (play) => {
        play.start();
        throw new Error('no');
      },
    ],
    [
      'that throws after it answered has answered',
      'ok',
      (play) => {
        play.start().head().data(resultText(play.id)).end();
        throw new Error('no');
      },
    ],
    ['that never calls back runs the clock out, nothing sent', 'deadline.total not_sent', () => undefined],
    ['that starts and never calls back runs the clock out', 'deadline.total unknown', (play) => play.start()],
    ['that stops after the head runs the clock out', 'deadline.total answered', (play) => play.start().head()],
    ['that fails before it starts has sent nothing', 'http.connect not_sent', (play) => play.error()],
    ['that fails after it started may have sent something', 'http.connection_lost unknown', (play) => play.start().error()],
    ['that fails after the head has answered', 'http.truncated answered', (play) => play.start().head().data('{').error()],
    ['that fails twice fails once', 'http.connection_lost unknown', (play) => play.start().error().error()],
    [
      'that fails with nothing fails',
      'http.connection_lost unknown',
      (play) => {
        play.start();
        play.handler.onResponseError(play.controller, undefined as unknown as Error);
      },
    ],
    [
      'that fails with an error that throws when it is looked at fails',
      'http.connection_lost unknown',
      (play) => {
        play.start();
        const error = new Proxy(new Error('no'), {
          get: () => {
            throw new Error('do not look');
          },
        });
        setImmediate(() => {
          play.handler.onResponseError(play.controller, error);
        });
      },
    ],
    ['that fails and then answers has failed', 'http.connection_lost unknown', (play) => play.start().error().head().data(resultText(play.id)).end()],
    ['that answers and then fails has answered', 'ok', (play) => play.start().head().data(resultText(play.id)).end().error()],
    ['that ends twice ends once', 'ok', (play) => play.start().head().data(resultText(play.id)).end().end()],
    [
      'that answers twice has answered once',
      'ok',
      (play) => play.start().head().data(resultText(play.id)).end().start().head().data(errorText(play.id)).end(),
    ],
    ['that goes on behind the end has answered', 'ok', (play) => play.start().head().data(resultText(play.id)).end().data('and more').head(500).error()],
    [
      'that goes on for long behind a refusal has been refused',
      'http.redirect answered 302',
      (play) => {
        play.start().head(302);
        for (let i = 0; i < 1000; i++) play.data('x').head(200).data(resultText(play.id)).end().error();
      },
    ],
    ['that starts twice is stopped', 'http.connection_lost unknown', (play) => play.start().sent().start().head().data(resultText(play.id)).end()],
    ['that starts again after the head is stopped', 'http.connection_lost answered', (play) => play.start().head().start().data(resultText(play.id)).end()],
    ['that answers before it starts is not answered twice', 'ok', (play) => play.head().data(resultText(play.id)).end().start()],
    ['that ends without a head has not answered', 'http.malformed unknown', (play) => play.start().end()],
    ['that has a body and no head has not answered', 'http.malformed unknown', (play) => play.start().data(resultText(play.id)).end()],
    ['that has only an informational head has not answered', 'http.malformed unknown', (play) => play.start().head(103).data(resultText(play.id)).end()],
    ['that has two heads is refused', 'http.malformed answered', (play) => play.start().head().head().data(resultText(play.id)).end()],
    [
      'that makes one body of two answers is refused',
      'http.malformed answered',
      (play) => {
        const text = resultText(play.id);
        return play.start().head().data(text.slice(0, 20)).head().data(text.slice(20)).end();
      },
    ],
    [
      'that turns an error status into a good one is refused',
      'http.status answered 500',
      (play) => play.start().head(500).head(200).data(resultText(play.id)).end(),
    ],
    [
      'whose controller throws when it is asked to stop is left behind',
      'http.redirect answered 302',
      (play) => {
        play.controller.abort = () => {
          throw new Error('I do not stop');
        };
        return play.start().head(302);
      },
    ],
    [
      'whose controller calls back when it is asked to stop is refused once',
      'http.redirect answered 302',
      (play) => {
        play.controller.abort = (reason) => play.error(reason).end();
        return play.start().head(302);
      },
    ],
    [
      'that upgrades unasked is refused',
      'http.malformed unknown',
      (play) => {
        play.start();
        const socket = { destroy: () => undefined };
        play.handler.onRequestUpgrade?.(play.controller, 101, {}, socket as never);
      },
    ],
    [
      'that says nothing of raw headers is judged by the others',
      'http.content_encoding answered',
      (play) => play.start().head(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).data(resultText(play.id)).end(),
    ],
  ];
  for (const [sentence, expected, script] of table) {
    test(sentence, async () => {
      assert.equal(await run(script, false), expected);
    });
  }

  const streams: [sentence: string, expected: string, script: Script][] = [
    ['that streams at once has streamed', '2 ok', (play) => play.start().head(200, sse).data(streamBody(play.id)).end()],
    [
      'that streams one byte a callback has streamed',
      '2 ok',
      (play) => {
        play.start().head(200, sse);
        for (const byte of streamBody(play.id)) play.data(byte);
        play.end();
      },
    ],
    [
      'that streams whatever it is asked has streamed',
      '3 ok',
      (play) => {
        play.start().head(200, sse).data(event(play.id, 1, WORKING)).data(`:${'x'.repeat(70_000)}\n`);
        play.data(streamBody(play.id).replaceAll(/^id: /gm, 'id: 1')).end();
      },
    ],
    ['that fails inside a stream has delivered what came', '1 http.truncated answered', (play) => play.start().head(200, sse).data(event(play.id, 1, WORKING)).error()],
    ['that fails behind the end of a stream has streamed', '2 ok', (play) => play.start().head(200, sse).data(streamBody(play.id)).error()],
    ['that streams twice has streamed once', '2 ok', (play) => play.start().head(200, sse).data(streamBody(play.id)).end().head(200, sse).data(streamBody(play.id)).end()],
    ['that starts a stream twice is stopped', '0 http.connection_lost unknown', (play) => play.start().start().head(200, sse).data(streamBody(play.id)).end()],
    ['that has two heads for a stream is refused', '1 http.malformed answered', (play) => play.start().head(200, sse).data(event(play.id, 1, WORKING)).head(200, sse).data(event(play.id, 2, WORKING)).end()],
    ['that has events and no head has not answered', '0 http.malformed unknown', (play) => play.start().data(streamBody(play.id)).end()],
    ['that never calls back to a stream runs the clock out', '0 deadline.total not_sent', () => undefined],
    ['that rejects a stream has sent nothing', '0 http.connect not_sent', () => Promise.reject(new Error('no'))],
  ];
  for (const [sentence, expected, script] of streams) {
    test(sentence, async () => {
      assert.equal(await run(script, true), expected);
    });
  }

  test('that starts behind the end of the call is stopped before it writes', async () => {
    const canceling = new AbortController();
    let start: (() => NotedController) | undefined;
    const dispatcher = handMade((play) => {
      start = () => {
        try {
          play.start();
        } catch {
          // To throw is a way to stop it, too.
          play.controller.asked.push('abort');
        }
        return play.controller;
      };
    });
    const answer = callOutcome(dispatcher, 'http://agent.test/', { signal: canceling.signal });
    canceling.abort();
    assert.equal(await answer, 'canceled.signal not_sent');
    assert.ok(start?.().asked.includes('abort'));
  });

  test('whose controller feeds a stream from within resume() is read in order', async () => {
    const dispatcher = handMade((play) => {
      const rest = [event(play.id, 2, WORKING), event(play.id, 3, WORKING), `:${'x'.repeat(70_000)}\n\n`, streamBody(play.id).replaceAll(/^id: /gm, 'id: 1')];
      const feed = (): void => {
        while (rest.length > 0 && !play.controller.paused) play.data(rest.shift()!);
        if (rest.length === 0) play.end();
      };
      play.controller.resume = () => {
        if (!play.controller.paused) return;
        play.controller.paused = false;
        feed();
      };
      play.start().head(200, sse).data(event(play.id, 1, WORKING) + `:${'x'.repeat(70_000)}\n\n`);
    });
    const stream = openStream(dispatcher, 'http://agent.test/', { timeoutMs: 1000 });
    const ids: unknown[] = [];
    for await (const { id } of stream) {
      ids.push(id);
      await pass(1);
    }
    assert.deepEqual(ids, ['1', '2', '3', '11', '12']);
  });

  test('whose controller throws when a stream is resumed ends the stream, and nothing else', async () => {
    const dispatcher = handMade((play) => {
      play.controller.resume = () => {
        throw new Error('I stay where I am');
      };
      play.start().head(200, sse).data(event(play.id, 1, WORKING) + `:${'x'.repeat(70_000)}\n\n`);
    });
    assert.equal(await drain(openStream(dispatcher, 'http://agent.test/', { timeoutMs: 200 })), '1 http.truncated answered');
  });
});

function keepNet(t: TestContext, server: ReturnType<typeof createServer>): ReturnType<typeof createServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return server;
}
