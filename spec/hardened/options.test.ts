import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { describe, test } from 'node:test';
import { Agent, ProxyAgent } from 'undici';
import { hardenedAgent } from '../../lib/hardened/agent.js';
import type { HardenedAgentOptions } from '../../lib/hardened/options.js';
import { Failure, StrictClient } from '../../lib/index.js';
import { callOutcome } from '../hostile/calls.js';
import { keepDispatcher } from '../hostile/keep.js';
import { Peer, certificate, pinOf } from './servers.js';

/** `made`, or the rule and the path of the failure. */
async function made(options: unknown): Promise<string> {
  try {
    await hardenedAgent(options as HardenedAgentOptions).destroy();
    return 'made';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    assert.deepEqual([error.kind, error.delivery], ['invalid_argument', 'not_sent']);
    return [error.rule, ...(error.path === undefined ? [] : [error.path])].join(' ');
  }
}

function reasonOf(options: unknown): unknown {
  try {
    hardenedAgent(options as HardenedAgentOptions);
  } catch (error) {
    return error instanceof Failure ? error.unwrap() : error;
  }
  return undefined;
}

function throwing(): never {
  throw new Error('a getter that throws');
}

const shut: unknown = new Proxy({}, { get: throwing, getPrototypeOf: throwing, ownKeys: throwing, has: throwing, getOwnPropertyDescriptor: throwing });
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

const AUTHORITY = certificate('authority.pem');
const cert = certificate('client.pem');
const key = certificate('client-key.pem');

/** Nothing that any setting takes. */
const BOXED: readonly unknown[] = [Object(1), Object('1.2'), Object(true)];
const NOTHING: readonly unknown[] = [null, '', {}, Object.create(null), shut, revoked];
const NEVER: readonly unknown[] = [...NOTHING, ...BOXED, Symbol('x'), 1n, new Date(), -1, NaN, Infinity];
const NUMBERS: readonly unknown[] = ['1', 1.5, true, [], [1], Number.MAX_VALUE, () => 1];

const GOOD: { readonly [N in keyof HardenedAgentOptions]-?: readonly unknown[] } = {
  network: ['public', 'loopback', 'any', () => true],
  lookup: [() => undefined],
  minTlsVersion: ['1.2', '1.3'],
  ca: [AUTHORITY, Buffer.from(AUTHORITY), new Uint8Array(Buffer.from(AUTHORITY)), [AUTHORITY], `# a comment\r\n${AUTHORITY.replaceAll('\n', '\r\n')}`],
  cert: [],
  key: [],
  passphrase: [],
  spkiPins: [[pinOf('server')], [pinOf('server'), pinOf('next')], [`${'A'.repeat(43)}=`]],
  maxHeaderBytes: [1, 16_384, Number.MAX_SAFE_INTEGER],
  maxConnectionsPerOrigin: [1, 2, 10_000],
  maxConnections: [1, 2, 100_000],
  pipelining: [0, 1, 10],
  connectTimeoutMs: [1, 2 ** 31 - 1],
  keepAliveTimeoutMs: [1, 2 ** 31 - 1],
  keepAliveMaxTimeoutMs: [1, 2 ** 31 - 1],
  keepAliveTimeoutThresholdMs: [1, 2 ** 31 - 1],
  autoSelectFamily: [true, false],
  allowH2: [true, false],
  proxy: [],
};

