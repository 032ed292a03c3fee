/** The transport by itself: which dialect it is for, what it refuses, how its streams end, and hostile agents. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AgentInterface, SendMessageRequest } from '@a2a-js/sdk';
import { ClientFactory, type RequestOptions, type Transport } from '@a2a-js/sdk/client';
import { A2AError } from '@a2a-js/sdk/errors';
import { Agent, Pool, type Dispatcher } from 'undici';
import { Failure, type FailureRule } from '../../lib/index.js';
import { StrictTransportFactory, type StrictTransportOptions } from '../../lib/sdk/index.js';
import {
  COMPLETED,
  JSON_FIELD,
  RawServer,
  SSE_FIELD,
  WORKING,
  event,
  good,
  response,
  resultText,
  type Answer,
} from '../hostile/raw_server.js';
import { userMessage } from './agent.js';
import { cardAt, cardOf } from './card.js';

const LIMIT = { timeout: 20_000 };
const GET = { tenant: '', id: 'task-1', historyLength: undefined };
const SUBSCRIBE = { tenant: '', id: 'task-1' };
const TASK = { id: 'task-1', contextId: 'ctx-1', status: { state: 'TASK_STATE_WORKING' } };

let answer: Answer = () => undefined;
let server: RawServer;
const dispatcher = new Agent();

before(async () => {
  server = await RawServer.listen((socket, request) => {
    answer(socket, request);
  });
});
after(async () => {
  await dispatcher.destroy();
  await server.close();
});

const send = (): SendMessageRequest => ({ tenant: '', message: userMessage('hi'), configuration: undefined, metadata: undefined });
const transport = (more: Partial<StrictTransportOptions> = {}, at: Partial<AgentInterface> = {}): Promise<Transport> =>
  new StrictTransportFactory({ dispatcher, ...more }).create(`${server.origin}/`, cardAt(`${server.origin}/`, at));

async function failureFrom(promise: Promise<unknown>): Promise<Failure> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof Failure, String(error));
    return error;
  }
  assert.fail('nothing was thrown');
}

function refusal(make: () => unknown): Failure {
  try {
    make();
  } catch (error) {
    assert.ok(error instanceof Failure, String(error));
    return error;
  }
  assert.fail('nothing was thrown');
}

const at = (url: string, protocolVersion: string, protocolBinding = 'JSONRPC'): AgentInterface => ({
  url,
  protocolVersion,
  protocolBinding,
  tenant: '',
});

describe('The dialect of a transport', LIMIT, () => {
  const URL_1 = 'https://agent.example/one';
  const factory = new StrictTransportFactory({ dispatcher });
  const cases: readonly (readonly [what: string, interfaces: AgentInterface[], version: string | undefined])[] = [
    ['1.0 by its name', [at(URL_1, '1.0')], '1.0'],
    ['0.3 by its name', [at(URL_1, '0.3')], '0.3'],
    ['1.0 where one URL has both, whatever comes first', [at(URL_1, '0.3'), at(URL_1, '1.0')], '1.0'],
    ['0.3 where 1.0 is elsewhere', [at(URL_1, '0.3'), at('https://agent.example/two', '1.0')], '0.3'],
    ['0.3 with a patch number', [at(URL_1, '0.3.0')], '0.3'],
    ['1.0 in another case of the binding', [at(URL_1, '1.0', 'JsonRpc')], '1.0'],
    ['none for another binding', [at(URL_1, '1.0', 'GRPC'), at(URL_1, '1.0', 'HTTP+JSON')], undefined],
    ['none for a version that is not spoken', [at(URL_1, '2.0')], undefined],
    ['none for a version that is none', [at(URL_1, ''), at(URL_1, '1'), at(URL_1, '1.0-beta')], undefined],
    ['none for a URL that the card does not list', [at('https://agent.example/two', '1.0')], undefined],
    ['none for no interface', [], undefined],
  ];
  for (const [what, interfaces, version] of cases) {
    test(`is ${what}`, async () => {
      const made = factory.create(URL_1, cardOf(interfaces));
      if (version !== undefined) {
        assert.equal((await made).protocolVersion, version);
        return;
      }
      const failure = await failureFrom(made);
      assert.deepEqual([failure.rule, failure.delivery], ['card.interface', 'not_sent']);
    });
  }

  test('is none for a URL that is no exact one', async () => {
    for (const url of ['ftp://agent.example/', 'http://user@agent.example/', 'https://agent.example/#part', 'https://agent.example/a/../b', '/']) {
      assert.equal((await failureFrom(factory.create(url, cardAt(url)))).rule, 'card.interface', url);
    }
  });

  test('is none for a card that is none', async () => {
    for (const card of [undefined, null, {}, { supportedInterfaces: 'all' }, { supportedInterfaces: [null, 1, {}] }]) {
      assert.equal((await failureFrom(factory.create(URL_1, card as never))).rule, 'card.interface');
    }
  });

  test('is what the SDK’s factory asks for', async () => {
    const factoryOf = new ClientFactory({ transports: [factory] });
    const client = await factoryOf.createFromAgentCard(cardOf([at(URL_1, '0.3'), at('https://agent.example/two', '1.0')]));
    assert.equal(client.protocolVersion, '1.0');
  });
});

describe('A factory refuses', LIMIT, () => {
  const cases: readonly (readonly [options: unknown, rule: FailureRule, path: string | undefined])[] = [
    [undefined, 'options.unknown', undefined],
    [null, 'options.unknown', undefined],
    [[], 'options.unknown', undefined],
    [{ dispatcher, maxResponseBytes: 1 }, 'options.unknown', undefined],
    [{ dispatcher, signal: AbortSignal.timeout(1) }, 'options.unknown', undefined],
    [{ dispatcher, endpoint: 'https://agent.example/' }, 'options.unknown', undefined],
    [{}, 'options.dispatcher', 'dispatcher'],
    [{ dispatcher: {} }, 'options.dispatcher', 'dispatcher'],
    [{ dispatcher, limits: { maxResponseBytes: 0 } }, 'options.limit', 'limits.maxResponseBytes'],
    [{ dispatcher, limits: { maxEventBytes: NaN } }, 'options.limit', 'limits.maxEventBytes'],
    [{ dispatcher, limits: { maxEvent: 1 } }, 'options.limit', 'limits'],
    [{ dispatcher, limits: 7 }, 'options.limit', 'limits'],
    [{ dispatcher, eventIds: 'some' }, 'options.dialect', 'eventIds'],
    [{ dispatcher, headers: { accept: '*/*' } }, 'options.headers', 'headers'],
    [{ dispatcher, timeoutMs: 0 }, 'options.time', 'timeoutMs'],
    [{ dispatcher, allowCleartextCredentials: false }, 'options.cleartext_credentials', 'allowCleartextCredentials'],
    [new Proxy({ dispatcher }, { ownKeys: () => assert.fail('trap') }), 'options.unknown', undefined],
  ];
  for (const [index, [options, rule, path]] of cases.entries()) {
    test(`options that are wrong: ${index + 1}, ${path ?? 'as a whole'} (${rule})`, () => {
      const failure = refusal(() => new StrictTransportFactory(options as never));
      assert.deepEqual([failure.rule, failure.path, failure.delivery], [rule, path, 'not_sent']);
    });
  }

  test('a dispatcher that is bound to an origin', async () => {
    const pool: Dispatcher = new Pool('http://127.0.0.1:9');
    assert.equal(refusal(() => new StrictTransportFactory({ dispatcher: pool })).rule, 'options.dispatcher');
    await pool.close();
  });
});

