/**
 * Time and cancellation: which clock ran out, how far the request had come, and that nothing of a call is left behind, whatever
 * ended it.
 */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { connect, type LookupFunction, type Socket } from 'node:net';
import { before, describe, test, type TestContext } from 'node:test';
import { Agent, Pool, buildConnector, request, type Dispatcher } from 'undici';
import type { CallInterceptor } from '../../lib/index.js';
import { call, callOutcome, drain, failureFrom, lineOf, openStream, outcome, pass, streamOutcome, until, type Options } from './calls.js';
import { keep, keepDispatcher } from './keep.js';
import { LoopbackProxy } from './proxy.js';
import {
  COMPLETED,
  JSON_FIELD,
  LAST_CHUNK,
  PROGRESS,
  RawServer,
  SSE_FIELD,
  WORKING,
  chunk,
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

const silent: Answer = () => undefined;
const answering: Answer = (socket, { id }) => socket.write(good(id));
const streaming: Answer = (socket, { id }) => socket.write(goodStream(id));
/** A head, and an event, and no more. */
const stalling: Answer = (socket, { id }) => socket.write(Buffer.concat([response(200, [SSE_FIELD, 'transfer-encoding: chunked']), chunk(event(id, 1, WORKING))]));

before(warmUp);

async function listen(t: TestContext, answer: Answer): Promise<RawServer> {
  return keep(t, await RawServer.listen(answer));
}

async function timed(running: Promise<string>): Promise<[line: string, ms: number]> {
  const start = performance.now();
  const line = await running;
  return [line, performance.now() - start];
}

/** A connector that makes no connection before it is told to. */
class HeldConnector {
  readonly held: (() => void)[] = [];
  readonly connect: buildConnector.connector = (options, callback) => {
    this.held.push(() => {
      const socket = connect(Number(options.port), '127.0.0.1');
      socket.once('connect', () => {
        callback(null, socket);
      });
    });
  };

  release(): void {
    for (const go of this.held.splice(0)) go();
  }
}

describe('The clock for the connection', { concurrency: 4 }, () => {
  test('runs while another call has the only connection', async (t) => {
    const server = await listen(t, silent);
    const agent = keepDispatcher(t, new Agent({ connections: 1 }));
    const first = callOutcome(agent, server.origin, { timeoutMs: 500 });
    await until(() => server.requests.length === 1, 'the first request');
    const [line, ms] = await timed(callOutcome(agent, server.origin, { connectTimeoutMs: 40 }));
    assert.equal(line, 'deadline.connect not_sent');
    assert.ok(ms >= 20, `${ms}`);
    assert.equal(await streamOutcome(agent, server.origin, { connectTimeoutMs: 20 }), '0 deadline.connect not_sent');
    assert.equal(await first, 'deadline.total unknown');
    await pass(20);
    assert.equal(server.requests.length, 1);
  });

  test('runs inside the TLS handshake', async (t) => {
    const server = await listen(t, silent);
    const agent = keepDispatcher(t, new Agent());
    assert.equal(await callOutcome(agent, `https://127.0.0.1:${server.port}/`, { connectTimeoutMs: 30 }), 'deadline.connect not_sent');
  });

  test('runs while a name is looked up', async (t) => {
    const agent = keepDispatcher(t, new Agent({ connect: { lookup: () => undefined } }));
    assert.equal(await callOutcome(agent, 'http://nowhere.test/', { connectTimeoutMs: 30 }), 'deadline.connect not_sent');
  });

  test('stops once the request can be written', async (t) => {
    const server = await listen(t, (socket, { id }) => setTimeout(() => socket.write(good(id)), 300));
    const agent = keepDispatcher(t, new Agent());
    assert.equal(await callOutcome(agent, server.origin, { connectTimeoutMs: 150 }), 'ok');
  });

  test('starts with the dispatch, behind the interceptors', async (t) => {
    const server = await listen(t, answering);
    const agent = keepDispatcher(t, new Agent());
    const slow: CallInterceptor = { before: () => pass(300) };
    assert.equal(await callOutcome(agent, server.origin, { connectTimeoutMs: 150, interceptors: [slow] }), 'ok');
  });
});

// Lower bounds leave room: Node counts a timer from when its loop last looked at the clock, which on a busy machine is a while ago.

describe('The clock for the whole call', { concurrency: 4 }, () => {
  test('runs while the agent thinks, and says that the request may have come through', async (t) => {
    const server = await listen(t, silent);
    const agent = keepDispatcher(t, new Agent());
    const [line, ms] = await timed(callOutcome(agent, server.origin, { timeoutMs: 150 }));
    assert.equal(line, 'deadline.total unknown');
    assert.ok(ms >= 100 && ms < 2000, `${ms}`);
  });

  test('is not held by bytes', async (t) => {
    const server = await listen(t, (socket) => {
      socket.write(response(200, [JSON_FIELD, 'content-length: 100000']));
      const drip = setInterval(() => socket.write(' '), 5);
      socket.on('close', () => {
        clearInterval(drip);
      });
    });
    const agent = keepDispatcher(t, new Agent());
    assert.equal(await callOutcome(agent, server.origin, { timeoutMs: 250, idleTimeoutMs: 200 }), 'deadline.total answered');
  });

  test('runs over interceptors: before, nothing is sent, then or later', async (t) => {
    const server = await listen(t, answering);
    const agent = keepDispatcher(t, new Agent());
    const slow: CallInterceptor = { before: () => pass(60) };
    assert.equal(await callOutcome(agent, server.origin, { timeoutMs: 30, interceptors: [slow] }), 'deadline.total not_sent');
    assert.equal(await streamOutcome(agent, server.origin, { timeoutMs: 30, interceptors: [slow] }), '0 deadline.total not_sent');
    await pass(60);
    assert.equal(server.bytes, 0);
  });

  test('runs over interceptors: after, the call does not wait for them for ever', async (t) => {
    const server = await listen(t, answering);
    const agent = keepDispatcher(t, new Agent());
    const stuck: CallInterceptor = { before: () => undefined, after: () => new Promise(() => undefined) };
    assert.equal(await callOutcome(agent, server.origin, { timeoutMs: 200, interceptors: [stuck] }), 'deadline.total answered');
  });

  test('runs for a stream from its first next(), and not before', async (t) => {
    const server = await listen(t, streaming);
    const agent = keepDispatcher(t, new Agent());
    const stream = openStream(agent, server.origin, { timeoutMs: 200, connectTimeoutMs: 200, idleTimeoutMs: 200 });
    await pass(250);
    assert.equal(server.connections, 0);
    assert.equal(await drain(stream), '2 ok');
  });

  test('runs while the consumer of a stream does something else', async (t) => {
    const server = await listen(t, stalling);
    const agent = keepDispatcher(t, new Agent());
    const stream = openStream(agent, server.origin, { timeoutMs: 200 });
    assert.equal((await stream.next()).done, false);
    await until(() => server.sockets.size === 0, 'the connection is let go of');
    assert.equal(lineOf(await stream.next().catch((error: unknown) => error)), 'deadline.total answered');
    assert.equal((await stream.next()).done, true);
  });

  test('may be as long as a timer can be', async (t) => {
    const server = await listen(t, answering);
    const agent = keepDispatcher(t, new Agent());
    const longest = 2 ** 31 - 1;
    const warnings = await warningsOf(async () => {
      assert.equal(await callOutcome(agent, server.origin, { timeoutMs: longest, idleTimeoutMs: longest, connectTimeoutMs: longest }), 'ok');
    });
    assert.deepEqual(warnings, []);
  });
});

describe('The idle clock', { concurrency: 4 }, () => {
  test('starts when the request is sent, not while the connection is made', async (t) => {
    const server = await listen(t, answering);
    const held = new HeldConnector();
    const agent = keepDispatcher(t, new Agent({ connect: held.connect }));
    const answer = callOutcome(agent, server.origin, { idleTimeoutMs: 150 });
    await pass(250);
    held.release();
    assert.equal(await answer, 'ok');
  });

  test('runs while the agent thinks', async (t) => {
    const server = await listen(t, silent);
    const agent = keepDispatcher(t, new Agent());
    const [line, ms] = await timed(callOutcome(agent, server.origin, { idleTimeoutMs: 150 }));
    assert.equal(line, 'deadline.idle unknown');
    assert.ok(ms >= 100 && ms < 2000, `${ms}`);
  });

  test('starts anew with every byte of a body', async (t) => {
    const server = await listen(t, (socket, { id }) => {
      const text = resultText(id);
      socket.write(response(200, [JSON_FIELD, `content-length: ${text.length}`]));
      void (async () => {
        for (let i = 0; i < 5; i++) {
          await pass(60);
          socket.write(text.slice(i * 10, i * 10 + 10));
        }
        socket.write(text.slice(50));
      })();
    });
    const agent = keepDispatcher(t, new Agent());
    assert.equal(await callOutcome(agent, server.origin, { idleTimeoutMs: 200 }), 'ok');
  });

  test('runs from the last byte that came', async (t) => {
    const server = await listen(t, (socket) => {
      socket.write(response(200, [JSON_FIELD, 'content-length: 100']));
      setTimeout(() => socket.write('{'), 100);
    });
    const agent = keepDispatcher(t, new Agent());
    const [line, ms] = await timed(callOutcome(agent, server.origin, { idleTimeoutMs: 200 }));
    assert.equal(line, 'deadline.idle answered');
    assert.ok(ms >= 250, `${ms}`);
  });

  test('runs in a stream between events, and what came before is delivered', async (t) => {
    const server = await listen(t, stalling);
    const agent = keepDispatcher(t, new Agent());
    assert.equal(await streamOutcome(agent, server.origin, { idleTimeoutMs: 150 }), '1 deadline.idle answered');
    // The consumer is slow, but holds nobody back: the agent is silent by itself.
    const stream = openStream(agent, server.origin, { idleTimeoutMs: 150 });
    const first = stream.next();
    await pass(250);
    assert.equal((await first).done, false);
    assert.equal(lineOf(await stream.next().catch((error: unknown) => error)), 'deadline.idle answered');
  });

  /** Megabytes of events that no socket buffer holds, and the end where `ends`. */
  function flood(events: number, ends: boolean): Answer {
    return (socket, { id }) => {
      socket.write(Buffer.concat([response(200, [SSE_FIELD, 'transfer-encoding: chunked']), chunk(event(id, 0, WORKING))]));
      const noise = `:${'x'.repeat(30_000)}\n`;
      let sent = 0;
      const more = (): void => {
        while (sent < events) {
          sent++;
          if (!socket.write(chunk(noise + event(id, sent, PROGRESS)))) {
            socket.once('drain', more);
            return;
          }
        }
        if (ends) socket.write(Buffer.concat([chunk(event(id, sent + 1, COMPLETED)), Buffer.from(LAST_CHUNK)]));
      };
      more();
    };
  }

  test('rests while a slow consumer holds the agent back', async (t) => {
    const server = await listen(t, flood(400, true));
    const agent = keepDispatcher(t, new Agent());
    const stream = openStream(agent, server.origin, { idleTimeoutMs: 200 });
    let events = 0;
    for await (const _ of stream) {
      events++;
      if (events === 3 || events === 200) await pass(350);
    }
    assert.equal(events, 402);
  });

  test('goes on once the agent is no longer held back', async (t) => {
    const server = await listen(t, flood(400, false));
    const agent = keepDispatcher(t, new Agent());
    const stream = openStream(agent, server.origin, { idleTimeoutMs: 200 });
    let events = 0;
    const failure = await failureFrom(
      (async () => {
        for await (const _ of stream) {
          events++;
          if (events === 3) await pass(350);
        }
      })(),
    );
    assert.equal(failure.rule, 'deadline.idle');
    assert.equal(events, 401);
  });
});

describe('The signal of the caller', { concurrency: 4 }, () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const throwing = new Proxy(new Error('no'), {
    get: () => {
      throw new Error('do not look');
    },
    has: () => {
      throw new Error('do not look');
    },
    getPrototypeOf: () => {
      throw new Error('do not look');
    },
  });
  const looks = {
    get name(): never {
      throw new Error('do not look');
    },
  };
  const reasons: [name: string, rule: string, reason: unknown][] = [
    ['a TimeoutError', 'deadline.signal', new DOMException('late', 'TimeoutError')],
    ['an error named TimeoutError', 'deadline.signal', Object.assign(new Error('late'), { name: 'TimeoutError' })],
    ['an AbortError', 'canceled.signal', new DOMException('gone', 'AbortError')],
    ['an error', 'canceled.signal', new Error('gone')],
    ['an error that is a timeout by its message only', 'canceled.signal', new Error('TimeoutError')],
    ['a text', 'canceled.signal', 'TimeoutError'],
    ['null', 'canceled.signal', null],
    ['zero', 'canceled.signal', 0],
    ['a symbol', 'canceled.signal', Symbol('gone')],
    ['a function', 'canceled.signal', () => 'gone'],
    ['an object without a prototype', 'canceled.signal', Object.create(null)],
    ['a revoked proxy', 'canceled.signal', revoked.proxy],
    ['a proxy that throws', 'canceled.signal', throwing],
    ['an object whose name throws', 'canceled.signal', looks],
  ];
  for (const [name, rule, reason] of reasons) {
    test(`may be aborted with ${name}, which is the cause`, async (t) => {
      const server = await listen(t, silent);
      const agent = keepDispatcher(t, new Agent());
      for (const start of [
        (signal: AbortSignal) => call(agent, server.origin, { signal }),
        (signal: AbortSignal) => openStream(agent, server.origin, { signal }).next(),
      ]) {
        const early = new AbortController();
        early.abort(reason);
        const before = await failureFrom(start(early.signal));
        assert.deepEqual([before.rule, before.delivery], [rule, 'not_sent']);
        assert.equal(Object.is(before.unwrap(), reason), true);

        const { length } = server.requests;
        const late = new AbortController();
        const answer = failureFrom(start(late.signal));
        await until(() => server.requests.length > length, 'the request');
        late.abort(reason);
        const during = await answer;
        assert.deepEqual([during.rule, during.delivery], [rule, 'unknown']);
        assert.equal(Object.is(during.unwrap(), reason), true);
      }
      assert.equal(server.requests.length, 2);
    });
  }

  test('that times out by itself is a deadline', async (t) => {
    const server = await listen(t, silent);
    const agent = keepDispatcher(t, new Agent());
    assert.equal(await callOutcome(agent, server.origin, { signal: AbortSignal.timeout(150) }), 'deadline.signal unknown');
    assert.equal(await streamOutcome(agent, server.origin, { signal: AbortSignal.timeout(150) }), '0 deadline.signal unknown');
    const either = AbortSignal.any([new AbortController().signal, AbortSignal.timeout(150)]);
    assert.equal(await callOutcome(agent, server.origin, { signal: either }), 'deadline.signal unknown');
  });

  test('without a reason of its own is a cancellation', async (t) => {
    const server = await listen(t, silent);
    const agent = keepDispatcher(t, new Agent());
    assert.equal(await callOutcome(agent, server.origin, { signal: AbortSignal.abort() }), 'canceled.signal not_sent');
  });

  test('ends a call in each of its stages', async (t) => {
    const server = await listen(t, (socket, { line, id }) => {
      if (line.includes('body')) socket.write(response(200, [JSON_FIELD, 'content-length: 1000'], '{"jsonrpc"'));
      else if (line.includes('events')) stalling(socket, { line, id } as never);
    });
    const agent = keepDispatcher(t, new Agent());
    const stages: [expected: string, path: string, run: typeof callOutcome][] = [
      ['canceled.signal unknown', '/head', callOutcome],
      ['canceled.signal answered', '/body', callOutcome],
      ['0 canceled.signal unknown', '/head', streamOutcome],
      ['1 canceled.signal answered', '/events', streamOutcome],
    ];
    for (const [expected, path, run] of stages) {
      const canceling = new AbortController();
      const answer = run(agent, server.origin + path, { signal: canceling.signal });
      await pass(200);
      canceling.abort();
      assert.equal(await answer, expected);
      assert.deepEqual(getEventListeners(canceling.signal, 'abort'), []);
      await until(() => server.sockets.size === 0, 'the connection is let go of');
    }
  });

  test('has no effect behind the end', async (t) => {
    const server = await listen(t, (socket, { id, line }) => socket.write(line.includes('stream') ? goodStream(id) : good(id)));
    const agent = keepDispatcher(t, new Agent());
    const canceling = new AbortController();
    const { signal } = canceling;
    const answer = call(agent, server.origin, { signal });
    await answer;
    const stream = openStream(agent, `${server.origin}/stream`, { signal });
    await stream.next();
    await stream.next();
    assert.equal((await stream.next()).done, true);
    const { size } = server.sockets;
    canceling.abort();
    assert.equal(await outcome(answer), 'ok');
    assert.equal((await stream.next()).done, true);
    await pass(20);
    assert.ok(size > 0);
    assert.equal(server.sockets.size, size, 'the connections are still there');
  });

  test('that aborts inside the interceptors ends the call at once, nothing sent', async (t) => {
    const server = await listen(t, answering);
    const agent = keepDispatcher(t, new Agent());
    const canceling = new AbortController();
    const stuck: CallInterceptor = { before: () => new Promise(() => undefined) };
    const answer = callOutcome(agent, server.origin, { signal: canceling.signal, interceptors: [stuck] });
    await pass(5);
    canceling.abort();
    assert.equal(await answer, 'canceled.signal not_sent');
    const self: CallInterceptor = {
      before: () => {
        again.abort();
      },
    };
    const again = new AbortController();
    assert.equal(await callOutcome(agent, server.origin, { signal: again.signal, interceptors: [self] }), 'canceled.signal not_sent');
    assert.equal(server.connections, 0);
  });

  test('is not an object with the prototype of one: that is refused, and nothing is sent', async (t) => {
    const server = await listen(t, answering);
    const agent = keepDispatcher(t, new Agent());
    const make = (): AbortSignal => Object.create(AbortSignal.prototype) as AbortSignal;
    assert.equal(await callOutcome(agent, server.origin, { signal: make() }), 'options.signal not_sent');
    const stream = openStream(agent, server.origin, { signal: make() });
    let first: Promise<unknown> | undefined;
    assert.doesNotThrow(() => {
      first = stream.next();
    });
    assert.equal(await outcome(first!), 'options.signal not_sent');
    assert.equal(server.connections, 0);
  });

  test('may have members of its own that throw, and is the signal it is', async (t) => {
    const server = await listen(t, (socket, { id, line }) => {
      if (line.includes('good')) socket.write(good(id));
    });
    const agent = keepDispatcher(t, new Agent());
    const refuse = (): never => {
      throw new Error('do not look');
    };
    const canceling = new AbortController();
    const { signal } = canceling;
    Object.defineProperties(signal, {
      aborted: { get: refuse },
      addEventListener: { value: refuse },
      removeEventListener: { value: refuse },
    });
    assert.equal(await callOutcome(agent, `${server.origin}/good`, { signal }), 'ok');
    const answers = [callOutcome(agent, server.origin, { signal }), streamOutcome(agent, server.origin, { signal })];
    await until(() => server.requests.length === 3, 'both requests');
    canceling.abort();
    assert.deepEqual(await Promise.all(answers), ['canceled.signal unknown', '0 canceled.signal unknown']);
    assert.equal(await callOutcome(agent, `${server.origin}/good`, { signal }), 'canceled.signal not_sent');
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });
});

