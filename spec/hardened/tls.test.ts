import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { connect, type DetailedPeerCertificate, type TlsOptions } from 'node:tls';
import { once } from 'node:events';
import { describe, test, type TestContext } from 'node:test';
import { Agent } from 'undici';
import { hardenedAgent } from '../../lib/hardened/agent.js';
import type { HardenedAgentOptions } from '../../lib/hardened/options.js';
import { pinnedIdentity } from '../../lib/hardened/pins.js';
import { call, callOutcome, failureFrom } from '../hostile/calls.js';
import { keepDispatcher } from '../hostile/keep.js';
import { Peer, certificate, pinOf } from './servers.js';

type Options = Omit<HardenedAgentOptions, 'proxy'>;

const AUTHORITY = certificate('authority.pem');
const SERVER = { cert: certificate('server.pem'), key: certificate('server-key.pem') };
const NEXT = { cert: certificate('next.pem'), key: certificate('next-key.pem') };
const CLIENT = { cert: certificate('client.pem'), key: certificate('client-key.pem') };

function agent(t: TestContext, options: Options): Agent {
  return keepDispatcher(t, hardenedAgent({ network: 'loopback', ca: AUTHORITY, ...options }));
}

/** `ok`, or the code of what is behind a failure that is one of the connection. */
async function outcome(t: TestContext, options: Options, peer: Peer, host?: string): Promise<string> {
  const dispatcher = agent(t, options);
  if ((await callOutcome(dispatcher, peer.origin(host))) === 'ok') return 'ok';
  const failure = await failureFrom(call(dispatcher, peer.origin(host)));
  assert.deepEqual([failure.kind, failure.rule, failure.delivery], ['unavailable', 'http.connect', 'not_sent']);
  return (failure.unwrap() as NodeJS.ErrnoException).code ?? 'no code';
}

interface Row {
  readonly name: string;
  readonly server: TlsOptions;
  readonly client?: Options;
  readonly host?: string;
  /** `ok`, or a code. */
  readonly expected: string | RegExp;
}