describe('A call refuses', LIMIT, () => {
  const cases: readonly (readonly [options: unknown, rule: FailureRule])[] = [
    [7, 'options.unknown'],
    [{ singal: undefined }, 'options.unknown'],
    [{ signal: {} }, 'options.signal'],
    [{ serviceParameters: 'all' }, 'options.headers'],
    [{ serviceParameters: new Map() }, 'options.headers'],
    [{ serviceParameters: { 'A2A-Version': '0.3' } }, 'options.dialect'],
    [{ serviceParameters: { 'a2a-version': '1.0.0' } }, 'options.dialect'],
    [{ serviceParameters: { 'A2A-Version': '1.0', 'a2a-version': '1.0' } }, 'options.headers'],
    [{ serviceParameters: { 'A2A-Version': 1 } }, 'options.headers'],
    [{ serviceParameters: { 'A2A-Extensions': 'urn:a', 'X-A2A-Extensions': 'urn:a' } }, 'options.headers'],
    [{ serviceParameters: { 'A2A-Extensions': 'urn:a,,urn:b' } }, 'options.headers'],
    [{ serviceParameters: { 'A2A-Extensions': 'no uri' } }, 'options.headers'],
    [{ serviceParameters: { 'X-Trace': 'a', 'x-trace': 'b' } }, 'options.headers'],
    [{ serviceParameters: { 'X-Trace': 'a\r\nx-other: b' } }, 'options.headers'],
    [{ serviceParameters: { 'X-Trace': undefined } }, 'options.headers'],
    [{ serviceParameters: { Host: 'agent.example' } }, 'options.headers'],
  ];
  for (const [index, [options, rule]] of cases.entries()) {
    test(`options that are wrong: ${index + 1} (${rule}); a stream at its first next()`, async () => {
      const strict = await transport();
      const seen = server.requests.length;
      const given = options as RequestOptions;
      const failure = await failureFrom(strict.getTask(GET, given));
      assert.deepEqual([failure.rule, failure.delivery], [rule, 'not_sent']);
      const stream = strict.sendMessageStream(send(), given);
      assert.equal((await failureFrom(stream.next())).rule, rule);
      assert.deepEqual(await stream.next(), { done: true, value: undefined });
      const unused = strict.resubscribeTask(SUBSCRIBE, given);
      assert.deepEqual(await unused.return(undefined), { done: true, value: undefined });
      assert.deepEqual(await unused.next(), { done: true, value: undefined });
      assert.equal(server.requests.length, seen);
    });
  }

  test('parameters that are wrong, and credentials in clear text to another machine', async () => {
    const seen = server.requests.length;
    const strict = await transport();
    assert.equal((await failureFrom(strict.getTask({ ...GET, id: '' }))).rule, 'request.params');
    assert.equal((await failureFrom(strict.sendMessageStream({ ...send(), message: undefined }).next())).rule, 'request.params');
    for (const params of [undefined, 7, { tenant: 7 }, { tenant: '', more: 1 }, { get tenant() { return assert.fail('trap'); } }]) {
      assert.equal((await failureFrom(strict.getExtendedAgentCard(params as never))).rule, 'request.params');
      assert.equal((await failureFrom(strict.getTask(params as never))).rule, 'request.params');
    }
    const small = await transport({ limits: { maxRequestBytes: 10 } });
    assert.equal((await failureFrom(small.getTask(GET))).rule, 'request.bytes');
    const far = 'http://agent.example/';
    const remote = await new StrictTransportFactory({ dispatcher }).create(far, cardAt(far));
    const credentials = { serviceParameters: { Authorization: 'Bearer fake' } };
    assert.equal((await failureFrom(remote.getTask(GET, credentials))).rule, 'options.cleartext_credentials');
    assert.equal((await failureFrom(remote.resubscribeTask(SUBSCRIBE, credentials).next())).rule, 'options.cleartext_credentials');
    const keyed = new StrictTransportFactory({ dispatcher, headers: { 'X-Api-Key': 'fake' }, secretHeaders: ['x-api-key'] });
    assert.equal((await failureFrom((await keyed.create(far, cardAt(far))).getTask(GET))).rule, 'options.cleartext_credentials');
    assert.equal(server.requests.length, seen);
  });

  test('nothing that the SDK hands on: parameters of the right version, a context, a signal', async () => {
    answer = (socket, { id }) => socket.write(good(id, TASK));
    const strict = await transport();
    const options = {
      serviceParameters: { 'a2a-VERSION': '1.0', 'A2A-Extensions': 'urn:a,\t urn:b', 'X-Trace': '' },
      context: { [Symbol('mine')]: 1 },
      signal: new AbortController().signal,
    };
    assert.equal((await strict.getTask(GET, options)).id, 'task-1');
    const { headers } = server.requests.at(-1) ?? assert.fail();
    assert.equal(headers.get('a2a-extensions'), 'urn:a, urn:b');
    assert.equal(headers.get('x-trace'), '');
    assert.equal((await strict.getTask(GET, { serviceParameters: { 'A2A-Extensions': '' } })).id, 'task-1');
    assert.equal(server.requests.at(-1)?.headers.has('a2a-extensions'), false);
  });

  test('nothing that was changed after the factory was made', async () => {
    answer = (socket, { id }) => socket.write(good(id, TASK));
    const options = { dispatcher, headers: { 'x-kept': 'before' }, limits: { maxResponseBytes: 1000 } };
    const factory = new StrictTransportFactory(options);
    options.headers['x-kept'] = 'after';
    options.limits.maxResponseBytes = 1;
    const strict = await factory.create(`${server.origin}/`, cardAt(`${server.origin}/`));
    await strict.getTask(GET);
    assert.equal(server.requests.at(-1)?.headers.get('x-kept'), 'before');
  });
});

