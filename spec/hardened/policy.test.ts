import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { buildConnector, fetch, interceptors, request, type Agent } from 'undici';
import { guardedConnector } from '../../lib/hardened/connector.js';
import { hardenedAgent } from '../../lib/hardened/agent.js';
import { Failure, failureOf } from '../../lib/index.js';
import { call, callOutcome, failureFrom, streamOutcome } from '../hostile/calls.js';
import { keepDispatcher } from '../hostile/keep.js';
import type { HardenedAgentOptions } from '../../lib/hardened/options.js';
import { Peer, otherLoopback } from './servers.js';

const REFUSED = 'network.refused not_sent';

function agent(t: TestContext, options?: Omit<HardenedAgentOptions, 'proxy'>): Agent {
  return keepDispatcher(t, hardenedAgent(options));
}

type Answer = Parameters<Parameters<LookupFunction>[2]>[1];

/** Resolves every name to what `next` says. */
function resolver(next: () => Answer): LookupFunction {
  return (_hostname, _options, callback) => {
    queueMicrotask(() => {
      callback(null, next());
    });
  };
}

function addresses(...list: readonly string[]): Answer {
  // The family is a lie where it can be.
  return list.map((address) => ({ address, family: 4 }));
}

/** What a request of undici's own fails with. */
async function failureBehind(answer: Promise<unknown>): Promise<Failure | undefined> {
  try {
    await answer;
  } catch (error) {
    return failureOf(error);
  }
  return undefined;
}

/** That a peer's count of connections counts. */
async function assertReachable(t: TestContext, peer: Peer): Promise<void> {
  const before = peer.connections;
  assert.equal(await callOutcome(agent(t, { network: 'loopback' }), peer.origin()), 'ok');
  assert.equal(peer.connections, before + 1);
}