const OLD = { ...SERVER, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;

const UNTRUSTED = /^(?:SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/;
const OTHER_VERSION = /SSL|TLSV1_ALERT|UNSUPPORTED_PROTOCOL/;

const WRONG_HOST = { ...SERVER, cert: certificate('wrong-host.pem') };
const IMPOSTOR = { ...SERVER, cert: certificate('impostor.pem') };

const ROWS: readonly Row[] = [
  { name: 'A good server is spoken to', server: SERVER, expected: 'ok' },
  { name: 'A good server is spoken to by its name', server: SERVER, host: 'localhost', expected: 'ok' },
  {
    name: 'Authorities may be several, as bytes',
    server: SERVER, client: { ca: [certificate('other-authority.pem'), Buffer.from(AUTHORITY)] }, expected: 'ok',
  },
  {
    name: 'Authorities may be several, in one text',
    server: SERVER, client: { ca: certificate('other-authority.pem') + AUTHORITY }, expected: 'ok',
  },
  { name: 'A server of an authority that nobody told us of is refused', server: SERVER, client: { ca: undefined }, expected: UNTRUSTED },
  {
    name: 'A server of another authority is refused',
    server: SERVER, client: { ca: certificate('other-authority.pem') }, expected: UNTRUSTED,
  },
  { name: 'A certificate for another host is refused', server: WRONG_HOST, expected: 'ERR_TLS_CERT_ALTNAME_INVALID' },
  {
    name: 'A certificate that has expired is refused',
    server: { ...SERVER, cert: certificate('expired.pem') }, expected: 'CERT_HAS_EXPIRED',
  },
  { name: 'TLS 1.0 is refused', server: { ...OLD, maxVersion: 'TLSv1' }, expected: OTHER_VERSION },
  { name: 'TLS 1.1 is refused', server: { ...OLD, maxVersion: 'TLSv1.1' }, expected: OTHER_VERSION },
  { name: 'TLS 1.2 is spoken', server: { ...SERVER, maxVersion: 'TLSv1.2' }, expected: 'ok' },
  {
    name: 'TLS 1.2 is refused where 1.3 is asked for',
    server: { ...SERVER, maxVersion: 'TLSv1.2' }, client: { minTlsVersion: '1.3' }, expected: OTHER_VERSION,
  },
  {
    name: 'TLS 1.3 is spoken where it is asked for',
    server: { ...SERVER, minVersion: 'TLSv1.3' }, client: { minTlsVersion: '1.3' }, expected: 'ok',
  },

  { name: 'A pin of the server is met', server: SERVER, client: { spkiPins: [pinOf('server')] }, expected: 'ok' },
  { name: 'A pin of the intermediate is met', server: SERVER, client: { spkiPins: [pinOf('intermediate')] }, expected: 'ok' },
  { name: 'A pin of the root is met', server: SERVER, client: { spkiPins: [pinOf('authority')] }, expected: 'ok' },
  { name: 'Another pin is refused', server: SERVER, client: { spkiPins: [pinOf('next')] }, expected: 'ERR_SPKI_PIN_MISMATCH' },
  { name: 'Pins for a rotation: the old key', server: SERVER, client: { spkiPins: [pinOf('server'), pinOf('next')] }, expected: 'ok' },
  { name: 'Pins for a rotation: the new key', server: NEXT, client: { spkiPins: [pinOf('server'), pinOf('next')] }, expected: 'ok' },
  {
    name: 'After a rotation the old pin is refused',
    server: NEXT, client: { spkiPins: [pinOf('server')] }, expected: 'ERR_SPKI_PIN_MISMATCH',
  },
  {
    name: 'A pin does not make up for another host',
    server: WRONG_HOST, client: { spkiPins: [pinOf('server')] }, expected: 'ERR_TLS_CERT_ALTNAME_INVALID',
  },
  {
    name: 'A pin does not make up for a wrong authority',
    server: SERVER, client: { ca: certificate('other-authority.pem'), spkiPins: [pinOf('server')] }, expected: UNTRUSTED,
  },
  {
    name: 'A pinned key in a certificate that signed nothing is refused',
    server: IMPOSTOR, client: { spkiPins: [pinOf('next')] }, expected: 'ERR_SPKI_PIN_MISMATCH',
  },
  { name: 'The one who sends it is let through by its own key', server: IMPOSTOR, client: { spkiPins: [pinOf('server')] }, expected: 'ok' },
];

describe('TLS', () => {
  for (const { name, server, client = {}, host, expected } of ROWS) {
    test(name, async (t) => {
      const peer = await Peer.listen(t, { tls: server });
      const code = await outcome(t, client, peer, host);
      if (typeof expected === 'string') assert.equal(code, expected);
      else assert.match(code, expected);
      assert.ok(peer.connections > 0);
      assert.equal(peer.requests, code === 'ok' ? 1 : 0);
    });
  }

  test('An IPv6 address is checked against the certificate as well', async (t) => {
    const listen = (server: TlsOptions): Promise<Peer | undefined> =>
      Peer.listen(t, { host: '::1', tls: server }).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRNOTAVAIL') throw error;
        return undefined;
      });
    const [good, wrong] = [await listen(SERVER), await listen(WRONG_HOST)];
    if (good === undefined || wrong === undefined) {
      t.skip('this machine has no IPv6');
      return;
    }
    assert.equal(await outcome(t, {}, good, '[::1]'), 'ok');
    assert.equal(await outcome(t, {}, wrong, '[::1]'), 'ERR_TLS_CERT_ALTNAME_INVALID');
  });

  test('The old servers of this table do speak with who lets them', async (t) => {
    for (const maxVersion of ['TLSv1', 'TLSv1.1'] as const) {
      const peer = await Peer.listen(t, { tls: { ...OLD, maxVersion } });
      const lax = keepDispatcher(t, new Agent({ connect: { ca: AUTHORITY, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } }));
      assert.equal(await callOutcome(lax, peer.origin()), 'ok');
    }
  });

  test('Node shows the certificate that signed nothing as a part of the chain', async (t) => {
    const peer = await Peer.listen(t, { tls: IMPOSTOR });
    const socket = connect({ port: peer.port, host: '127.0.0.1', ca: AUTHORITY });
    t.after(() => socket.destroy());
    await once(socket, 'secureConnect');
    const { issuerCertificate, issuer } = socket.getPeerCertificate(true);
    const shown: DetailedPeerCertificate = issuerCertificate;
    assert.deepEqual([shown.subject.CN, issuer.CN, shown.issuer.CN], ['Test authority', 'Test authority', 'Other test authority']);
  });

  test('A key above it that nobody can read is a mismatch: a throw would be nobody\'s to catch', () => {
    const [leaf = '', above = ''] = certificate('impostor.pem').match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [];
    const { raw } = new X509Certificate(above);
    const elliptic = Buffer.from('06072a8648ce3d0201', 'hex');
    const at = raw.indexOf(elliptic);
    assert.ok(at > 0);
    // An algorithm that there is not.
    raw[at + elliptic.length - 1] = 0x7f;
    assert.throws(() => new X509Certificate(raw).publicKey);
    // As Node hands it over, detailed.
    const shown = { ...new X509Certificate(leaf).toLegacyObject(), issuerCertificate: { raw } };
    assert.equal(pinnedIdentity([pinOf('server')])('localhost', shown), undefined);
    for (const broken of [shown, { ...shown, issuerCertificate: { raw: Buffer.from('no certificate') } }]) {
      assert.equal((pinnedIdentity([pinOf('next')])('localhost', broken) as NodeJS.ErrnoException).code, 'ERR_SPKI_PIN_MISMATCH');
    }
  });

  test('Every connection is checked in full: no session is taken up again', async (t) => {
    const reused: boolean[] = [];
    const peer = await Peer.listen(t, { tls: SERVER, secured: (socket) => reused.push(socket.isSessionReused()) });
    const [guarded, free] = (['loopback', 'any'] as const).map((network) => agent(t, { network, pipelining: 0, spkiPins: [pinOf('server')] }));
    const plain = keepDispatcher(t, new Agent({ pipelining: 0, allowH2: false, connect: { ca: AUTHORITY } }));
    for (const dispatcher of [guarded!, free!, plain]) {
      for (let i = 0; i < 3; i++) assert.equal(await callOutcome(dispatcher, peer.origin()), 'ok');
    }
    assert.deepEqual(reused.slice(0, 6), Array(6).fill(false));
    assert.ok(reused.slice(6).includes(true), 'undici takes sessions up where it may');
  });

  test('Where there is no TLS there is no key: pins refuse http:, and nothing is connected to', async (t) => {
    const peer = await Peer.listen(t);
    assert.equal(await callOutcome(agent(t, { spkiPins: [pinOf('server')] }), peer.origin()), 'http.connect not_sent');
    assert.equal(peer.connections, 0);
    assert.equal(await callOutcome(agent(t, {}), peer.origin()), 'ok');
  });
});