async function warningsOf(run: () => Promise<void>): Promise<string[]> {
  const warnings: string[] = [];
  const note = (warning: Error): void => {
    warnings.push(`${warning.name}: ${warning.message}`);
  };
  process.on('warning', note);
  await run();
  // Warnings come in a turn of their own.
  await pass(5);
  process.off('warning', note);
  return warnings;
}

describe('A signal that is shared', () => {
  test('by a thousand calls in sequence has no listener left, and nobody is warned', async (t) => {
    const server = await listen(t, answering);
    const agent = keepDispatcher(t, new Agent());
    const { signal } = new AbortController();
    const warnings = await warningsOf(async () => {
      for (let i = 0; i < 1000; i++) {
        const answer = call(agent, server.origin, { signal, timeoutMs: 60_000, idleTimeoutMs: 60_000 });
        assert.equal(getEventListeners(signal, 'abort').length, 1);
        await answer;
        assert.equal(getEventListeners(signal, 'abort').length, 0);
      }
    });
    assert.deepEqual(warnings, []);
    // The next call may come before undici has its connection ready again: then there are two, and no more.
    assert.ok(server.connections <= 2, `${server.connections}`);
  });

  test('by a hundred streams in sequence, however they end, has no listener left', async (t) => {
    const server = await listen(t, streaming);
    const agent = keepDispatcher(t, new Agent());
    const { signal } = new AbortController();
    const warnings = await warningsOf(async () => {
      for (let i = 0; i < 100; i++) {
        const stream = openStream(agent, server.origin, { signal, ...(i % 4 === 1 && { maxEventBytes: 10 }) });
        assert.equal(getEventListeners(signal, 'abort').length, 0, 'a stream is lazy');
        if (i % 4 === 0) assert.equal(await drain(stream), '2 ok');
        else if (i % 4 === 1) assert.equal(await drain(stream), '0 limit.event_bytes answered');
        else {
          await stream.next();
          if (i % 4 === 2) await stream.return();
          else await stream[Symbol.asyncDispose]();
        }
        assert.equal(getEventListeners(signal, 'abort').length, 0);
      }
    });
    assert.deepEqual(warnings, []);
  });

  test('by two hundred calls at once ends them all when it aborts, and nobody is warned', async (t) => {
    const server = await listen(t, silent);
    const agent = keepDispatcher(t, new Agent());
    const canceling = new AbortController();
    const { signal } = canceling;
    const warnings = await warningsOf(async () => {
      const answers = Promise.all(Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? callOutcome : streamOutcome)(agent, server.origin, { signal })));
      await until(() => server.requests.length === 200, 'all requests');
      assert.equal(getEventListeners(signal, 'abort').length, 200);
      canceling.abort();
      assert.deepEqual(new Set(await answers), new Set(['canceled.signal unknown', '0 canceled.signal unknown']));
    });
    assert.deepEqual(warnings, []);
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
    await until(() => server.sockets.size === 0, 'all connections are let go of');
    assert.equal(server.requests.length, 200);
  });
});

