import { AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import { exportJWK, generateKeyPair, type CryptoKey, type JWK } from 'jose';
import assert from 'node:assert/strict';
import { KeyObject, createSecretKey, generateKeyPairSync, sign } from 'node:crypto';
import { describe, test } from 'node:test';
import { Agent } from 'undici';
import { fetchAgentCard, verifyAgentCard, type CardKey, type CardVerification, type FetchedCard } from '../../lib/discovery/index.js';
import { failureOf } from '../../lib/failure.js';
import { failureFrom, lineOf as failureLineOf } from '../hostile/calls.js';
import { keep, keepDispatcher } from '../hostile/keep.js';
import { JSON_FIELD, RawServer, response } from '../hostile/raw_server.js';
import { read, type SignatureCase } from './corpus.js';

const { cases, keys: published } = read<SignatureCase>('signatures');
const KEYS = published as unknown as readonly JWK[];
const ALGORITHMS = ['ES256', 'Ed25519', 'EdDSA', 'PS256'];

function fetched(card: unknown): FetchedCard {
  const raw = new Uint8Array(Buffer.from(JSON.stringify(card)));
  // Of what was fetched, the bytes alone are looked at.
  return { card: AgentCard.fromJSON({}), raw, url: 'https://h/', generation: '1.0', signedBy: undefined, etag: undefined, lastModified: undefined, freshUntil: undefined };
}

function verify(card: unknown, verification: Partial<CardVerification> = {}): Promise<FetchedCard> {
  return verifyAgentCard(fetched(card), { keys: KEYS, algorithms: ALGORITHMS, requireSignature: true, ...verification });
}

function caseNamed(name: string): Readonly<Record<string, unknown>> {
  return cases.find((one) => one.name === name)!.card;
}

describe('The signatures of fixtures/cards/signatures.json', () => {
  for (const { name, card, algorithms, expect } of cases) {
    test(name, async () => {
      const answer = verify(card, algorithms && { algorithms });
      if (expect.ok === true) {
        assert.equal((await answer).signedBy, expect.signedBy);
      } else {
        const failure = await failureFrom(answer);
        assert.deepEqual([failure.rule, failure.kind, failure.delivery], [expect.rule, 'protocol', 'not_sent']);
      }
    });
  }
});

/** Every place in a JSON value, as a function that makes a copy with another value there. */
function* tamperings(value: unknown, path = ''): Generator<[path: string, tampered: unknown]> {
  if (Array.isArray(value)) {
    yield [`${path}[+]`, [...(value as unknown[]), 'added']];
    for (const [at, item] of value.entries()) {
      yield [`${path}[-${at}]`, value.toSpliced(at, 1)];
      for (const [inner, tampered] of tamperings(item, `${path}[${at}]`)) yield [inner, value.with(at, tampered)];
    }
  } else if (typeof value === 'object' && value !== null) {
    yield [`${path}.+`, { ...value, added: 'member' }];
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _, ...others } = value as Record<string, unknown>;
      yield [`${path}.-${name}`, others];
      for (const [inner, tampered] of tamperings(member, `${path}.${name}`)) yield [inner, { ...value, [name]: tampered }];
    }
  } else {
    yield [path, typeof value === 'string' ? `${value}!` : typeof value === 'boolean' ? !value : typeof value === 'number' ? (value === 0 ? 7 : -value) : 'set'];
  }
}

