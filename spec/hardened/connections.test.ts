import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import type { Agent } from 'undici';
import { hardenedAgent } from '../../lib/hardened/agent.js';
import type { HardenedAgentOptions } from '../../lib/hardened/options.js';
import { call, callOutcome, failureFrom, pass, until } from '../hostile/calls.js';
import { keep, keepDispatcher } from '../hostile/keep.js';
import { RawServer, good, response, resultText } from '../hostile/raw_server.js';
import { Peer, answerWell } from './servers.js';

function agent(t: TestContext, options: Omit<HardenedAgentOptions, 'proxy'>): Agent {
  return keepDispatcher(t, hardenedAgent({ network: 'loopback', ...options }));
}

/** A peer that answers when it is told to. */
class Holding {
  readonly #held: (readonly [response: ServerResponse, id: string])[] = [];

  readonly answer = (held: ServerResponse, id: string): void => {
    this.#held.push([held, id]);
  };

  get count(): number {
    return this.#held.length;
  }

  release(count = this.count): void {
    for (const [held, id] of this.#held.splice(0, count)) answerWell(held, id);
  }
}

/** One call after another, and how many connections they took. */
async function connectionsOf(hardened: Agent, server: RawServer, pauses: readonly number[]): Promise<number> {
  const before = server.connections;
  for (const ms of pauses) {
    await pass(ms);
    assert.equal(await callOutcome(hardened, server.origin), 'ok');
  }
  return server.connections - before;
}

async function rawServer(t: TestContext, ...fields: readonly string[]): Promise<RawServer> {
  const answer = (id: string): Buffer => response(200, ['content-type: application/json', ...fields], resultText(id));
  return keep(t, await RawServer.listen((socket, { id }) => socket.write(answer(id))));
}

describe('Connections to one origin', () => {
  test('There are never more than maxConnectionsPerOrigin, and what is over it waits', async (t) => {
    const holding = new Holding();
    const peer = await Peer.listen(t, { answer: holding.answer });
    const hardened = agent(t, { maxConnectionsPerOrigin: 3 });
    const outcomes = Promise.all(Array.from({ length: 8 }, () => callOutcome(hardened, peer.origin())));
    for (const round of [3, 3, 2]) {
      await until(() => holding.count === round, 'as many requests as connections');
      await pass(20);
      assert.equal(holding.count, round);
      holding.release();
    }
    assert.deepEqual(new Set(await outcomes), new Set(['ok']));
    assert.deepEqual([peer.most, peer.connections], [3, 3]);
  });

  test('What waits is within the connect clock of its call', async (t) => {
    const holding = new Holding();
    const peer = await Peer.listen(t, { answer: holding.answer });
    const hardened = agent(t, { maxConnectionsPerOrigin: 1 });
    const first = callOutcome(hardened, peer.origin());
    await until(() => holding.count === 1, 'the first request');
    assert.equal(await callOutcome(hardened, peer.origin(), { connectTimeoutMs: 30 }), 'deadline.connect not_sent');
    holding.release();
    assert.equal(await first, 'ok');
    assert.equal(peer.requests, 1);
  });
});

describe('Connections altogether', () => {
  test('One more than maxConnections is an http.connect, and one that is closed makes room', async (t) => {
    const holding = new Holding();
    const [one, two] = [await Peer.listen(t, { answer: holding.answer }), await Peer.listen(t)];
    const hardened = agent(t, { maxConnections: 2, keepAliveMaxTimeoutMs: 1 });
    const outcomes = [callOutcome(hardened, one.origin()), callOutcome(hardened, one.origin())];
    await until(() => holding.count === 2, 'two requests');
    const failure = await failureFrom(call(hardened, two.origin()));
    assert.deepEqual([failure.kind, failure.rule, failure.delivery], ['unavailable', 'http.connect', 'not_sent']);
    assert.equal((failure.unwrap() as NodeJS.ErrnoException).code, 'ERR_TOO_MANY_CONNECTIONS');
    assert.equal(two.connections, 0);
    holding.release();
    assert.deepEqual(await Promise.all(outcomes), ['ok', 'ok']);
    await until(() => one.sockets.size === 0, 'idle connections are closed');
    assert.equal(await callOutcome(hardened, two.origin()), 'ok');
  });

  test('Connections that fail take no room', async (t) => {
    const peer = await Peer.listen(t);
    const hardened = agent(t, { maxConnections: 2, maxConnectionsPerOrigin: 2 });
    for (let round = 0; round < 5; round++) {
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => failureFrom(call(hardened, 'http://127.0.0.1:1'))));
      assert.deepEqual(new Set(outcomes.map((failure) => (failure.unwrap() as NodeJS.ErrnoException).code)), new Set(['ECONNREFUSED']));
    }
    assert.equal(await callOutcome(hardened, peer.origin()), 'ok');
  });
});

/** What undici would pipeline, if it were let. */
async function get(dispatcher: Agent, peer: Peer): Promise<void> {
  const { body } = await dispatcher.request({ origin: peer.origin(), path: '/', method: 'GET', blocking: false });
  await body.dump();
}