describe('Whatever ended a call, nothing of it is left:', () => {
  const LONG = { timeoutMs: 3_600_000, idleTimeoutMs: 3_600_000, connectTimeoutMs: 3_600_000 };
  const json = (body: string, ...fields: string[]): Answer => (socket) => socket.write(response(200, [JSON_FIELD, ...fields], body));
  interface Ending {
    readonly expected: string;
    readonly answer: Answer;
    readonly run?: typeof callOutcome;
    readonly options?: () => Options;
    /** The connection may serve the next call. */
    readonly keepsConnection?: true;
  }
  const endings: Record<string, Ending> = {
    'a good answer': { expected: 'ok', answer: answering, keepsConnection: true },
    "an agent's error": {
      expected: 'remote.error answered 200',
      answer: (socket, { id }) => socket.write(response(200, [JSON_FIELD], JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32001, message: 'no' } }))),
      keepsConnection: true,
    },
    'an answer that is no JSON': { expected: 'json.syntax answered', answer: json('{'), keepsConnection: true },
    'an error status': { expected: 'http.status answered 500', answer: (socket) => socket.write(response(500, [], 'x'.repeat(100_000))) },
    'a redirect': { expected: 'http.redirect answered 302', answer: (socket) => socket.write(response(302, ['location: /'], 'x'.repeat(100_000))) },
    'a wrong media type': { expected: 'http.content_type answered', answer: (socket) => socket.write(response(200, [], 'x'.repeat(100_000))) },
    'too many bytes': { expected: 'limit.response_bytes answered', answer: json('x'.repeat(2 << 20)) },
    'a cut body': { expected: 'http.truncated answered', answer: (socket) => socket.end(response(200, [JSON_FIELD, 'content-length: 10'], '{')) },
    'a reset': { expected: 'http.connection_lost unknown', answer: (socket) => socket.resetAndDestroy() },
    'bytes that are not HTTP': { expected: 'http.malformed unknown', answer: (socket) => socket.write('nothing of that kind\r\n\r\n') },
    'the idle clock': { expected: 'deadline.idle unknown', answer: silent, options: () => ({ idleTimeoutMs: 100 }) },
    'the clock for all': { expected: 'deadline.total unknown', answer: silent, options: () => ({ timeoutMs: 100 }) },
    'the signal': { expected: 'deadline.signal unknown', answer: silent, options: () => ({ signal: AbortSignal.timeout(100) }) },
    'an interceptor that throws after': {
      expected: 'interceptor.after answered',
      answer: answering,
      options: () => ({ interceptors: [{ after: () => { throw new Error('no'); } }] }),
      keepsConnection: true,
    },
    'a good stream': { expected: '2 ok', answer: streaming, run: streamOutcome, keepsConnection: true },
    'a refused event': {
      expected: '1 sse.field answered',
      answer: (socket, { id }) => socket.write(Buffer.concat([response(200, [SSE_FIELD, 'transfer-encoding: chunked']), chunk(`${event(id, 1, WORKING)}retry: 1\n\n`)])),
      run: streamOutcome,
    },
    'a stream that is cut': {
      expected: '1 http.truncated answered',
      answer: (socket, { id }) => socket.end(Buffer.concat([response(200, [SSE_FIELD, 'transfer-encoding: chunked']), chunk(event(id, 1, WORKING))])),
      run: streamOutcome,
    },
    'a stream that stops': { expected: '1 deadline.idle answered', answer: stalling, run: streamOutcome, options: () => ({ idleTimeoutMs: 150 }) },
    'a stream that is left': {
      expected: 'left',
      answer: stalling,
      run: async (dispatcher, endpoint, options) => {
        for await (const _ of openStream(dispatcher, endpoint, options)) break;
        return 'left';
      },
    },
    'a stream whose consumer throws': {
      expected: 'thrown',
      answer: stalling,
      run: async (dispatcher, endpoint, options) => {
        try {
          for await (const _ of openStream(dispatcher, endpoint, options)) throw new Error('of the consumer');
        } catch {
          return 'thrown';
        }
        return 'not thrown';
      },
    },
    'a stream that is left at its end event': {
      expected: 'left',
      answer: (socket, { id }) => socket.write(Buffer.concat([response(200, [SSE_FIELD, 'transfer-encoding: chunked']), chunk(streamBody(id)), Buffer.from(LAST_CHUNK)])),
      run: async (dispatcher, endpoint, options) => {
        for await (const { id } of openStream(dispatcher, endpoint, options)) if (id === '2') break;
        return 'left';
      },
      keepsConnection: true,
    },
  };

  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

  for (const [name, { expected, answer, run = callOutcome, options, keepsConnection }] of Object.entries(endings)) {
    test(name, async (t) => {
      const server = await listen(t, answer);
      const agent = keepDispatcher(t, new Agent());
      const before = timers();
      const { signal } = new AbortController();
      assert.equal(await run(agent, server.origin, { ...LONG, signal, ...options?.() }), expected);
      assert.equal(timers(), before, 'no timer');
      assert.deepEqual(getEventListeners(signal, 'abort'), []);
      await until(() => {
        const stats = agent.stats[server.origin];
        return (stats?.running ?? 0) + (stats?.pending ?? 0) === 0;
      }, 'no request is under way');
      await until(() => server.sockets.size === (keepsConnection ? 1 : 0), keepsConnection ? 'the connection is kept' : 'the connection is let go of');
      if (keepsConnection) {
        await pass(5);
        await run(agent, server.origin, { ...LONG, ...options?.() });
        assert.equal(server.connections, 1, 'and serves the next call');
      }
    });
  }

  test('a stream whose agent does not close after the end event is closed within a quarter of a second', async (t) => {
    const server = await listen(t, (socket, { id }) => socket.write(Buffer.concat([response(200, [SSE_FIELD, 'transfer-encoding: chunked']), chunk(streamBody(id))])));
    const agent = keepDispatcher(t, new Agent());
    const before = timers();
    const [line, ms] = await timed(streamOutcome(agent, server.origin, LONG));
    assert.equal(line, '2 ok');
    assert.ok(ms >= 200 && ms < 1000, `${ms}`);
    assert.equal(timers(), before);
    await until(() => server.sockets.size === 0, 'the connection is let go of');
    // Left at the end event, the consumer is not kept waiting: the wait is behind it.
    const [left, leftMs] = await timed(endings['a stream that is left at its end event']!.run!(agent, server.origin, LONG));
    assert.equal(left, 'left');
    assert.ok(leftMs < 240, `${leftMs}`);
    assert.equal(server.sockets.size, 1);
    await pass(LINGER);
    await until(() => server.sockets.size === 0, 'the connection is let go of');
    assert.equal(timers(), before);
  });
});