describe('A signed card that was tampered with', () => {
  test('in any one member is refused, or is the same card', async () => {
    const { signatures, ...card } = caseNamed('A card with text beyond ASCII, numbers and nested defaults');
    const genuine = AgentCard.toJSON((await verify({ ...card, signatures })).card);
    let refused = 0;
    const same: string[] = [];
    for (const [path, tampered] of tamperings(card)) {
      try {
        const { card: accepted } = await verify({ ...(tampered as object), signatures });
        assert.deepEqual(AgentCard.toJSON(accepted), genuine, path);
        same.push(path);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        const rule = failureOf(error)?.rule;
        assert.ok(rule === 'card.signature' || rule === 'a2a.schema', `${path} ${rule}`);
        refused++;
      }
    }
    assert.ok(refused > 60, String(refused));
    // Members at a default of theirs, which may be there or not.
    assert.deepEqual(same.sort(), [
      '.capabilities.extensions[0].-description',
      '.capabilities.extensions[0].-required',
      '.provider.-organization',
      '.securityRequirements[0].schemes.bearer.-list',
      '.securitySchemes.bearer.httpAuthSecurityScheme.-bearerFormat',
      '.securitySchemes.oauth.oauth2SecurityScheme.flows.clientCredentials.-scopes',
      '.skills[0].-examples',
      '.skills[0].-tags',
    ]);
  });

  test('in its protected header, or in its signature, is refused', async () => {
    const { signatures, ...card } = caseNamed('A good signature whose header is written by hand');
    const [{ protected: header, signature }] = signatures as [{ protected: string; signature: string }];
    for (let at = 0; at < header.length; at++) {
      const other = `${header.slice(0, at)}${header[at] === 'A' ? 'B' : 'A'}${header.slice(at + 1)}`;
      assert.equal((await failureFrom(verify({ ...card, signatures: [{ protected: other, signature }] }))).rule, 'card.signature', String(at));
    }
    for (let at = 0; at < signature.length - 1; at++) {
      const other = `${signature.slice(0, at)}${signature[at] === 'A' ? 'B' : 'A'}${signature.slice(at + 1)}`;
      assert.equal((await failureFrom(verify({ ...card, signatures: [{ protected: header, signature: other }] }))).rule, 'card.signature', String(at));
    }
  });

  test('by what its signer left out, is handed out without that', async () => {
    const signed = caseNamed('What the official JavaScript SDK signs, as ProtoJSON');
    // The SDK does not sign what is empty: these say nothing by which an SDK could tell them from what was signed.
    for (const added of [
      { securityRequirements: [{}] },
      { securityRequirements: [{ schemes: { bearer: { list: [] } } }] },
      { securitySchemes: { none: { mtlsSecurityScheme: {} } } },
      { skills: [{ id: '' }] },
      { provider: { url: '', organization: '' } },
      { defaultInputModes: [''] },
    ]) {
      const { card, signedBy } = await verify({ ...signed, ...added });
      assert.equal(signedBy, 'es');
      assert.deepEqual([card.securityRequirements, card.securitySchemes, card.skills, card.provider, card.defaultInputModes], [[], {}, [], undefined, []]);
    }
  });
});

describe('A signature by the official JavaScript SDK', () => {
  const card = {
    ...AgentCard.fromJSON({
      name: 'Ågent 代理',
      description: '',
      version: '1',
      supportedInterfaces: [{ url: 'https://agent.example/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 't' }],
      capabilities: { streaming: false, extensions: [{ uri: 'x:y', required: true, params: { n: 1.5, empty: '', none: null } }] },
      defaultInputModes: ['text/plain'],
      skills: [{ id: 's', name: 'S', description: '', tags: ['t'] }],
    }),
  };

  // One for all of its algorithms: making them takes long.
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pairFor = (alg: string): Promise<{ publicKey: CryptoKey | KeyObject; privateKey: CryptoKey | KeyObject }> =>
    /^[RP]S/.test(alg) ? Promise.resolve(rsa) : generateKeyPair(alg, { extractable: true });

  for (const alg of ['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'EdDSA', 'Ed25519']) {
    test(`with ${alg} holds, also as the SDK's server sends it`, async () => {
      const { publicKey, privateKey } = await pairFor(alg);
      const signed = await generateAgentCardSignature(privateKey, { alg, kid: 'k', typ: 'JOSE' })(card);
      const jwk = { ...(await exportJWK(publicKey)), kid: 'k' };
      for (const sent of [AgentCard.toJSON(signed), signed]) {
        const answer = await verify(sent, { keys: [jwk], algorithms: [alg] });
        assert.equal(answer.signedBy, 'k');
        assert.equal(answer.card.name, card.name);
      }
    });
  }

  test('says nothing of security schemes that the SDK was given in its own shape: a card with such is refused', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const scheme = { scheme: { $case: 'httpAuthSecurityScheme' as const, value: { description: '', scheme: 'Bearer', bearerFormat: '' } } };
    const signed = await generateAgentCardSignature(privateKey, { alg: 'ES256', kid: 'k', typ: 'JOSE' })({ ...card, securitySchemes: { bearer: scheme } });
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'k' }];
    assert.equal((await failureFrom(verify(AgentCard.toJSON(signed), { keys }))).rule, 'card.signature');
    assert.equal((await verify({ ...(AgentCard.toJSON(signed) as object), securitySchemes: undefined }, { keys })).signedBy, 'k');
  });
});