describe('A client certificate', () => {
  const server = { ...SERVER, ca: AUTHORITY, requestCert: true, rejectUnauthorized: true };

  for (const [name, client] of [
    ['in PEM', CLIENT],
    ['as bytes', { cert: Buffer.from(CLIENT.cert), key: Buffer.from(CLIENT.key) }],
    ['with an encrypted key', { cert: CLIENT.cert, key: certificate('client-key-encrypted.pem'), passphrase: 'not-a-secret' }],
  ] as const) {
    test(`${name} is shown to the server`, async (t) => {
      const names: unknown[] = [];
      const peer = await Peer.listen(t, { tls: server, secured: (socket) => names.push(socket.getPeerCertificate().subject.CN) });
      assert.equal(await outcome(t, client, peer), 'ok');
      assert.deepEqual(names, ['Test client']);
    });
  }

  test('Without one, a server that asks for one is not spoken to', async (t) => {
    const peer = await Peer.listen(t, { tls: server });
    // In TLS 1.3 the server says so only after the client has begun to speak.
    assert.match(await callOutcome(agent(t, {}), peer.origin()), /^http\.(?:connect not_sent|connection_lost unknown)$/);
    assert.equal(peer.requests, 0);
  });
});

describe('HTTP/2', () => {
  test('It is offered where it is asked for alone', async (t) => {
    const offered: unknown[] = [];
    const ALPNCallback = ({ protocols }: { protocols: readonly string[] }): string => {
      offered.push(protocols);
      return 'http/1.1';
    };
    const peer = await Peer.listen(t, { tls: { ...SERVER, ALPNCallback } });
    assert.equal(await outcome(t, {}, peer), 'ok');
    assert.equal(await outcome(t, { allowH2: true }, peer), 'ok');
    assert.deepEqual(offered, [['http/1.1'], ['http/1.1', 'h2']]);
  });
});