const LINGER = 250;

describe('A call that ends while its connection is made', { concurrency: 4 }, () => {
  for (const { name, make, host, connectsItself } of SUBJECTS) {
    if (connectsItself) continue;
    test(`is over at once, and nothing is ever written, under ${name}`, async (t) => {
      const server = await listen(t, answering);
      const held = new HeldConnector();
      const dispatcher = keepDispatcher(t, make({ connect: held.connect }, ''));
      const endpoint = `http://${host ?? '127.0.0.1'}:${server.port}/`;
      const canceling = new AbortController();
      const left = openStream(dispatcher, endpoint);
      const waiting = left.next();
      const answers = [
        callOutcome(dispatcher, endpoint, { signal: canceling.signal }),
        streamOutcome(dispatcher, endpoint, { signal: canceling.signal }),
        callOutcome(dispatcher, endpoint, { connectTimeoutMs: 30 }),
        callOutcome(dispatcher, endpoint, { timeoutMs: 30 }),
        callOutcome(dispatcher, endpoint, { signal: AbortSignal.timeout(30) }),
      ];
      await until(() => held.held.length > 0, 'a connection is asked for');
      const start = performance.now();
      canceling.abort();
      await left.return();
      assert.deepEqual(await Promise.all(answers.slice(0, 2)), ['canceled.signal not_sent', '0 canceled.signal not_sent']);
      assert.ok(performance.now() - start < 500, 'at once');
      assert.equal((await waiting).done, true);
      assert.deepEqual(await Promise.all(answers.slice(2)), ['deadline.connect not_sent', 'deadline.total not_sent', 'deadline.signal not_sent']);
      for (let i = 0; i < 5; i++) {
        held.release();
        await pass(10);
      }
      assert.ok(server.connections > 0, 'the connections were made');
      assert.equal(server.bytes, 0, 'and nothing was written');
    });
  }

  test('does not cost the next call: it is answered', async (t) => {
    const server = await listen(t, answering);
    const held = new HeldConnector();
    const agent = keepDispatcher(t, new Agent({ connect: held.connect, connections: 1 }));
    const canceling = new AbortController();
    const canceled = callOutcome(agent, server.origin, { signal: canceling.signal });
    const next = callOutcome(agent, server.origin);
    canceling.abort();
    assert.equal(await canceled, 'canceled.signal not_sent');
    const release = setInterval(() => {
      held.release();
    }, 2);
    assert.equal(await next, 'ok');
    clearInterval(release);
    assert.equal(server.requests.length, 1);
  });

  test('writes nothing through a proxy that was slow to tunnel', async (t) => {
    const server = await listen(t, answering);
    const tunnel = keep(t, await LoopbackProxy.listen());
    const slow = keep(t, await SlowDoor.listen(tunnel.origin));
    const subject = SUBJECTS.find(({ name }) => name === 'a ProxyAgent that tunnels')!;
    const dispatcher = keepDispatcher(t, subject.make({}, slow.origin));
    const canceling = new AbortController();
    const answer = callOutcome(dispatcher, server.origin, { signal: canceling.signal });
    await until(() => slow.waiting > 0, 'the proxy is asked');
    canceling.abort();
    assert.equal(await answer, 'canceled.signal not_sent');
    slow.open();
    await until(() => server.connections > 0, 'the tunnel is made');
    await pass(20);
    assert.equal(server.bytes, 0);
  });
});