describe('The keys of a caller', () => {
  const signed = caseNamed('A good signature whose header is written by hand');
  const [es] = KEYS as [JWK];

  test('may be a function, which is asked for the kid, and told the algorithm but not where the agent says the keys are', async () => {
    const asked: unknown[] = [];
    const card = caseNamed('A header that names where its keys are is good, and nothing is fetched from there');
    const { signedBy } = await verify(card, {
      keys: (kid, header) => {
        asked.push(kid, header);
        return Promise.resolve(es);
      },
    });
    assert.equal(signedBy, 'es');
    assert.deepEqual(asked, ['es', { alg: 'ES256', kid: 'es' }]);
  });

  test('may come from a function as a JWK, a KeyObject or a CryptoKey, at once or later', async () => {
    const key = KeyObject.from(await crypto.subtle.importKey('jwk', es, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']));
    const cryptoKey = key.toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']);
    for (const found of [es, key, cryptoKey] as CardKey[]) {
      assert.equal((await verify(signed, { keys: () => found })).signedBy, 'es');
      assert.equal((await verify(signed, { keys: () => Promise.resolve(found) })).signedBy, 'es');
    }
  });

  test('are not asked for where a header names none, or is not written as headers are', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { signatures: _, ...card } = signed;
    let asked = 0;
    const keys = (): JWK => {
      asked++;
      return es;
    };
    const headers = [
      { alg: 'ES256', kid: '', typ: 'JOSE' },
      { alg: 'ES256', typ: 'JOSE' },
    ].map((header) => Buffer.from(JSON.stringify(header)).toString('base64url'));
    const whole = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'es', typ: 'JOSE' })).toString('base64url');
    headers.push(`${whole}=`, `${whole.slice(0, 4)} ${whole.slice(4)}`, `${whole}!`);
    for (const header of headers) {
      const signature = sign('sha256', Buffer.from(header), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
      assert.equal((await failureFrom(verify({ ...card, signatures: [{ protected: header, signature }] }, { keys }))).rule, 'card.signature');
    }
    assert.equal(asked, 0);
  });

  test('are not there where a function gives none', async () => {
    assert.equal((await failureFrom(verify(signed, { keys: () => undefined }))).rule, 'card.signature');
  });

  test('are card.keys where a function throws, or gives what is no public key', async () => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const wrong: unknown[] = [null, 1, 'key', new Uint8Array(32), {}, { kty: 'oct', k: 'AAAA' }, { ...es, x: '!' }, { ...es, d: 'AAAA' }, { ...es, use: 'enc' }, { ...es, key_ops: ['sign'] }, pair.privateKey, createSecretKey(Buffer.alloc(32))];
    for (const key of wrong) {
      const failure = await failureFrom(verify(signed, { keys: () => key as JWK }));
      assert.deepEqual([failure.rule, failure.kind], ['card.keys', 'invalid_argument']);
    }
    const thrown = new Error('the vault is closed');
    for (const keys of [() => Promise.reject(thrown), () => { throw thrown; }]) {
      const failure = await failureFrom(verify(signed, { keys }));
      assert.equal(failure.rule, 'card.keys');
      assert.equal(failure.unwrap(), thrown);
    }
  });

  test('are refused in a list where one is no public key with a kid', async () => {
    const { kid: _, ...unnamed } = es;
    for (const keys of [[], [unnamed], [{ ...es, kid: '' }], [es, null], [{ ...es, kty: 'oct', k: 'AAAA' }], [{ ...es, d: 'AAAA' }], [{ ...es, use: 'enc' }], [{ ...es, alg: 1 }], ['key'], 'key', null, { keys: [es] }]) {
      const failure = await failureFrom(verify(signed, { keys: keys as never }));
      assert.equal(failure.rule, 'card.keys', JSON.stringify(keys));
    }
  });

  test('of which several have one kid are all tried', async () => {
    const other = { ...KEYS[1]!, kid: 'es' };
    assert.equal((await verify(signed, { keys: [other, es] })).signedBy, 'es');
  });

  test('that are for another algorithm are not used', async () => {
    const rsa = KEYS[2]!;
    const card = caseNamed('A signature by PS256');
    assert.equal((await verify(card, { keys: [{ ...rsa, alg: 'PS256' }] })).signedBy, 'rsa');
    assert.equal((await failureFrom(verify(card, { keys: [{ ...rsa, alg: 'RS256' }] }))).rule, 'card.signature');
  });

  test('go with algorithms of public keys alone', async () => {
    for (const algorithms of [[], ['none'], ['HS256'], ['ES256', 'HS512'], ['es256'], ['dir'], 'ES256', undefined, [1]]) {
      assert.equal((await failureFrom(verify(signed, { algorithms: algorithms as never }))).rule, 'card.keys', JSON.stringify(algorithms));
    }
    for (const [verification, rule] of [[{ requireSignature: false }, 'card.keys'], [{ requireSignatures: true }, 'options.unknown']] as const) {
      assert.equal((await failureFrom(verify(signed, verification as never))).rule, rule);
    }
  });
});