describe('A network policy', () => {
  test('By default this machine is refused, to calls and to streams, and sees no connection', async (t) => {
    const peer = await Peer.listen(t);
    const hardened = agent(t);
    assert.equal(await callOutcome(hardened, peer.origin()), REFUSED);
    assert.equal(await streamOutcome(hardened, peer.origin()), `0 ${REFUSED}`);
    assert.equal(peer.connections, 0);
    await assertReachable(t, peer);
  });

  test('A refusal is an invalid_argument; why is behind unwrap() alone', async (t) => {
    const { kind, ...failure } = await failureFrom(call(agent(t), 'http://10.11.12.13/'));
    assert.equal(kind, 'invalid_argument');
    assert.doesNotMatch(JSON.stringify(failure) + inspect(failure, { showHidden: true }), /10\.11/);
    assert.match(String((await failureFrom(call(agent(t), 'http://10.11.12.13/'))).unwrap()), /10\.11\.12\.13/);
  });

  test('Whoever uses the agent without a client meets the same Failure', async (t) => {
    const hardened = agent(t);
    for (const get of [request, fetch]) {
      const failure = await failureBehind(get('http://127.0.0.1:8080/', { dispatcher: hardened }));
      assert.ok(failure instanceof Failure);
      assert.deepEqual([failure.rule, failure.delivery], ['network.refused', 'not_sent']);
    }
  });

  // What the URL parser would rewrite, the client refuses before; undici rewrites it.
  for (const [host, outcome] of [
    ['127.0.0.1', REFUSED],
    ['localhost', REFUSED],
    ['[::1]', REFUSED],
    ['[::ffff:7f00:1]', REFUSED],
    ['[::7f00:1]', REFUSED],
    ['[64:ff9b::7f00:1]', REFUSED],
    ['[2002:7f00:1::]', REFUSED],
    ['0.0.0.0', REFUSED],
    ['[::]', REFUSED],
    ['2130706433', 'options.endpoint not_sent'],
    ['0x7f000001', 'options.endpoint not_sent'],
    ['0x7F.0x0.0x0.0x1', 'options.endpoint not_sent'],
    ['0177.0.0.01', 'options.endpoint not_sent'],
    ['017700000001', 'options.endpoint not_sent'],
    ['127.1', 'options.endpoint not_sent'],
    ['127.0.1', 'options.endpoint not_sent'],
    ['127.0.0.1.', 'options.endpoint not_sent'],
    ['0', 'options.endpoint not_sent'],
    ['１２７.0.0.1', 'options.endpoint not_sent'],
    ['127。0。0。1', 'options.endpoint not_sent'],
    ['%31%32%37.0.0.1', 'options.endpoint not_sent'],
    ['[::ffff:127.0.0.1]', 'options.endpoint not_sent'],
    ['[0:0:0:0:0:0:0:1]', 'options.endpoint not_sent'],
  ] as const) {
    test(`Loopback is not reached as ${host}`, async (t) => {
      const peer = await Peer.listen(t);
      const hardened = agent(t);
      assert.equal(await callOutcome(hardened, peer.origin(host)), outcome);
      const failure = await failureBehind(request(peer.origin(host), { dispatcher: hardened }));
      assert.equal(failure?.rule, 'network.refused');
      assert.equal(peer.connections, 0);
    });
  }

  test('Nor with a zone, which no URL has', async (t) => {
    const peer = await Peer.listen(t);
    const hardened = agent(t);
    for (const host of ['[::1%25lo]', '[::1%lo]', '[fe80::1%251]']) {
      assert.equal(await callOutcome(hardened, peer.origin(host)), 'options.endpoint not_sent');
      assert.throws(() => request(peer.origin(host), { dispatcher: hardened }), { code: 'ERR_INVALID_URL' });
    }
    assert.equal(peer.connections, 0);
  });

  test('A connector that is given what no URL holds judges it too', async (t) => {
    const peer = await Peer.listen(t);
    const connect = guardedConnector('public', systemLookup, (lookup) => buildConnector({ lookup, timeout: 1000 }));
    for (const hostname of ['::1%lo', '::1%1', 'fe80::1%lo', '127.0.0.1', '127.1', '0x7f.1', '2130706433', '0177.1']) {
      const [error, socket] = await new Promise<readonly [Error | null, unknown]>((resolve) => {
        connect({ hostname, protocol: 'http:', port: String(peer.port) }, (...result) => {
          resolve(result);
        });
      });
      assert.ok(socket === null || socket === undefined, hostname);
      // Where the system's resolver does not take the old spellings, it knows no such name.
      assert.match(failureOf(error)?.rule ?? (error as NodeJS.ErrnoException).code!, /^(?:network\.refused|ENOTFOUND|EAI_AGAIN)$/, hostname);
    }
    assert.equal(peer.connections, 0);
  });

  test('A name any of whose addresses is refused is refused whole, and neither address sees a connection', async (t) => {
    const peer = await Peer.listen(t);
    const other = await otherLoopback(t, peer.port);
    const network = (address: string): boolean => address === '127.0.0.1';
    for (const answer of [addresses('127.0.0.1', other.address), addresses(other.address, '127.0.0.1')]) {
      const hardened = agent(t, { network, lookup: resolver(() => answer) });
      assert.equal(await callOutcome(hardened, peer.origin('agent.test')), REFUSED);
    }
    assert.deepEqual([peer.connections, other.peer.connections], [0, 0]);
    const hardened = agent(t, { network: 'loopback', lookup: resolver(() => addresses(other.address)) });
    assert.equal(await callOutcome(hardened, peer.origin('agent.test')), 'ok');
    assert.deepEqual([peer.connections, other.peer.connections], [0, 1]);
  });

  test('All addresses of a name are asked for, also where one would do', async (t) => {
    const peer = await Peer.listen(t);
    const lookup: LookupFunction = (_hostname, { all }, callback) => {
      if (all === true) callback(null, addresses('127.0.0.1', '192.0.2.1'));
      else callback(null, '127.0.0.1', 4);
    };
    for (const autoSelectFamily of [true, false]) {
      assert.equal(await callOutcome(agent(t, { network: 'loopback', lookup, autoSelectFamily }), peer.origin('agent.test')), REFUSED);
    }
    assert.equal(peer.connections, 0);
  });

  test('A name that is another address at the next connection is judged anew', async (t) => {
    const peer = await Peer.listen(t);
    const other = await otherLoopback(t, peer.port);
    const answers = ['127.0.0.1', other.address, '127.0.0.1'];
    const network = (address: string): boolean => address === '127.0.0.1';
    const hardened = agent(t, { network, pipelining: 0, lookup: resolver(() => addresses(answers.shift()!)) });
    const outcomes = [];
    for (let i = 0; i < 3; i++) outcomes.push(await callOutcome(hardened, peer.origin('agent.test')));
    assert.deepEqual(outcomes, ['ok', REFUSED, 'ok']);
    assert.deepEqual([peer.connections, other.peer.connections], [2, 0]);
  });

  test('A name is resolved once a connection: what a second answer would be has no effect', async (t) => {
    const peer = await Peer.listen(t);
    const other = await otherLoopback(t, peer.port);
    let resolved = 0;
    const network = (address: string): boolean => address === '127.0.0.1';
    const lookup = resolver(() => addresses(resolved++ === 0 ? '127.0.0.1' : other.address));
    for (const autoSelectFamily of [true, false]) {
      resolved = 0;
      assert.equal(await callOutcome(agent(t, { network, lookup, autoSelectFamily }), peer.origin('agent.test')), 'ok');
      assert.equal(resolved, 1);
    }
    assert.equal(other.peer.connections, 0);
  });

  test('An answer that says something else when it is read again is read once', async (t) => {
    const peer = await Peer.listen(t);
    const other = await otherLoopback(t, peer.port);
    let reads = 0;
    const shifty = {
      family: 4,
      get address() {
        return reads++ === 0 ? '127.0.0.1' : other.address;
      },
    };
    const hardened = agent(t, { network: (address) => address === '127.0.0.1', lookup: resolver(() => [shifty]) });
    assert.equal(await callOutcome(hardened, peer.origin('agent.test')), 'ok');
    assert.deepEqual([peer.connections, other.peer.connections, reads], [1, 0, 1]);
  });

  test('All addresses that were judged are tried in turn', async (t) => {
    const peer = await Peer.listen(t);
    // Nothing listens at the first.
    const lookup = resolver(() => addresses('::1', '127.0.0.2', '127.0.0.1'));
    assert.equal(await callOutcome(agent(t, { network: 'loopback', lookup }), peer.origin('agent.test')), 'ok');
    assert.equal(await callOutcome(agent(t, { network: 'loopback', lookup, autoSelectFamily: false }), peer.origin('agent.test')), 'http.connect not_sent');
    assert.equal(peer.connections, 1);
  });

  test('A function is asked for each address, with the port of the endpoint or its scheme and the host', async (t) => {
    const asked: unknown[] = [];
    const network = (...given: [string, number, string]): boolean => {
      asked.push(given);
      return given[0] === '192.0.2.1';
    };
    const hardened = agent(t, { network, lookup: resolver(() => addresses('192.0.2.1', '::FFFF:c000:202')) });
    for (const origin of ['http://agent.test', 'https://agent.test', 'http://agent.test:8080', 'https://198.51.100.1', 'http://[2001:db8::1]:81']) {
      assert.equal(await callOutcome(hardened, origin), REFUSED);
    }
    const twice = (port: number): unknown[] => [
      ['192.0.2.1', port, 'agent.test'],
      ['192.0.2.2', port, 'agent.test'],
    ];
    assert.deepEqual(asked, [...twice(80), ...twice(443), ...twice(8080), ['198.51.100.1', 443, '198.51.100.1'], ['2001:db8::1', 81, '2001:db8::1']]);
  });

  test('What a function throws is behind unwrap()', async (t) => {
    const thrown = new Error('it hides a secret');
    const network = (): boolean => {
      throw thrown;
    };
    for (const origin of ['http://127.0.0.1:9', 'http://agent.test:9']) {
      const failure = await failureFrom(call(agent(t, { network, lookup: resolver(() => addresses('127.0.0.1')) }), origin));
      assert.deepEqual([failure.rule, failure.unwrap()], ['network.refused', thrown]);
    }
  });

  test('A redirect that an interceptor follows meets it as well', async (t) => {
    const target = await Peer.listen(t);
    const peer = await Peer.listen(t, {
      answer: (response) => response.writeHead(307, { location: target.origin(), 'content-length': 0 }).end(),
    });
    const follow = interceptors.redirect({ maxRedirections: 3 });
    const get = (network: HardenedAgentOptions['network']): Promise<unknown> => request(peer.origin(), { dispatcher: agent(t, { network }).compose(follow) });
    const failure = await failureBehind(get((_address, port) => port === peer.port));
    assert.equal(failure?.rule, 'network.refused');
    assert.deepEqual([peer.requests, target.connections], [1, 0]);
    await get('loopback');
    assert.deepEqual([peer.requests, target.connections], [2, 1]);
  });

  test('An interceptor that resolves names itself meets it as well', async (t) => {
    const peer = await Peer.listen(t);
    const here = interceptors.dns({
      lookup: (_origin, _options, callback) => {
        callback(null, [{ address: '127.0.0.1', family: 4, ttl: 1000 }]);
      },
    });
    assert.equal(await callOutcome(agent(t).compose(here), peer.origin('agent.test')), REFUSED);
    assert.equal(peer.connections, 0);
    assert.equal(await callOutcome(agent(t, { network: 'loopback' }).compose(here), peer.origin('agent.test')), 'ok');
  });

  test('Refused calls fail each on its own, and take no connection from others', async (t) => {
    const peer = await Peer.listen(t);
    const hardened = agent(t, { network: (_address, port) => port === peer.port, maxConnections: 2, maxConnectionsPerOrigin: 2 });
    for (let port = 1; port <= 10; port++) assert.equal(await callOutcome(hardened, `http://127.0.0.1:${port}`), REFUSED);
    const failures = await Promise.all(Array.from({ length: 10 }, () => failureFrom(call(hardened, 'http://localhost:1'))));
    assert.deepEqual(new Set(failures.map(({ rule }) => rule)), new Set(['network.refused']));
    assert.equal(new Set(failures).size, 10);
    assert.equal(await callOutcome(hardened, peer.origin()), 'ok');
  });
});