describe('A hostile agent', LIMIT, () => {
  const json = (text: (id: string) => string): Answer => (socket, { id }) => socket.write(response(200, [JSON_FIELD], text(id)));
  const cases: readonly (readonly [what: string, answer: Answer, rule: FailureRule])[] = [
    ['redirects', (socket) => socket.write(response(307, ['location: /else'])), 'http.redirect'],
    ['answers in HTML', (socket) => socket.write(response(200, ['content-type: text/html'], '<p>')), 'http.content_type'],
    ['asks for payment', (socket) => socket.write(response(402, [JSON_FIELD], '{}')), 'http.status'],
    ['compresses', (socket) => socket.write(response(200, [JSON_FIELD, 'content-encoding: gzip'], 'x')), 'http.content_encoding'],
    ['closes', (socket) => socket.destroy(), 'http.connection_lost'],
    ['is no JSON', json(() => '{'), 'json.syntax'],
    ['says a member twice', json((id) => `{"jsonrpc":"2.0","id":"${id}","result":{"id":"a","id":"b"}}`), 'json.duplicate_member'],
    ['answers another request', json(() => resultText('other', TASK)), 'jsonrpc.id'],
    ['has another version', json((id) => `{"jsonrpc":"1.0","id":"${id}","result":{}}`), 'jsonrpc.version'],
    ['breaks the schema', json((id) => resultText(id, { ...TASK, status: { state: 'DONE' } })), 'a2a.schema'],
    ['answers about another task', json((id) => resultText(id, { ...TASK, id: 'task-2' })), 'a2a.identity'],
    ['answers too much', json((id) => resultText(id, { ...TASK, more: 'x'.repeat(5000) })), 'limit.response_bytes'],
  ];
  for (const [what, answering, rule] of cases) {
    test(`that ${what} is a failure, and no error of the SDK’s`, async () => {
      answer = answering;
      const factory = new ClientFactory({ transports: [new StrictTransportFactory({ dispatcher, limits: { maxResponseBytes: 4000 } })] });
      const client = await factory.createFromAgentCard(cardAt(`${server.origin}/`));
      const failure = await failureFrom(client.getTask(GET));
      assert.equal(failure.rule, rule);
      assert.equal(failure instanceof A2AError, false);
    });
  }

  const stream = (events: (id: string) => string): Answer => (socket, { id }) => socket.write(response(200, [SSE_FIELD], events(id)));
  const streams: readonly (readonly [what: string, answer: Answer, events: number, rule: FailureRule])[] = [
    ['closes early', stream((id) => event(id, 1, WORKING)), 1, 'stream.incomplete'],
    ['repeats an id', stream((id) => event(id, 1, WORKING) + event(id, 1, COMPLETED)), 1, 'sse.id_duplicate'],
    ['goes on about another task', stream((id) => event(id, 1, WORKING) + event(id, 2, { task: { ...TASK, id: 'x' } })), 1, 'stream.identity'],
    ['has an event too large', stream((id) => event(id, 1, WORKING) + event(id, 2, 'x'.repeat(5000))), 1, 'limit.event_bytes'],
    ['sends a result that is no stream', json((id) => resultText(id, WORKING)), 0, 'http.content_type'],
  ];
  for (const [what, answering, events, rule] of streams) {
    test(`that ${what} is a failure behind the events before it`, async () => {
      answer = answering;
      const factory = new ClientFactory({ transports: [new StrictTransportFactory({ dispatcher, limits: { maxEventBytes: 4000 } })] });
      const client = await factory.createFromAgentCard(cardAt(`${server.origin}/`));
      const got: unknown[] = [];
      const failure = await failureFrom(
        (async () => {
          for await (const one of client.resubscribeTask(SUBSCRIBE)) got.push(one);
        })(),
      );
      assert.equal(failure.rule, rule);
      assert.equal(got.length, events);
    });
  }

  test('that sends no event ids is served, unless they are asked for', async () => {
    answer = stream((id) => `data: ${resultText(id, WORKING)}\n\ndata: ${resultText(id, COMPLETED)}\n\n`);
    const got: unknown[] = [];
    for await (const one of (await transport()).sendMessageStream(send())) got.push(one);
    assert.equal(got.length, 2);
    assert.equal((await failureFrom((await transport({ eventIds: 'required' })).sendMessageStream(send()).next())).rule, 'sse.id_missing');
  });

  test('that is silent is waited for as long as the clocks say', async () => {
    answer = () => undefined;
    assert.equal((await failureFrom((await transport({ timeoutMs: 30 })).getTask(GET))).rule, 'deadline.total');
    assert.equal((await failureFrom((await transport({ idleTimeoutMs: 30 })).sendMessageStream(send()).next())).rule, 'deadline.idle');
  });
});