describe('A fetch that verifies', () => {
  const signed = caseNamed('A header that names where its keys are is good, and nothing is fetched from there');
  const unsigned = caseNamed('A card without signatures');
  const foreign = caseNamed('A key that is not known');

  async function answered(t: Parameters<typeof keep>[0], card: unknown, verification: Partial<CardVerification>): Promise<string> {
    const server = keep(t, await RawServer.listen((socket) => socket.write(response(200, [JSON_FIELD], JSON.stringify(card)))));
    let dispatched = 0;
    const dispatcher = keepDispatcher(t, new Agent()).compose((dispatch) => (options, handler) => {
      dispatched++;
      return dispatch(options, handler);
    });
    try {
      const { signedBy } = await fetchAgentCard(dispatcher, server.origin, { verify: { keys: KEYS, algorithms: ALGORITHMS, ...verification } });
      return `${signedBy ?? 'nobody'} ${dispatched}`;
    } catch (error) {
      return `${failureLineOf(error)} ${dispatched}`;
    }
  }

  test('takes an unsigned card, unless a signature is required', async (t) => {
    assert.equal(await answered(t, unsigned, {}), 'nobody 1');
    assert.equal(await answered(t, unsigned, { requireSignature: true }), 'card.unsigned answered 1');
  });

  test('refuses a card none of whose signatures holds, whether one is required or not', async (t) => {
    assert.equal(await answered(t, foreign, {}), 'card.signature answered 1');
    assert.equal(await answered(t, foreign, { requireSignature: true }), 'card.signature answered 1');
  });

  test('never fetches keys: one request is all there is, wherever the card says they are', async (t) => {
    assert.equal(await answered(t, signed, { requireSignature: true }), 'es 1');
  });

  test('is under the clock of its call while the keys are looked for', async (t) => {
    const server = keep(t, await RawServer.listen((socket) => socket.write(response(200, [JSON_FIELD], JSON.stringify(signed)))));
    const dispatcher = keepDispatcher(t, new Agent());
    const keys = (): Promise<undefined> => new Promise(() => undefined);
    const failure = await failureFrom(fetchAgentCard(dispatcher, server.origin, { timeoutMs: 100, verify: { keys, algorithms: ALGORITHMS } }));
    assert.deepEqual([failure.rule, failure.delivery], ['deadline.total', 'answered']);
  });
});