describe('A lookup of other make', { concurrency: true }, () => {
  const hostile: readonly (readonly [name: string, lookup: LookupFunction, outcome: string])[] = [
    ['answers with one text', (_hostname, _options, callback) => { callback(null, '127.0.0.1', 4); }, 'ok'],
    ['answers at once', (_hostname, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]); }, 'ok'],
    ['says the wrong family', resolver(() => [{ address: '127.0.0.1', family: 6 }]), 'ok'],
    ['answers without an error at all', (_hostname, _options, callback) => { callback(undefined as unknown as null, '127.0.0.1', 4); }, 'ok'],
    ['fails with no error', (_hostname, _options, callback) => { callback('no' as unknown as Error, ''); }, 'http.connect not_sent'],
    ['fails', (_hostname, _options, callback) => { callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), ''); }, 'http.connect not_sent'],
    ['throws', () => { throw new Error('no'); }, 'http.connect not_sent'],
    ['finds nothing', resolver(() => []), 'http.connect not_sent'],
    ['finds no address', resolver(() => addresses('agent.test')), 'http.connect not_sent'],
    ['finds an address with a prefix', resolver(() => addresses('127.0.0.1/8')), 'http.connect not_sent'],
    ['answers with no list', resolver(() => null as unknown as Answer), 'http.connect not_sent'],
    ['answers with a list of nothing', resolver(() => [undefined] as unknown as Answer), 'http.connect not_sent'],
    ['throws when its answer is read', resolver(() => [{ family: 4, get address(): string { throw 'no' as unknown as Error; } }]), 'http.connect not_sent'],
    ['never answers', () => undefined, 'http.connect not_sent'],
  ];
  for (const [name, lookup, outcome] of hostile) {
    for (const autoSelectFamily of [true, false]) {
      test(`One that ${name}, addresses in ${autoSelectFamily ? 'turn' : 'order'}: ${outcome}`, async (t) => {
        const peer = await Peer.listen(t);
        const hardened = agent(t, { network: 'loopback', lookup, autoSelectFamily, ...(name === 'never answers' && { connectTimeoutMs: 100 }) });
        assert.equal(await callOutcome(hardened, peer.origin('agent.test')), outcome);
        assert.equal(peer.connections, outcome === 'ok' ? 1 : 0);
      });
    }
  }

  test('What it fails with is behind unwrap()', async (t) => {
    const error = Object.assign(new Error('no'), { code: 'ENOTFOUND' });
    const lookup: LookupFunction = (_hostname, _options, callback) => { callback(error, ''); };
    assert.equal((await failureFrom(call(agent(t, { lookup }), 'http://agent.test'))).unwrap(), error);
  });

  test("It resolves names where the network is 'any' too", async (t) => {
    const peer = await Peer.listen(t);
    assert.equal(await callOutcome(agent(t, { network: 'any', lookup: resolver(() => addresses('127.0.0.1')) }), peer.origin('agent.test')), 'ok');
  });
});

describe('The last look', () => {
  test('A connection to another address than the one that was judged is closed before anything is written', async (t) => {
    const peer = await Peer.listen(t);
    const stray = buildConnector({});
    const connect = guardedConnector(
      (address) => address === '192.0.2.1',
      systemLookup,
      () => (options, callback) => {
        stray({ ...options, hostname: '127.0.0.1' }, callback);
      },
    );
    const [error, socket] = await new Promise<readonly [Error | null, unknown]>((resolve) => {
      connect({ hostname: '192.0.2.1', protocol: 'http:', port: String(peer.port) }, (...result) => {
        resolve(result);
      });
    });
    assert.equal(failureOf(error)?.rule, 'network.refused');
    assert.equal(socket, null);
    assert.equal(peer.requests, 0);
  });
});
