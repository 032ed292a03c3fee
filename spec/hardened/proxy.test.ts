import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';
import { hardenedAgent } from '../../lib/hardened/agent.js';
import type { HardenedAgentOptions } from '../../lib/hardened/options.js';
import { Failure } from '../../lib/index.js';
import { call, callOutcome, failureFrom, streamOutcome, until } from '../hostile/calls.js';
import { keepDispatcher } from '../hostile/keep.js';
import { Peer, answerWell, certificate, pinOf } from './servers.js';
import { Tunnel } from './tunnel.js';

const AUTHORITY = certificate('authority.pem');
const SERVER = { cert: certificate('server.pem'), key: certificate('server-key.pem') };

function agent(t: TestContext, tunnel: Tunnel, options: HardenedAgentOptions = {}): Dispatcher {
  return keepDispatcher(t, hardenedAgent({ network: 'any', proxy: tunnel.url(), ca: AUTHORITY, ...options }));
}

async function codeOf(dispatcher: Dispatcher, endpoint: string): Promise<unknown> {
  const failure = await failureFrom(call(dispatcher, endpoint));
  assert.deepEqual([failure.kind, failure.rule, failure.delivery], ['unavailable', 'http.connect', 'not_sent']);
  return (failure.unwrap() as NodeJS.ErrnoException).code;
}