describe('Requests on one connection', () => {
  test('They follow one another, none before the answer to the one before', async (t) => {
    const holding = new Holding();
    const peer = await Peer.listen(t, { answer: holding.answer });
    const hardened = agent(t, { maxConnectionsPerOrigin: 1 });
    const all = Promise.all([get(hardened, peer), get(hardened, peer), get(hardened, peer)]);
    for (let i = 1; i <= 3; i++) {
      await until(() => holding.count === 1, 'the next request');
      await pass(20);
      assert.equal(peer.requests, i);
      holding.release();
    }
    await all;
    assert.equal(peer.connections, 1);
  });

  test('pipelining: 0 gives each a connection of its own', async (t) => {
    const server = await rawServer(t);
    assert.equal(await connectionsOf(agent(t, { pipelining: 0 }), server, [0, 0, 0]), 3);
    assert.equal(await connectionsOf(agent(t, {}), server, [0, 0, 0]), 1);
  });

  test('More than 1 pipelines what is idempotent', async (t) => {
    const holding = new Holding();
    const peer = await Peer.listen(t, { answer: holding.answer });
    const hardened = agent(t, { maxConnectionsPerOrigin: 1, pipelining: 2 });
    const both = Promise.all([get(hardened, peer), get(hardened, peer)]);
    // Node's server reads the second before it has answered the first.
    await until(() => holding.count === 2, 'the second request');
    holding.release();
    await both;
    assert.equal(peer.connections, 1);
  });
});

describe('Idle connections', () => {
  test('One is not used again once keepAliveTimeoutMs is over', async (t) => {
    const server = await rawServer(t);
    assert.equal(await connectionsOf(agent(t, { keepAliveTimeoutMs: 50 }), server, [0, 150, 150]), 3);
  });

  test('Nor where this process was busy over it and could close nothing', async (t) => {
    const server = await rawServer(t);
    const hardened = agent(t, { keepAliveTimeoutMs: 50 });
    assert.equal(await callOutcome(hardened, server.origin), 'ok');
    const end = performance.now() + 80;
    while (performance.now() < end);
    assert.equal(await callOutcome(hardened, server.origin), 'ok');
    assert.equal(server.connections, 2);
  });

  test("A server's hint shortens it, by the threshold too", async (t) => {
    const soon = await rawServer(t, 'keep-alive: timeout=2');
    assert.equal(await connectionsOf(agent(t, {}), soon, [0, 0, 0]), 3);
    const later = await rawServer(t, 'keep-alive: timeout=10');
    assert.equal(await connectionsOf(agent(t, {}), later, [0, 0, 0]), 1);
    assert.equal(await connectionsOf(agent(t, { keepAliveTimeoutThresholdMs: 9_950 }), later, [0, 150]), 2);
  });

  test("A server's hint makes it no longer than keepAliveMaxTimeoutMs", async (t) => {
    const server = await rawServer(t, 'keep-alive: timeout=1000000');
    assert.equal(await connectionsOf(agent(t, { keepAliveMaxTimeoutMs: 50 }), server, [0, 150, 150]), 3);
    assert.equal(await connectionsOf(agent(t, { keepAliveTimeoutMs: 50 }), server, [0, 150, 150]), 1);
  });
});

describe('What a server may send and take', { concurrency: true }, () => {
  test('A head over 16 KiB is limit.head_bytes, and maxHeaderBytes moves that', async (t) => {
    const server = await rawServer(t, `x-long: ${'x'.repeat(8_000)}`, `x-longer: ${'x'.repeat(7_900)}`);
    assert.equal(await callOutcome(agent(t, {}), server.origin), 'ok');
    assert.equal(await callOutcome(agent(t, { maxHeaderBytes: 10_000 }), server.origin), 'limit.head_bytes unknown');
    const longer = await rawServer(t, ...Array.from({ length: 3 }, (_, i) => `x-${i}: ${'x'.repeat(6_000)}`));
    assert.equal(await callOutcome(agent(t, {}), longer.origin), 'limit.head_bytes unknown');
    assert.equal(await callOutcome(agent(t, { maxHeaderBytes: 20_000 }), longer.origin), 'ok');
  });

  test('A server that never speaks TLS is given up after connectTimeoutMs', async (t) => {
    const silent = keep(t, await RawServer.listen((socket, { id }) => socket.write(good(id))));
    const failure = await failureFrom(call(agent(t, { connectTimeoutMs: 100 }), silent.origin.replace('http:', 'https:')));
    assert.deepEqual([failure.rule, failure.delivery], ['http.connect', 'not_sent']);
    const { code, message } = failure.unwrap() as NodeJS.ErrnoException;
    assert.equal(code, 'UND_ERR_CONNECT_TIMEOUT');
    assert.match(message, /timeout: 100ms/);
    await until(() => silent.sockets.size === 0, 'the connection is closed');
  });

  test('A connection that nobody waits for any more is given up', async (t) => {
    const silent = keep(t, await RawServer.listen((socket, { id }) => socket.write(good(id))));
    const hardened = hardenedAgent({ network: 'loopback' });
    const outcome = callOutcome(hardened, silent.origin.replace('http:', 'https:'));
    await until(() => silent.sockets.size === 1, 'the connection is being made');
    await hardened.destroy();
    assert.equal(await outcome, 'http.connect not_sent');
  });
});