const BAD: { readonly [N in keyof HardenedAgentOptions]-?: readonly unknown[] } = {
  network: ['Public', 'none', 'private', true, [], ['public']],
  lookup: ['system', true, [], 1],
  minTlsVersion: ['1.1', '1.0', '1.4', 'TLSv1.3', 1.2, 1.3, true],
  ca: [
    true,
    0,
    [],
    [''],
    'no certificate',
    Buffer.alloc(0),
    AUTHORITY.slice(0, -10),
    AUTHORITY.replace('MII', 'AII'),
    [AUTHORITY, 'no certificate'],
    [AUTHORITY, undefined],
    AUTHORITY + AUTHORITY.slice(0, 300),
    AUTHORITY + key,
    key,
    new Uint16Array(4),
    new ArrayBuffer(8),
  ],
  cert: [true, 0, [cert]],
  key: [true, 0, [key]],
  passphrase: [true, 0, Buffer.from('x')],
  spkiPins: [
    pinOf('server'),
    [],
    [''],
    ['A'.repeat(43)],
    [`${'A'.repeat(42)}B=`],
    [`${'A'.repeat(42)}_=`],
    [`sha256/${pinOf('server')}`],
    [` ${pinOf('server')}`],
    [`${pinOf('server')}\n`],
    [Buffer.from(pinOf('server'), 'base64').toString('hex')],
    [pinOf('server'), undefined],
    [Buffer.from(pinOf('server'), 'base64')],
    new Set([pinOf('server')]),
  ],
  maxHeaderBytes: [...NUMBERS, 0],
  maxConnectionsPerOrigin: [...NUMBERS, 0],
  maxConnections: [...NUMBERS, 0],
  pipelining: NUMBERS,
  connectTimeoutMs: [...NUMBERS, 0, 2 ** 31],
  keepAliveTimeoutMs: [...NUMBERS, 0, 2 ** 31],
  keepAliveMaxTimeoutMs: [...NUMBERS, 0, 2 ** 31],
  keepAliveTimeoutThresholdMs: [...NUMBERS, 0, 2 ** 31],
  autoSelectFamily: ['true', 0, 1, []],
  allowH2: ['true', 0, 1, []],
  proxy: [true, 0, [], 'proxy.test', 'proxy.test:8080', '//proxy.test', 'socks5://proxy.test', 'ftp://proxy.test', 'file:///proxy', new URL('data:,x')],
};

function ruleOf(name: string): string {
  if (name.endsWith('Ms')) return 'options.time';
  return name.startsWith('max') || name === 'pipelining' ? 'options.limit' : 'options.dispatcher';
}