describe('A stream of the transport', LIMIT, () => {
  /** The server's side of the connection of the last request. */
  let closed: Promise<void>;
  const begin: Answer = (socket, { id }) => {
    closed = new Promise((resolve) => {
      socket.on('close', () => {
        resolve();
      });
    });
    socket.write(`HTTP/1.1 200 OK\r\n${SSE_FIELD}\r\n\r\n${event(id, 1, WORKING)}`);
  };

  test('sends nothing before its first next()', async () => {
    answer = begin;
    const seen = server.requests.length;
    const stream = (await transport()).sendMessageStream(send());
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(server.requests.length, seen);
    assert.deepEqual(await stream.return(undefined), { done: true, value: undefined });
    assert.deepEqual(await stream.next(), { done: true, value: undefined });
    assert.equal(server.requests.length, seen);
  });

  test('is closed by return(), though a next() is under way', async () => {
    answer = begin;
    const stream = (await transport()).sendMessageStream(send());
    await stream.next();
    const pending = stream.next();
    assert.deepEqual(await stream.return(undefined), { done: true, value: undefined });
    assert.deepEqual(await pending, { done: true, value: undefined });
    await closed;
  });

  test('is closed by throw(), which throws what it was given', async () => {
    answer = begin;
    const stream = (await transport()).sendMessageStream(send());
    await stream.next();
    const mine = new Error('mine');
    await assert.rejects(stream.throw(mine), mine);
    await closed;
    assert.deepEqual(await stream.next(), { done: true, value: undefined });
  });

  test('is closed where a loop over the SDK’s client is left, and at the end of its scope', async () => {
    answer = begin;
    const factory = new ClientFactory({ transports: [new StrictTransportFactory({ dispatcher })] });
    for (const tenant of ['', 'acme']) {
      const client = await factory.createFromAgentCard(cardAt(`${server.origin}/`, { tenant }));
      for await (const { payload } of client.sendMessageStream(send())) {
        assert.equal(payload?.$case, 'task');
        break;
      }
      await closed;
    }
    {
      await using stream = (await transport()).resubscribeTask(SUBSCRIBE);
      await stream.next();
    }
    await closed;
  });

  test('reads its parameters when it is made', async () => {
    answer = begin;
    const params = { ...SUBSCRIBE };
    const stream = (await transport()).resubscribeTask(params);
    params.id = 'changed';
    await stream.next();
    assert.match(server.requests.at(-1)?.body ?? '', /"id":"task-1"/);
    await stream.return(undefined);
  });
});
