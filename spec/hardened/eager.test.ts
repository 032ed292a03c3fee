import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import type { Agent } from 'undici';
import { hardenedAgent } from '../../lib/hardened/agent.js';
import { call, callOutcome, failureFrom, pass } from '../hostile/calls.js';
import { keepDispatcher } from '../hostile/keep.js';
import { Peer } from './servers.js';

/** A proxy that answers the request for a tunnel with these bytes at once, and how often it was asked. */
async function eagerProxy(t: TestContext, bytes: string): Promise<{ readonly url: string; asked: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      proxy.asked++;
      socket.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: 0 };
  t.after(() => server.close());
  return proxy;
}

for (const early of ['220 ready\r\n', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}']) {
  test(`An agent behind the tunnel that speaks before it is asked is one that does not connect, and is asked once: ${early.slice(0, 8)}`, { timeout: 10_000 }, async (t) => {
    const proxy = await eagerProxy(t, `HTTP/1.1 200 Connected\r\n\r\n${early}`);
    const hardened = keepDispatcher(t, hardenedAgent({ network: 'any', proxy: proxy.url }));
    assert.equal(await callOutcome(hardened, 'http://agent.test', { timeoutMs: 1_000 }), 'http.connect not_sent');
    await pass(200);
    assert.equal(proxy.asked, 1);
  });
}

/** Of how many origins an agent of undici's still knows. */
function originsOf(agent: Agent): number {
  return Object.keys(agent.stats).length;
}

describe('Origins that nobody is connected to any more are forgotten', () => {
  for (const most of [1, 2]) {
    test(`also where there were maxConnectionsPerOrigin: ${most}`, async (t) => {
      const peer = await Peer.listen(t, { host: '0.0.0.0' });
      const hardened = keepDispatcher(t, hardenedAgent({ network: 'loopback', maxConnectionsPerOrigin: most, keepAliveMaxTimeoutMs: 50 }));
      for (let i = 1; i <= 5; i++) {
        const calls = Array.from({ length: most + 1 }, () => callOutcome(hardened, peer.origin(`127.0.0.${i}`)));
        assert.deepEqual(new Set(await Promise.all(calls)), new Set(['ok']));
        const refused = Array.from({ length: most + 1 }, () => callOutcome(hardened, `http://10.0.0.${i}`));
        assert.deepEqual(new Set(await Promise.all(refused)), new Set(['network.refused not_sent']));
      }
      for (let i = 0; i < 50 && originsOf(hardened) > 0; i++) await pass(20);
      assert.deepEqual(Object.keys(hardened.stats), []);
    });
  }
});

for (const network of ['loopback', 'any'] as const) {
  for (const answer of [[], null, [null], 5]) {
    test(`A lookup that finds ${JSON.stringify(answer)} is an http.connect where the network is ${network}`, async (t) => {
      const lookup = (_name: string, _options: object, callback: (error: null, answer: never) => void): void => {
        queueMicrotask(() => {
          callback(null, answer as never);
        });
      };
      const hardened = keepDispatcher(t, hardenedAgent({ network, lookup, connectTimeoutMs: 300 }));
      const failure = await failureFrom(call(hardened, 'http://agent.test'));
      assert.deepEqual([failure.rule, failure.delivery], ['http.connect', 'not_sent']);
      // At once: not because nobody answered.
      assert.notEqual((failure.unwrap() as NodeJS.ErrnoException).code, 'UND_ERR_CONNECT_TIMEOUT');
    });
  }
}
