/** The SDK's `ClientFactory` with the strict card resolver: from a URL to a client. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, afterEach, before, describe, mock, test } from 'node:test';
import { AgentCard, generateAgentCardSignature, type SendMessageRequest } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { Agent } from 'undici';
import { Failure, type FailureRule } from '../../lib/index.js';
import { AgentCardCache } from '../../lib/discovery/index.js';
import { StrictCardResolver, StrictTransportFactory, type StrictCardResolverOptions } from '../../lib/sdk/index.js';
import { JSON_FIELD, RawServer, response, type Answer } from '../hostile/raw_server.js';
import { startAgent, userMessage, type RunningAgent } from './agent.js';
import { cardAt } from './card.js';

const LIMIT = { timeout: 20_000 };

let answer: Answer = () => undefined;
let server: RawServer;
let agent: RunningAgent;
const dispatcher = new Agent();

before(async () => {
  for (const name of ['log', 'warn', 'error'] as const) mock.method(console, name, () => undefined);
  server = await RawServer.listen((socket, request) => {
    answer(socket, request);
  });
  agent = await startAgent();
});
afterEach(() => {
  server.requests.length = 0;
  agent.arrived.length = 0;
});
after(async () => {
  mock.restoreAll();
  await dispatcher.destroy();
  await server.close();
  await agent.close();
});

const resolver = (more: Partial<StrictCardResolverOptions> = {}): StrictCardResolver => new StrictCardResolver({ dispatcher, ...more });
const serve = (text: string, ...fields: string[]): void => {
  answer = (socket) => socket.write(response(200, [JSON_FIELD, ...fields], text));
};
const cardText = (): string => JSON.stringify(AgentCard.toJSON(cardAt(`${server.origin}/rpc`)));
const paths = (): (string | undefined)[] => server.requests.map(({ line }) => line.split(' ')[1]);

async function failureFrom(promise: Promise<unknown>): Promise<Failure> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof Failure, String(error));
    return error;
  }
  assert.fail('nothing was thrown');
}

describe('The strict card resolver', LIMIT, () => {
  test('takes the path of a call before what it was told of paths', async () => {
    serve(cardText());
    await resolver({ allowLegacyCardPath: true }).resolve(server.origin, '/card.json');
    await resolver({ cardPath: '/other.json' }).resolve(server.origin, '/card.json');
    assert.deepEqual(paths(), ['/card.json', '/card.json']);
  });

  test('leads the SDK’s factory from a URL to a client that calls', async () => {
    const factory = new ClientFactory({ transports: [new StrictTransportFactory({ dispatcher })], cardResolver: resolver() });
    const client = await factory.createFromUrl(agent.origin);
    assert.equal(client.protocolVersion, '1.0');
    const params: SendMessageRequest = { tenant: '', message: userMessage('work'), configuration: undefined, metadata: undefined };
    assert.ok('artifacts' in (await client.sendMessage(params)));
    assert.deepEqual(
      agent.arrived.map(({ path }) => path),
      ['/.well-known/agent-card.json', '/rpc'],
    );
  });

  test('leads to 0.3 from a card of 0.3', async () => {
    serve(
      JSON.stringify({
        name: 'old',
        description: 'speaks 0.3',
        version: '1',
        protocolVersion: '0.3.0',
        url: agent.rpc,
        preferredTransport: 'JSONRPC',
        capabilities: { streaming: true },
        defaultInputModes: ['text/plain'],
        defaultOutputModes: ['text/plain'],
        skills: [],
      }),
    );
    const factory = new ClientFactory({ transports: [new StrictTransportFactory({ dispatcher })], cardResolver: resolver() });
    const client = await factory.createFromUrl(server.origin);
    assert.equal(client.protocolVersion, '0.3');
    for await (const { payload } of client.sendMessageStream({
      tenant: '',
      message: userMessage('speak'),
      configuration: undefined,
      metadata: undefined,
    })) {
      assert.equal(payload?.$case, 'message');
    }
    assert.equal(agent.arrived.at(-1)?.body?.method, 'message/stream');
  });

  test('asks at the well-known path, at cardPath, or where the call says, relative to the base URL', async () => {
    serve(cardText());
    await resolver().resolve(server.origin);
    await resolver().resolve(`${server.origin}/agents/one`);
    await resolver({ cardPath: '/cards/one.json' }).resolve(server.origin);
    await resolver({ cardPath: '/cards/one.json' }).resolve(server.origin, '/cards/two.json?x=1');
    await resolver().resolve(`${server.origin}/agents/`, 'card.json');
    await resolver().resolve(`${server.origin}/agents/card.json`, '');
    await resolver().resolve(server.origin, `${server.origin}/cards/three.json`);
    assert.deepEqual(paths(), [
      '/.well-known/agent-card.json',
      '/agents/one/.well-known/agent-card.json',
      '/cards/one.json',
      '/cards/two.json?x=1',
      '/agents/card.json',
      '/agents/card.json',
      '/cards/three.json',
    ]);
  });

  const places: readonly (readonly [baseUrl: string, path: string | undefined])[] = [
    ['/', undefined],
    ['ftp://agent.example/', undefined],
    ['https://user:fake@agent.example/', ''],
    ['https://agent.example/', 'https://other.example/card.json'],
    ['https://agent.example/', '//other.example/card.json'],
    ['https://agent.example/', 'http://agent.example/card.json'],
    ['https://agent.example/', 'https://user@agent.example/card.json'],
    ['https://agent.example/', '/card.json#part'],
    ['https://agent.example/', 'https://['],
    ['none', 'card.json'],
  ];
  for (const [baseUrl, path] of places) {
    test(`asks for nothing at ${path ?? 'the well-known path'} of ${baseUrl}`, async () => {
      const failure = await failureFrom(resolver().resolve(baseUrl, path));
      assert.deepEqual([failure.rule, failure.delivery], ['options.endpoint', 'not_sent']);
    });
  }

  test('sends its headers, and no credentials in clear text to another machine', async () => {
    serve(cardText());
    const headers = { authorization: 'Bearer fake', 'x-key': 'fake' };
    const given = resolver({ headers });
    headers.authorization = 'changed';
    await given.resolve(server.origin);
    assert.equal(server.requests[0]?.headers.get('authorization'), 'Bearer fake');
    assert.equal((await failureFrom(given.resolve('http://agent.example/'))).rule, 'options.cleartext_credentials');
    assert.equal((await failureFrom(given.resolve('http://agent.example/', '/card.json'))).rule, 'options.cleartext_credentials');
  });

  const hostile: readonly (readonly [what: string, answer: Answer, rule: FailureRule])[] = [
    ['redirects', (socket) => socket.write(response(301, ['location: /'])), 'http.redirect'],
    ['has none', (socket) => socket.write(response(404, [JSON_FIELD], '{}')), 'http.status'],
    ['sends HTML', (socket) => socket.write(response(200, ['content-type: text/html'], '<p>')), 'http.content_type'],
    ['sends too much', (socket) => socket.write(response(200, [JSON_FIELD], `{"name":"${'x'.repeat(3000)}"}`)), 'limit.response_bytes'],
    ['repeats a member', (socket) => socket.write(response(200, [JSON_FIELD], '{"name":"a","name":"b"}')), 'json.duplicate_member'],
    ['breaks the schema', (socket) => socket.write(response(200, [JSON_FIELD], '{"name":7}')), 'a2a.schema'],
  ];
  for (const [what, answering, rule] of hostile) {
    test(`refuses the card of an agent that ${what} (${rule})`, async () => {
      answer = answering;
      const factory = new ClientFactory({
        transports: [new StrictTransportFactory({ dispatcher })],
        cardResolver: resolver({ maxCardBytes: 2000 }),
      });
      assert.equal((await failureFrom(factory.createFromUrl(server.origin))).rule, rule);
    });
  }

  test('asks once for a card that its cache may keep, and each time without one', async () => {
    serve(cardText(), 'cache-control: max-age=60');
    const cache = new AgentCardCache();
    const [one, two] = [resolver({ cache }), resolver({ cache })];
    assert.deepEqual(await one.resolve(server.origin), await two.resolve(server.origin));
    assert.equal(server.requests.length, 1);
    await resolver().resolve(server.origin);
    assert.equal(server.requests.length, 2);
  });

  test('holds signatures against the caller’s keys', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const sign = generateAgentCardSignature(privateKey, { alg: 'ES256', kid: 'k-1', typ: 'JOSE' });
    const verify = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k-1' }], algorithms: ['ES256'], requireSignature: true } as const;
    const signed = AgentCard.toJSON(await sign(cardAt(`${server.origin}/rpc`))) as Record<string, unknown>;
    serve(JSON.stringify(signed));
    assert.equal((await resolver({ verify }).resolve(server.origin)).name, 'other');
    serve(JSON.stringify({ ...signed, name: 'changed' }));
    assert.equal((await failureFrom(resolver({ verify }).resolve(server.origin))).rule, 'card.signature');
    serve(cardText());
    assert.equal((await failureFrom(resolver({ verify }).resolve(server.origin))).rule, 'card.unsigned');
  });

  const wrong: readonly (readonly [options: unknown, rule: FailureRule, path: string | undefined])[] = [
    [undefined, 'options.unknown', undefined],
    [{ dispatcher, path: '/card.json' }, 'options.unknown', undefined],
    [{ dispatcher, signal: AbortSignal.timeout(1) }, 'options.unknown', undefined],
    [{}, 'options.dispatcher', 'dispatcher'],
    [{ dispatcher, cache: new Map() }, 'options.unknown', 'cache'],
    [{ dispatcher, maxCardBytes: 0 }, 'options.limit', 'maxCardBytes'],
    [{ dispatcher, cardPath: 7 }, 'options.endpoint', 'cardPath'],
    [{ dispatcher, verify: {} }, 'card.keys', 'verify.keys'],
    [{ dispatcher, headers: { accept: '*/*' } }, 'options.headers', 'headers'],
    [{ dispatcher, timeoutMs: -1 }, 'options.time', 'timeoutMs'],
  ];
  for (const [index, [options, rule, path]] of wrong.entries()) {
    test(`refuses options that are wrong when it is made: ${index + 1}, ${path ?? 'as a whole'} (${rule})`, () => {
      assert.throws(
        () => new StrictCardResolver(options as StrictCardResolverOptions),
        (error) => error instanceof Failure && error.rule === rule && error.path === path && error.delivery === 'not_sent',
      );
    });
  }
});