describe('The settings of a hardened agent', () => {
  test('None of them is needed', async () => {
    assert.equal(await made(undefined), 'made');
    assert.equal(await made({}), 'made');
    assert.equal(await made(Object.create(null)), 'made');
    assert.equal(await made(Object.fromEntries(Object.keys(GOOD).map((name) => [name, undefined]))), 'made');
  });

  for (const [name, values] of Object.entries(GOOD)) {
    test(`${name} takes what it should`, async () => {
      for (const value of values) assert.equal(await made({ [name]: value }), 'made', inspect(value));
    });
  }

  for (const [name, values] of Object.entries(BAD)) {
    test(`${name} refuses what it should`, async () => {
      const refused = `${ruleOf(name)} ${name}`;
      for (const value of [...NEVER, ...values]) {
        // An empty passphrase is one, with the key that it is for.
        if (name === 'passphrase' && value === '') continue;
        // Certificates are read once both are there.
        const pair = name === 'cert' ? { key } : name === 'key' || name === 'passphrase' ? { cert, key } : {};
        const outcome = await made({ network: name === 'proxy' ? 'any' : 'public', ...pair, [name]: value });
        assert.equal(outcome, refused, inspect(value, { depth: 0, showProxy: true }));
      }
    });
  }

  test('What is none of them is refused by its own rule, undici\'s and Node\'s own names too', async () => {
    const theirs = ['rejectUnauthorized', 'checkServerIdentity', 'secureContext', 'servername', 'connect', 'connections', 'tls', 'socketPath'];
    for (const name of [...theirs, 'Network', 'networks', 'toString', '__proto__']) {
      assert.equal(await made(JSON.parse(`{"${name}":true}`)), 'options.unknown', name);
    }
    assert.equal(await made({ [Symbol('network')]: 'any' }), 'options.unknown');
    assert.match(String(reasonOf({ rejectUnauthorized: false })), /rejectUnauthorized/);
  });

  test('Only a plain object holds them', async () => {
    class Settings {
      network = 'public';
    }
    for (const options of [null, 'public', 1, true, [], () => undefined, new Settings(), new Map(), new Agent(), shut, revoked]) {
      assert.equal(await made(options), 'options.unknown', inspect(options, { depth: 0, showProxy: true }));
    }
  });

  test('What a prototype says has no effect', async (t) => {
    const peer = await Peer.listen(t);
    const inherited = Object.create({ network: 'any' }) as HardenedAgentOptions;
    assert.equal(await made(inherited), 'options.unknown');
    Object.defineProperty(Object.prototype, 'network', { value: 'any', configurable: true, writable: true });
    try {
      assert.equal(await callOutcome(keepDispatcher(t, hardenedAgent({})), peer.origin()), 'network.refused not_sent');
    } finally {
      delete (Object.prototype as { network?: unknown }).network;
    }
    assert.equal(peer.connections, 0);
  });

  test('Each is read once, and a getter that throws is the caller\'s failure', async () => {
    for (const name of Object.keys(GOOD)) {
      let reads = 0;
      const counted = Object.defineProperty({}, name, { enumerable: true, get: () => (reads++, undefined) });
      assert.equal(await made(counted), 'made');
      assert.equal(reads, 1, name);
      const shutter = Object.defineProperty({}, name, { enumerable: true, get: throwing });
      assert.match(await made(shutter), new RegExp(`^${ruleOf(name)}`), name);
      assert.match(String(reasonOf(shutter)), /a getter that throws/);
    }
  });

  test('What the caller changes later has no effect', async (t) => {
    const server = { cert: certificate('server.pem'), key: certificate('server-key.pem') };
    const peer = await Peer.listen(t, { tls: server });
    const bytes = Buffer.from(AUTHORITY);
    const options = { network: 'loopback' as HardenedAgentOptions['network'], ca: [bytes], spkiPins: [pinOf('server')] };
    const hardened = keepDispatcher(t, hardenedAgent(options));
    options.network = 'public';
    options.spkiPins[0] = pinOf('next');
    bytes.fill(0);
    options.ca.length = 0;
    assert.equal(await callOutcome(hardened, peer.origin()), 'ok');
  });

  test('A certificate and its key go together, and have to fit', async () => {
    const encrypted = certificate('client-key-encrypted.pem');
    const rows: readonly (readonly [options: object, outcome: string])[] = [
      [{ cert, key }, 'made'],
      [{ cert, key: encrypted, passphrase: 'not-a-secret' }, 'made'],
      [{ cert, key, passphrase: 'not-needed' }, 'made'],
      [{ cert }, 'options.dispatcher key'],
      [{ key }, 'options.dispatcher cert'],
      [{ passphrase: 'x' }, 'options.dispatcher key'],
      [{ cert, key: certificate('server-key.pem') }, 'options.dispatcher cert'],
      [{ cert, key: encrypted }, 'options.dispatcher cert'],
      [{ cert, key: encrypted, passphrase: 'wrong' }, 'options.dispatcher cert'],
      [{ cert: key, key: cert }, 'options.dispatcher cert'],
      [{ cert: 'no certificate', key }, 'options.dispatcher cert'],
    ];
    for (const [options, outcome] of rows) assert.equal(await made(options), outcome, inspect(Object.keys(options)));
  });

  test('No failure says a word of what it refused', async () => {
    for (const options of [{ passphrase: 'hunter2' }, { cert: 'hunter2', key: 'hunter2' }, { hunter2: 1 }, { network: 'any', proxy: 'socks5://hunter2@x' }]) {
      assert.notEqual(await made(options), 'made');
      try {
        hardenedAgent(options as HardenedAgentOptions);
      } catch (error) {
        assert.doesNotMatch(inspect(error, { showHidden: true }) + JSON.stringify(error) + String(error), /hunter2/);
      }
    }
  });

  test('What is made is an Agent that a client takes, and with a proxy a ProxyAgent', async (t) => {
    const direct: Agent = keepDispatcher(t, hardenedAgent());
    const proxied = keepDispatcher(t, hardenedAgent({ network: 'any', proxy: 'http://127.0.0.1:1' }));
    assert.ok(direct instanceof Agent);
    assert.ok(proxied instanceof ProxyAgent);
    for (const dispatcher of [direct, proxied]) {
      assert.ok(new StrictClient(dispatcher));
      assert.match(await callOutcome(dispatcher, 'http://127.0.0.1:1'), /^(?:network\.refused|http\.connect) not_sent$/);
    }
  });
});