/** Hands connections on to another port once it is told to. */
class SlowDoor {
  waiting = 0;
  readonly #server: RawServer;
  readonly #held: (() => void)[];

  private constructor(server: RawServer, held: (() => void)[]) {
    this.#server = server;
    this.#held = held;
  }

  static async listen(onward: string): Promise<SlowDoor> {
    const held: (() => void)[] = [];
    const sockets: Socket[] = [];
    const server = await RawServer.listen(silent, {
      accepted: (socket) => {
        socket.removeAllListeners('data');
        socket.pause();
        sockets.push(socket);
        held.push(() => {
          const to = connect(Number(new URL(onward).port), '127.0.0.1');
          to.on('error', () => undefined);
          socket.on('close', () => to.destroy());
          socket.pipe(to).pipe(socket);
        });
        door.waiting++;
      },
    });
    const door = new SlowDoor(server, held);
    return door;
  }

  get origin(): string {
    return this.#server.origin;
  }

  open(): void {
    for (const go of this.#held.splice(0)) go();
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

describe('There is no other clock', { concurrency: 4 }, () => {
  test('undici is told so with every dispatch, under whatever dispatcher', async (t) => {
    const server = await listen(t, answering);
    for (const { name, make, host, connectsItself } of SUBJECTS) {
      if (connectsItself || name.includes('MockAgent')) continue;
      const seen: unknown[] = [];
      const factory = (origin: string | URL, options: object): Dispatcher => {
        const pool = new Pool(origin, options);
        const dispatch = pool.dispatch.bind(pool);
        pool.dispatch = (dispatched, handler) => {
          const { headersTimeout, bodyTimeout } = dispatched;
          seen.push([headersTimeout, bodyTimeout]);
          return dispatch(dispatched, handler);
        };
        return pool;
      };
      const dispatcher = keepDispatcher(t, make({ factory, connect: { lookup: toLoopback } }, ''));
      const endpoint = `http://${host ?? '127.0.0.1'}:${server.port}/`;
      await callOutcome(dispatcher, endpoint);
      await streamOutcome(dispatcher, endpoint);
      assert.ok(seen.length >= 2, name);
      for (const clocks of seen) assert.deepEqual(clocks, [0, 0], name);
    }
  });

  test('not even where the dispatcher has short ones: they end a request of its own, and not ours', async (t) => {
    const server = await listen(t, (socket, { line, id }) => {
      if (line.includes('head')) setTimeout(() => socket.write(good(id)), 1800);
      else {
        const text = resultText(id);
        socket.write(response(200, [JSON_FIELD, `content-length: ${text.length}`]));
        setTimeout(() => socket.write(text), 1800);
      }
    });
    const agent = keepDispatcher(t, new Agent({ headersTimeout: 50, bodyTimeout: 50 }));
    const own = request(`${server.origin}/head`, { method: 'POST', body: '{"id":"own"}', dispatcher: agent }).catch((error: unknown) => (error as { code: string }).code);
    const ours = [callOutcome(agent, `${server.origin}/head`), callOutcome(agent, `${server.origin}/body`)];
    assert.equal(await own, 'UND_ERR_HEADERS_TIMEOUT');
    assert.deepEqual(await Promise.all(ours), ['ok', 'ok']);
  });
});

const toLoopback: LookupFunction = (_host, options, callback) => {
  if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
};