describe('A hardened agent with a proxy', () => {
  for (const network of ['public', 'loopback', undefined, () => true] as const) {
    test(`A proxy would hide which address is connected to: network ${String(network)} is refused with one`, () => {
      assert.throws(
        () => hardenedAgent({ proxy: 'http://127.0.0.1:1', ...(network !== undefined && { network }) }),
        (error) => error instanceof Failure && error.rule === 'options.dispatcher' && error.path === 'proxy' && error.delivery === 'not_sent',
      );
    });
  }

  test('http: and https: endpoints are tunnelled alike', async (t) => {
    const [plain, secure, tunnel] = [await Peer.listen(t), await Peer.listen(t, { tls: SERVER }), await Tunnel.listen(t)];
    const hardened = agent(t, tunnel);
    assert.equal(await callOutcome(hardened, plain.origin()), 'ok');
    assert.equal(await callOutcome(hardened, secure.origin()), 'ok');
    assert.deepEqual(tunnel.asked, [`CONNECT 127.0.0.1:${plain.port}`, `CONNECT 127.0.0.1:${secure.port}`]);
  });

  test('The proxy is a URL, with credentials or without', async (t) => {
    const [peer, tunnel] = [await Peer.listen(t), await Tunnel.listen(t)];
    const hardened = agent(t, tunnel, { proxy: new URL(tunnel.url('user:pass%20word@')) });
    assert.equal(await callOutcome(hardened, peer.origin()), 'ok');
    assert.deepEqual(tunnel.asked, [`CONNECT 127.0.0.1:${peer.port} Basic ${Buffer.from('user:pass word').toString('base64')}`]);
  });

  test('Credentials that are no URI encoding are refused as all options are', () => {
    assert.throws(() => hardenedAgent({ network: 'any', proxy: 'http://%zz@127.0.0.1:1' }), (error) => error instanceof Failure && error.path === 'proxy');
  });

  test('What TLS has to be is so behind the tunnel too, and the agent sees no request otherwise', async (t) => {
    const tunnel = await Tunnel.listen(t);
    for (const [server, options, code] of [
      [{ ...SERVER, cert: certificate('wrong-host.pem') }, {}, 'ERR_TLS_CERT_ALTNAME_INVALID'],
      [{ ...SERVER, cert: certificate('expired.pem') }, {}, 'CERT_HAS_EXPIRED'],
      [SERVER, { spkiPins: [pinOf('next')] }, 'ERR_SPKI_PIN_MISMATCH'],
    ] as const) {
      const peer = await Peer.listen(t, { tls: server });
      assert.equal(await codeOf(agent(t, tunnel, options), peer.origin()), code);
      assert.deepEqual([peer.connections, peer.requests], [1, 0]);
    }
    const peer = await Peer.listen(t, { tls: { ...SERVER, maxVersion: 'TLSv1.2' } });
    assert.match(String(await codeOf(agent(t, tunnel, { minTlsVersion: '1.3' }), peer.origin())), /SSL/);
    assert.equal(await callOutcome(agent(t, tunnel, { spkiPins: [pinOf('server')] }), peer.origin()), 'ok');
  });

  test('Pins refuse http: here as well', async (t) => {
    const [peer, tunnel] = [await Peer.listen(t), await Tunnel.listen(t)];
    assert.equal(await callOutcome(agent(t, tunnel, { spkiPins: [pinOf('server')] }), peer.origin()), 'http.connect not_sent');
    assert.deepEqual([peer.connections, tunnel.asked], [0, []]);
  });

  test('A proxy over TLS is checked, is shown no client certificate, and needs no pinned key', async (t) => {
    const tls = { ...SERVER, requestCert: true, rejectUnauthorized: false };
    const tunnel = await Tunnel.listen(t, { tls });
    const peer = await Peer.listen(t, { tls: { cert: certificate('next.pem'), key: certificate('next-key.pem') } });
    const byName = (proxy: Tunnel): string => proxy.url().replace('127.0.0.1', 'localhost');
    const options = { cert: certificate('client.pem'), key: certificate('client-key.pem'), spkiPins: [pinOf('next')], proxy: byName(tunnel) };
    assert.equal(await callOutcome(agent(t, tunnel, options), peer.origin()), 'ok');
    assert.deepEqual(tunnel.clients, [undefined]);
    assert.match(String(await codeOf(agent(t, tunnel, { ca: certificate('other-authority.pem'), proxy: byName(tunnel) }), peer.origin())), /^UNABLE_TO_/);
    const impostor = await Tunnel.listen(t, { tls: { ...SERVER, cert: certificate('wrong-host.pem') } });
    assert.notEqual(await codeOf(agent(t, impostor, { proxy: byName(impostor) }), peer.origin()), undefined);
    assert.deepEqual(impostor.asked, []);
  });

  test('The client certificate is shown to the agent behind it', async (t) => {
    const names: unknown[] = [];
    const tunnel = await Tunnel.listen(t);
    const secured = (socket: TLSSocket): unknown => names.push(socket.getPeerCertificate().subject.CN);
    const peer = await Peer.listen(t, { tls: { ...SERVER, ca: AUTHORITY, requestCert: true }, secured });
    assert.equal(await callOutcome(agent(t, tunnel, { cert: certificate('client.pem'), key: certificate('client-key.pem') }), peer.origin()), 'ok');
    assert.deepEqual(names, ['Test client']);
  });

  test('A proxy that refuses, or never opens the tunnel, is one that does not connect', async (t) => {
    const peer = await Peer.listen(t);
    const refusing = await Tunnel.listen(t, { refusal: 'HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n' });
    assert.equal(await callOutcome(agent(t, refusing), peer.origin()), 'http.connect not_sent');
    assert.equal(await streamOutcome(agent(t, refusing), peer.origin()), '0 http.connect not_sent');
    const silent = await Tunnel.listen(t, { refusal: '' });
    assert.equal(await callOutcome(agent(t, silent, { connectTimeoutMs: 100 }), peer.origin()), 'http.connect not_sent');
    assert.deepEqual([refusing.asked.length, silent.asked.length, peer.connections], [2, 1, 0]);
  });

  test('The bounds of connections hold for tunnels', async (t) => {
    const held: (() => void)[] = [];
    const [tunnel, other] = [await Tunnel.listen(t), await Peer.listen(t)];
    const peer = await Peer.listen(t, { answer: (response, id) => held.push(() => { answerWell(response, id); }) });
    const hardened = agent(t, tunnel, { maxConnectionsPerOrigin: 2, maxConnections: 2 });
    const outcomes = Promise.all(Array.from({ length: 4 }, () => callOutcome(hardened, peer.origin())));
    await until(() => held.length === 2, 'two requests');
    assert.equal(await codeOf(hardened, other.origin()), 'ERR_TOO_MANY_CONNECTIONS');
    for (const answer of held.splice(0)) answer();
    await until(() => held.length === 2, 'two more requests');
    for (const answer of held.splice(0)) answer();
    assert.deepEqual(new Set(await outcomes), new Set(['ok']));
    assert.deepEqual([peer.most, other.connections], [2, 0]);
  });

  test('Its name is resolved by the lookup of the options', async (t) => {
    const [peer, tunnel] = [await Peer.listen(t), await Tunnel.listen(t)];
    const asked: string[] = [];
    const hardened = agent(t, tunnel, {
      proxy: tunnel.url().replace('127.0.0.1', 'proxy.test'),
      lookup: (hostname, _options, callback) => {
        asked.push(hostname);
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    });
    assert.equal(await callOutcome(hardened, peer.origin()), 'ok');
    assert.deepEqual(asked, ['proxy.test']);
  });
});
