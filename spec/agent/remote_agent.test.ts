import { TaskState } from '@a2a-js/sdk';
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { CompactSign, generateKeyPair } from 'jose';
import { Agent } from 'undici';
import { RemoteAgent, type RemoteAgentOptions } from '../../lib/agent/index.js';
import { Failure, userText, type ProtocolVersion, type StreamItem } from '../../lib/index.js';
import { WAIT, measure, startAgent, textOf, type RunningAgent } from '../demo/agent.js';
import { failureFrom, pass, until } from '../hostile/calls.js';
import {
  COMPLETED,
  PROGRESS,
  SSE_FIELD,
  WORKING,
  chunk,
  event,
  good,
  goodStream,
  response,
  type SeenRequest,
} from '../hostile/raw_server.js';
import { CardAgent, type CardAgentSetup } from './card_agent.js';

const dispatcher = new Agent();
after(() => dispatcher.close());

const TASK = { task: { id: 'task-1', contextId: 'ctx-1', status: { state: 'TASK_STATE_COMPLETED' } } };

async function withAgent(
  setup: Partial<CardAgentSetup>,
  use: (agent: CardAgent) => Promise<void>,
): Promise<void> {
  const agent = await CardAgent.start({ onCall: (socket, { id }) => void socket.write(good(id, TASK)), ...setup });
  try {
    await use(agent);
  } finally {
    await agent.close();
  }
}

function remote(baseUrl: string, options: Partial<RemoteAgentOptions> = {}): RemoteAgent {
  return new RemoteAgent(baseUrl, { dispatcher, ...options });
}

async function ruleOf(answer: Promise<unknown>): Promise<string> {
  const { rule, delivery } = await failureFrom(answer);
  return `${rule} ${delivery}`;
}

function thrownRule(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof Failure) return `${error.rule} ${error.kind} ${error.path ?? ''}`.trim();
    throw error;
  }
  return 'nothing';
}

async function collect(stream: AsyncIterable<StreamItem>): Promise<string[]> {
  const cases: string[] = [];
  for await (const item of stream) cases.push(item.event.$case);
  return cases;
}

const sse = (body: string): Buffer => response(200, [SSE_FIELD], body);
const artifactEvent = (id: string, eventId: number, artifactId: string, text: string, others: Record<string, unknown> = {}): string =>
  event(id, eventId, { artifactUpdate: { taskId: 'task-1', contextId: 'ctx-1', artifact: { artifactId, parts: [{ text }] }, ...others } });

describe('A remote agent made with the official SDK', () => {
  let running: RunningAgent;
  before(async () => {
    running = await startAgent({ cutAfterEvents: 2 });
  });
  after(() => running.close());

  const DIALECTS: readonly ProtocolVersion[] = ['1.0', '0.3'];
  for (const version of DIALECTS) {
    const agent = (): RemoteAgent => remote(running.url, { protocolVersions: [version] });

    test(`${version}: is found by its base URL`, async () => {
      const found = agent();
      assert.equal((await found.agentCard()).name, 'Measurer');
      assert.equal(await found.endpointUrl(), running.url);
      assert.equal(await found.wireDialect(), version);
    });

    test(`${version}: answers a text with a task, which can be looked at again`, async () => {
      const found = agent();
      const { result, raw, extensions } = await found.send('some words');
      assert.equal(result.status?.state, TaskState.TASK_STATE_COMPLETED);
      assert.deepEqual(result.artifacts.map(textOf), [measure('some words').join('')]);
      assert.ok(raw.length > 0);
      assert.deepEqual(extensions, []);
      const again = await found.getTask(result.id);
      assert.deepEqual(again.result.artifacts, result.artifacts);
      assert.equal((await found.getTask(result.id, 0)).result.history.length, 0);
      assert.equal((await found.sendMessage(userText('x'))).result.$case, 'task');
    });

    test(`${version}: streams, and the events add up to what the agent has`, async () => {
      const found = agent();
      const stream = found.stream('some words');
      const cases = await collect(stream);
      assert.deepEqual(cases, ['task', 'artifactUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate']);
      const built = await stream.result;
      const { result: kept } = await found.getTask(built.id);
      assert.deepEqual(built.artifacts, kept.artifacts);
      assert.deepEqual(built.status, kept.status);
      assert.deepEqual(built.history.map(({ messageId }) => messageId), kept.history.map(({ messageId }) => messageId));
    });

    test(`${version}: gives a stream's result to who does not iterate`, async () => {
      const { artifacts } = await agent().stream('some words').result;
      assert.deepEqual(artifacts.map(textOf), [measure('some words').join('')]);
    });

    test(`${version}: cancels a task that waits, and whoever follows it learns of it`, async () => {
      const found = agent();
      const started = await found.send({ ...userText('x'), metadata: WAIT }, { configuration: { returnImmediately: true } });
      const following = found.follow(started.result.id);
      const first = await following.next();
      assert.equal(first.value?.event.$case, 'task');
      const canceled = await found.cancelTask(started.result.id);
      assert.equal(canceled.result.id, started.result.id);
      assert.equal((await collect(following)).at(-1), 'statusUpdate');
      assert.equal((await following.result).status?.state, TaskState.TASK_STATE_CANCELED);
    });

    test(`${version}: gives a task that has ended to who follows it`, async () => {
      const found = agent();
      const { result } = await found.send('x');
      assert.deepEqual(await collect(found.follow(result.id)), ['task']);
    });

    test(`${version}: gives its own errors`, async () => {
      const failure = await failureFrom(agent().getTask('no such task'));
      assert.deepEqual([failure.rule, failure.code], ['remote.error', -32001]);
    });
  }

  test('1.0: lists its tasks, and 0.3 has no such operation', async () => {
    assert.ok((await remote(running.url).listTasks({ pageSize: 1 })).result.tasks.length > 0);
    assert.equal(await ruleOf(remote(running.url, { protocolVersions: ['0.3'] }).listTasks()), 'options.operation not_sent');
  });

  test('Any method can be called, in either dialect', async () => {
    const found = remote(running.url);
    const { result } = await found.send('x');
    assert.equal(((await found.rpcCall('GetTask', { id: result.id })).result as { id: string }).id, result.id);
    assert.equal(((await found.rpcCall('tasks/get', { id: result.id }, '0.3')).result as { kind: string }).kind, 'task');
  });

  test('A task that goes on is followed over a stream that was cut', async () => {
    let asked = 0;
    // What stands between: each stream is cut after its first event, until the third.
    await withAgent(
      {
        onCall: (socket, { id, body }) => {
          if (!body.includes('SubscribeToTask')) socket.write(good(id, { ...WORKING.task }));
          else if (++asked < 3) socket.write(sse(event(id, 1, WORKING)));
          else socket.write(sse(event(id, 1, WORKING) + event(id, 2, COMPLETED)));
        },
      },
      async ({ origin, calls }) => {
        const following = remote(origin).follow('task-1', { firstDelayMs: 1 });
        assert.deepEqual(await collect(following), ['task', 'task', 'task', 'statusUpdate']);
        assert.equal((await following.result).status?.state, TaskState.TASK_STATE_COMPLETED);
        assert.equal(calls.length, 0, 'the list is a snapshot');
      },
    );
    assert.equal(asked, 3);
  });
});

describe('Where calls go', () => {
  test('The card is fetched once for many callers, and once more for many that insist', async () => {
    await withAgent({ cardFields: ['cache-control: max-age=60'] }, async (raw) => {
      const agent = remote(raw.origin);
      await Promise.all(Array.from({ length: 100 }, () => agent.send('x')));
      assert.equal(raw.cards.length, 1);
      await Promise.all([...Array.from({ length: 50 }, () => agent.agentCard(true)), ...Array.from({ length: 50 }, () => agent.send('x'))]);
      assert.equal(raw.cards.length, 2);
      assert.equal(raw.calls.length, 150);
    });
  });

  test('A card without a word of its freshness is kept for the next call too', async () => {
    await withAgent({}, async (raw) => {
      const agent = remote(raw.origin);
      await agent.send('x');
      await agent.send('x');
      assert.equal(raw.cards.length, 1);
    });
  });

  test('A card that may not be kept is fetched for each call', async () => {
    await withAgent({ cardFields: ['cache-control: no-store'] }, async (raw) => {
      const agent = remote(raw.origin);
      await agent.send('x');
      await agent.send('x');
      assert.equal(raw.cards.length, 2);
    });
  });

  test('A card that fails its check fails the call, and the next call asks again', async () => {
    let isBroken = true;
    await withAgent({ card: () => (isBroken ? { skills: 'none' } : {}) }, async (raw) => {
      const agent = remote(raw.origin);
      const failure = await failureFrom(agent.send('x'));
      assert.deepEqual([failure.rule, failure.path], ['a2a.schema', 'skills']);
      isBroken = false;
      assert.equal((await agent.send('x')).result.id, 'task-1');
      assert.equal(raw.calls.length, 1);
    });
  });

  test('A card that a forced refresh finds broken is used no more', async () => {
    let isBroken = false;
    await withAgent({ card: () => (isBroken ? { skills: 'none' } : {}), cardFields: ['cache-control: max-age=60'] }, async (raw) => {
      const agent = remote(raw.origin);
      await agent.send('x');
      isBroken = true;
      assert.equal((await failureFrom(agent.agentCard(true))).rule, 'a2a.schema');
      assert.equal(await ruleOf(agent.send('x')), 'a2a.schema not_sent');
      assert.equal(raw.calls.length, 1);
    });
  });

  test('An interface elsewhere is used only where the caller allows it, from the next call on', async () => {
    await withAgent({}, async (other) => {
      const card = (): Record<string, unknown> => ({
        supportedInterfaces: [{ url: `${other.origin}/elsewhere`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      });
      await withAgent({ card }, async (raw) => {
        const agent = remote(raw.origin);
        await agent.send('x');
        assert.deepEqual([raw.calls.length, other.calls.length], [1, 0]);
        agent.setAllowCrossOriginInterfaces(true);
        await agent.send('x');
        assert.deepEqual([raw.calls.length, other.calls.length], [1, 1]);
        assert.equal(await agent.endpointUrl(), `${other.origin}/elsewhere`);
        agent.setAllowCrossOriginInterfaces(false);
        await agent.send('x');
        assert.deepEqual([raw.calls.length, other.calls.length], [2, 1]);
      });
    });
  });

  test('The tenant of the interface is in every request, but for one that is sent verbatim', async () => {
    const card = (origin: string): Record<string, unknown> => ({
      supportedInterfaces: [{ url: origin, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'acme' }],
    });
    await withAgent({ card }, async (raw) => {
      const agent = remote(raw.origin);
      await agent.send('x');
      await agent.rpcCall('Any', { x: 1 });
      const [sent, verbatim] = raw.calls.map(({ body }) => (JSON.parse(body) as { params: Record<string, unknown> }).params);
      assert.equal(sent?.['tenant'], 'acme');
      assert.deepEqual(verbatim, { x: 1 });
    });
  });

  test('A card that offers nothing to call is told', async () => {
    const card = (origin: string): Record<string, unknown> => ({
      supportedInterfaces: [{ url: origin, protocolBinding: 'GRPC', protocolVersion: '1.0' }],
    });
    await withAgent({ card }, async (raw) => {
      assert.equal((await failureFrom(remote(raw.origin).send('x'))).rule, 'card.interface');
      assert.equal(raw.calls.length, 0);
    });
  });
});

describe('Credentials', () => {
  const SECRET = 'Bearer not-a-real-token';
  const authorization = (requests: readonly SeenRequest[]): (string | undefined)[] => requests.map(({ headers }) => headers.get('authorization'));

  test('An authorization header is in the headers of card and calls, until it is cleared, and in no payload', async () => {
    await withAgent({ cardFields: ['cache-control: max-age=60'] }, async (raw) => {
      const agent = remote(raw.origin);
      agent.setAuthorizationHeader(SECRET);
      await agent.send('x');
      agent.setAuthorizationHeader('');
      await agent.send('x');
      assert.deepEqual(authorization(raw.calls), [SECRET, undefined]);
      assert.deepEqual(authorization(raw.cards), [SECRET, undefined], 'a card shown to one is not shown to another');
      assert.ok(raw.calls.every(({ body }) => !body.includes('not-a-real-token')));
      assert.ok(!JSON.stringify(agent).includes('not-a-real-token'));
    });
  });

  test('One among the headers is the same, and can be cleared too', async () => {
    await withAgent({}, async (raw) => {
      const agent = remote(raw.origin, { headers: { Authorization: SECRET, 'x-other': '1' } });
      await agent.send('x');
      agent.setAuthorizationHeader('');
      await agent.send('x');
      assert.deepEqual(authorization(raw.calls), [SECRET, undefined]);
      assert.deepEqual(raw.calls.map(({ headers }) => headers.get('x-other')), ['1', '1']);
    });
  });

  test('What was set for one origin is never seen by another', async () => {
    await withAgent({}, async (other) => {
      const card = (): Record<string, unknown> => ({
        supportedInterfaces: [{ url: `${other.origin}/`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      });
      await withAgent({ card }, async (raw) => {
        const agent = remote(raw.origin, { allowCrossOriginInterfaces: true });
        agent.setAuthorizationHeader(SECRET);
        assert.equal(await ruleOf(agent.send('x')), 'agent.authorization not_sent');
        assert.equal(await ruleOf(agent.stream('x').next()), 'agent.authorization not_sent');
        assert.equal(other.calls.length, 0);
        agent.setAuthorizationHeader(SECRET, other.origin);
        await agent.send('x');
        assert.deepEqual(authorization(other.calls), [SECRET]);
        assert.equal(raw.cards.at(-1)?.headers.get('authorization'), undefined);
      });
      const keyed = { allowCrossOriginInterfaces: true, headers: { 'x-api-key': 'not-a-real-key' }, secretHeaders: ['X-Api-Key'] } as const;
      await withAgent({ card }, async (raw) => {
        const agent = remote(raw.origin, keyed);
        assert.equal(await ruleOf(agent.send('x')), 'agent.authorization not_sent');
        assert.equal(raw.cards.at(-1)?.headers.get('x-api-key'), 'not-a-real-key');
        assert.equal(other.calls.length, 1);
      });
    });
  });

  test('They do not travel unencrypted to another machine, with the card neither', async () => {
    let dispatched = 0;
    const counting = dispatcher.compose((dispatch) => (options, handler) => {
      dispatched++;
      return dispatch(options, handler);
    });
    const agent = new RemoteAgent('http://agent.invalid/', { dispatcher: counting });
    agent.setAuthorizationHeader(SECRET);
    assert.equal(await ruleOf(agent.send('x')), 'options.cleartext_credentials not_sent');
    assert.equal(dispatched, 0);
  });

  test('An update has no effect on a call that has begun', async () => {
    let release: (() => void) | undefined;
    const onCard = (socket: Socket, request: SeenRequest): boolean => {
      if (release !== undefined) return false;
      release = () => void socket.write(cardOf(request));
      return true;
    };
    let cardOf: (request: SeenRequest) => Buffer = () => Buffer.alloc(0);
    await withAgent({ onCard }, async (raw) => {
      cardOf = () =>
        response(
          200,
          ['content-type: application/json'],
          JSON.stringify({
            name: 'late',
            description: 'd',
            version: '1',
            supportedInterfaces: [{ url: raw.origin, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
            capabilities: {},
            defaultInputModes: [],
            defaultOutputModes: [],
            skills: [],
          }),
        );
      const agent = remote(raw.origin);
      agent.setAuthorizationHeader(SECRET);
      const sent = agent.send('x');
      await until(() => release !== undefined, 'the card is asked for');
      agent.setAuthorizationHeader('Bearer another');
      agent.setTimeout(1);
      release?.();
      await sent;
      assert.deepEqual(authorization(raw.calls), [SECRET]);
    });
  });
});

describe('Extensions', () => {
  const card = (): Record<string, unknown> => ({ capabilities: { extensions: [{ uri: 'urn:listed' }, { uri: 'urn:other' }] } });
  const answering = (fields: readonly string[]) => (socket: Socket, { id }: SeenRequest): void => {
    socket.write(response(200, ['content-type: application/json', ...fields], JSON.stringify({ jsonrpc: '2.0', id, result: TASK })));
  };

  test('are asked for where the card lists them, and the activated ones are told', async () => {
    await withAgent({ card, onCall: answering(['A2A-Extensions: urn:listed, urn:mine , urn:unasked']) }, async (raw) => {
      const { extensions } = await remote(raw.origin, { extensions: ['urn:listed', 'urn:mine'] }).send('x');
      assert.equal(raw.calls[0]?.headers.get('a2a-extensions'), 'urn:listed');
      assert.deepEqual(extensions, ['urn:listed']);
    });
  });

  test('are asked for whatever the card lists where the caller insists', async () => {
    await withAgent({ card, onCall: answering(['a2a-extensions: urn:mine']) }, async (raw) => {
      const agent = remote(raw.origin, { extensions: ['urn:listed', 'urn:mine'], forceExtensions: true });
      assert.deepEqual((await agent.send('x')).extensions, ['urn:mine']);
      assert.equal(raw.calls[0]?.headers.get('a2a-extensions'), 'urn:listed, urn:mine');
    });
  });

  test('of a stream are known when it has ended', async () => {
    const onCall = (socket: Socket, { id }: SeenRequest): void => {
      socket.write(response(200, [SSE_FIELD, 'a2a-extensions: urn:listed'], event(id, 1, TASK)));
    };
    await withAgent({ card, onCall }, async (raw) => {
      const stream = remote(raw.origin, { extensions: ['urn:listed'] }).stream('x');
      assert.deepEqual(stream.extensions, []);
      await stream.result;
      assert.deepEqual(stream.extensions, ['urn:listed']);
    });
  });
});

describe('Time', () => {
  test('One clock goes over the card and the call', async () => {
    await withAgent({ onCard: () => true }, async (raw) => {
      const agent = remote(raw.origin, { timeoutMs: 40 });
      assert.equal((await failureFrom(agent.send('x'))).rule, 'deadline.total');
      assert.equal((await failureFrom(agent.stream('x').next())).rule, 'deadline.total');
    });
    await withAgent({ onCall: () => undefined }, async (raw) => {
      const agent = remote(raw.origin);
      agent.setTimeout(40);
      assert.equal(await ruleOf(agent.send('x')), 'deadline.total unknown');
      // The one that brought the card may wait for the next call.
      await until(() => raw.openSockets <= 1, 'the connection is closed');
    });
  });

  test('Zero removes a clock', async () => {
    const slow = (socket: Socket, { id }: SeenRequest): void => void setTimeout(() => socket.write(good(id, TASK)), 60);
    await withAgent({ onCall: slow }, async (raw) => {
      const agent = remote(raw.origin, { timeoutMs: 20 });
      assert.equal((await failureFrom(agent.send('x'))).rule, 'deadline.total');
      agent.setTimeout(0);
      assert.equal((await agent.send('x')).result.id, 'task-1');
    });
  });

  test('A connection that is never made ends by a clock of its own', async () => {
    const never = new Agent({ connect: () => undefined });
    const agent = new RemoteAgent('http://127.0.0.1:1/', { dispatcher: never });
    agent.setConnectTimeout(20);
    assert.equal(await ruleOf(agent.send('x')), 'deadline.connect not_sent');
    await never.destroy();
  });

  test('The caller\'s signal ends the card\'s fetch and the call', async () => {
    await withAgent({ onCard: () => true }, async (raw) => {
      const controller = new AbortController();
      const sent = remote(raw.origin).send('x', { signal: controller.signal });
      const following = remote(raw.origin).follow('t', { signal: controller.signal }).next();
      await until(() => raw.cards.length === 2, 'the cards are asked for');
      controller.abort();
      assert.equal((await failureFrom(sent)).rule, 'canceled.signal');
      assert.equal((await failureFrom(following)).rule, 'canceled.signal');
      await until(() => raw.openSockets === 0, 'the connections are closed');
    });
  });
});

describe('A stream and its task', () => {
  test('Whoever leaves early gets the task so far, and the connection is closed', async () => {
    const onCall = (socket: Socket, { id }: SeenRequest): void => {
      socket.write(response(200, [SSE_FIELD, 'transfer-encoding: chunked'], ''));
      socket.write(chunk(event(id, 1, WORKING) + artifactEvent(id, 2, 'a', 'one') + artifactEvent(id, 3, 'a', 'two', { append: true })));
    };
    await withAgent({ onCall }, async (raw) => {
      const stream = remote(raw.origin).stream('x');
      let seen = 0;
      for await (const { event: { $case } } of stream) {
        if ($case === 'artifactUpdate' && ++seen === 2) break;
      }
      const task = await stream.result;
      assert.deepEqual(task.artifacts.map(textOf), ['onetwo']);
      assert.equal(task.status?.state, TaskState.TASK_STATE_WORKING);
      await until(() => raw.openSockets <= 1, 'the stream is closed');
      assert.deepEqual(await stream.next(), { done: true, value: undefined });
    });
  });

  test('Whoever leaves before the first event has no task, and one that never began sends nothing', async () => {
    await withAgent({ onCall: () => undefined }, async (raw) => {
      const unused = remote(raw.origin).stream('x');
      await unused.return();
      assert.equal(await ruleOf(unused.result), 'stream.incomplete not_sent');
      assert.deepEqual([raw.cards.length, raw.calls.length], [0, 0]);
      const left = remote(raw.origin).stream('x');
      const waiting = left.next();
      await until(() => raw.calls.length === 1, 'the call is sent');
      await left.return();
      assert.deepEqual(await waiting, { done: true, value: undefined });
      assert.equal(await ruleOf(left.result), 'stream.incomplete unknown');
    });
  });

  test('Whoever leaves while the card is fetched sends no call', async () => {
    await withAgent({ onCard: () => true }, async (raw) => {
      const stream = remote(raw.origin).stream('x');
      const waiting = stream.next();
      await until(() => raw.cards.length === 1, 'the card is asked for');
      await stream.return();
      assert.deepEqual(await waiting, { done: true, value: undefined });
      await until(() => raw.openSockets === 0, 'the connection is closed');
      assert.equal(raw.calls.length, 0);
    });
  });

  test('A failure is thrown once, and is the result\'s too', async () => {
    const onCall = (socket: Socket, { id }: SeenRequest): void => void socket.write(sse(event(id, 1, WORKING)));
    await withAgent({ onCall }, async (raw) => {
      const stream = remote(raw.origin).stream('x');
      await stream.next();
      const failure = await failureFrom(stream.next());
      assert.equal(failure.rule, 'stream.incomplete');
      assert.equal(await failureFrom(stream.result), failure);
      assert.deepEqual(await stream.next(), { done: true, value: undefined });
    });
  });

  test('A failure that nobody asks the result for disturbs nobody', async () => {
    let unhandled = 0;
    const count = (): void => {
      unhandled++;
    };
    process.on('unhandledRejection', count);
    try {
      await withAgent({ onCall: (socket) => void socket.destroy() }, async (raw) => {
        await assert.rejects(remote(raw.origin).stream('x').next());
        await pass(10);
      });
    } finally {
      process.off('unhandledRejection', count);
    }
    assert.equal(unhandled, 0);
  });

  test('An append to what was never started ends the stream', async () => {
    const onCall = (socket: Socket, { id }: SeenRequest): void => {
      socket.write(response(200, [SSE_FIELD, 'transfer-encoding: chunked'], ''));
      socket.write(chunk(event(id, 1, WORKING) + artifactEvent(id, 2, 'a', 'x', { append: true }) + event(id, 3, PROGRESS)));
    };
    await withAgent({ onCall }, async (raw) => {
      const stream = remote(raw.origin).stream('x');
      await stream.next();
      const failure = await failureFrom(stream.next());
      assert.deepEqual([failure.rule, failure.kind, failure.delivery], ['agent.artifact_append', 'protocol', 'answered']);
      assert.deepEqual(await stream.next(), { done: true, value: undefined });
      await until(() => raw.openSockets <= 1, 'the stream is closed');
    });
  });

  test('A task that outgrows its bound ends the stream', async () => {
    const onCall = (socket: Socket, { id }: SeenRequest): void => {
      const appends = Array.from({ length: 50 }, (_, i) => artifactEvent(id, i + 3, 'a', 'x'.repeat(100), { append: true })).join('');
      socket.write(sse(event(id, 1, WORKING) + artifactEvent(id, 2, 'a', 'x') + appends));
    };
    await withAgent({ onCall }, async (raw) => {
      const failure = await failureFrom(remote(raw.origin, { limits: { maxTaskBytes: 5000 } }).stream('x').result);
      assert.deepEqual([failure.rule, failure.kind], ['agent.task_bytes', 'response_too_large']);
    });
  });

  test('Who iterates in the same turn as asking for the result sees every event', async () => {
    await withAgent({ onCall: (socket, { id }) => void socket.write(goodStream(id)) }, async (raw) => {
      const stream = remote(raw.origin).stream('x');
      const { result } = stream;
      assert.deepEqual(await collect(stream), ['task', 'statusUpdate']);
      assert.equal((await result).status?.state, TaskState.TASK_STATE_COMPLETED);
    });
  });

  test('Who iterates after the result has begun to read is told, and the result comes all the same', async () => {
    await withAgent({ onCall: (socket, { id }) => void socket.write(goodStream(id)) }, async (raw) => {
      const stream = remote(raw.origin).stream('x');
      const { result } = stream;
      await until(() => raw.cards.length === 1, 'the stream is read');
      assert.equal(await ruleOf(stream.next()), 'agent.stream_read not_sent');
      assert.equal((await result).id, 'task-1');
    });
  });

  test('Answers come in order to who does not wait for them', async () => {
    await withAgent({ onCall: (socket, { id }) => void socket.write(goodStream(id)) }, async (raw) => {
      const stream = remote(raw.origin).stream('x');
      const steps = await Promise.all([stream.next(), stream.next(), stream.next(), stream.next()]);
      assert.deepEqual(steps.map(({ value }) => value?.event.$case), ['task', 'statusUpdate', undefined, undefined]);
    });
  });

  test('One failure is thrown to who waits first, and no other', async () => {
    await withAgent({ onCall: (socket) => void socket.destroy() }, async (raw) => {
      const stream = remote(raw.origin).stream('x');
      const steps = await Promise.allSettled([stream.next(), stream.next()]);
      assert.deepEqual(steps.map(({ status }) => status), ['rejected', 'fulfilled']);
    });
  });

  test('A consumer that leaves ends the wait of a task that is followed', async () => {
    await withAgent({ onCall: (socket) => void socket.destroy() }, async (raw) => {
      const following = remote(raw.origin).follow('task-1', { firstDelayMs: 2 ** 31 - 1, maxDelayMs: 2 ** 31 - 1 });
      const waiting = following.next();
      await until(() => raw.calls.length === 1, 'the task is subscribed to');
      await pass(20);
      await following.return();
      assert.deepEqual(await waiting, { done: true, value: undefined });
      assert.equal(raw.calls.length, 1);
    });
  });

  test('A stream is disposed of', async () => {
    const onCall = (socket: Socket, { id }: SeenRequest): void => {
      socket.write(response(200, [SSE_FIELD, 'transfer-encoding: chunked'], ''));
      socket.write(chunk(event(id, 1, WORKING)));
    };
    await withAgent({ onCall }, async (raw) => {
      {
        await using stream = remote(raw.origin).stream('x');
        await stream.next();
      }
      await until(() => raw.openSockets <= 1, 'the stream is closed');
    });
  });
});

describe('What a caller says', () => {
  const base = 'http://127.0.0.1:1/';

  const MADE: readonly [string, () => unknown, string][] = [
    ['no URL', () => remote('nowhere'), 'options.endpoint invalid_argument'],
    ['user info', () => remote('https://user:word@agent.example/'), 'options.endpoint invalid_argument'],
    ['no options', () => new RemoteAgent(base, undefined as never), 'options.unknown invalid_argument'],
    ['an unknown option', () => remote(base, { signal: AbortSignal.abort() } as never), 'options.unknown invalid_argument'],
    ['an unknown limit', () => remote(base, { limits: { maxBytes: 1 } as never }), 'options.unknown invalid_argument'],
    ['a limit that is none', () => remote(base, { limits: { maxTaskBytes: NaN } }), 'options.limit invalid_argument maxTaskBytes'],
    ['limits that are none', () => remote(base, { limits: 7 as never }), 'options.unknown invalid_argument'],
    ['no dispatcher', () => remote(base, { dispatcher: {} as never }), 'options.dispatcher invalid_argument dispatcher'],
    ['no dialect', () => remote(base, { protocolVersions: [] }), 'options.dialect invalid_argument protocolVersions'],
    ['a dialect that is none', () => remote(base, { protocolVersions: ['2.0' as never] }), 'options.dialect invalid_argument protocolVersions'],
    ['event ids that are none', () => remote(base, { eventIds: 'none' as never }), 'options.dialect invalid_argument eventIds'],
    ['a time that is none', () => remote(base, { timeoutMs: 0 }), 'options.time invalid_argument timeoutMs'],
    ['a cache that is none', () => remote(base, { cache: {} as never }), 'card.store invalid_argument cache'],
    ['a header that is reserved', () => remote(base, { headers: { host: 'x' } }), 'options.headers invalid_argument headers'],
    ['an authorization header that is no text', () => { remote(base).setAuthorizationHeader(7 as never); }, 'options.headers invalid_argument'],
    ['an authorization header with a line break', () => { remote(base).setAuthorizationHeader('a\nb'); }, 'options.headers invalid_argument'],
    ['an authorization header for no origin', () => { remote(base).setAuthorizationHeader('a', 'x'); }, 'options.endpoint invalid_argument'],
    ['a timeout below zero', () => { remote(base).setTimeout(-1); }, 'options.time invalid_argument'],
    ['a connect timeout that is none', () => { remote(base).setConnectTimeout(NaN); }, 'options.time invalid_argument'],
  ];
  for (const [name, make, expected] of MADE) {
    test(`is refused when it is said: ${name}`, () => {
      assert.equal(thrownRule(make), expected);
    });
  }

  const CALLED: readonly [string, (agent: RemoteAgent) => Promise<unknown>, string][] = [
    ['a setting that is none', (agent) => agent.send('x', { timeoutMs: 1 } as never), 'options.unknown'],
    ['a signal that is none', (agent) => agent.getTask('x', 1, { signal: {} as never }), 'options.signal'],
    ['a task id that is none', (agent) => agent.send('x', { taskId: 7 as never }), 'request.params'],
    ['a task id that contradicts the message', (agent) => agent.send({ ...userText('x'), taskId: 'a' }, { taskId: 'b' }), 'request.params'],
    ['a setting of a stream that is none', (agent) => agent.stream('x', { x: 1 } as never).next(), 'options.unknown'],
    ['no message', (agent) => agent.send(null as never), 'request.params'],
    ['a message that throws', (agent) => agent.send(new Proxy({}, { ownKeys: () => { throw new Error('no'); } }) as never), 'request.params'],
    ['no task', (agent) => agent.getTask(''), 'request.params'],
    ['a push config without a URL', (agent) => agent.createTaskPushNotificationConfig({ taskId: 't', url: '' }), 'request.params'],
    ['params that are no JSON', (agent) => agent.rpcCall('Any', (() => 1) as never), 'request.params'],
    ['a patience that is none', (agent) => agent.follow('x', { maxAttempts: 0 }).next(), 'options.limit'],
    ['settings that throw', (agent) => agent.subscribeToTask('x', Object.defineProperty({}, 'signal', { enumerable: true, get: () => { throw new Error('no'); } })).next(), 'options.signal'],
  ];
  for (const [name, call, expected] of CALLED) {
    test(`is refused before anything is sent: ${name}`, async () => {
      await withAgent({}, async (raw) => {
        assert.equal(await ruleOf(call(remote(raw.origin))), `${expected} not_sent`);
        assert.equal(raw.cards.length + raw.calls.length, 0);
      });
    });
  }

  test('goes with the message: its task, its context and what the agent is asked for', async () => {
    await withAgent({ onCall: (socket, { id }) => void socket.write(good(id, { task: { ...TASK.task, id: 't', contextId: 'c' } })) }, async (raw) => {
      await remote(raw.origin).send('x', { taskId: 't', contextId: 'c', configuration: { historyLength: 3 }, metadata: { a: 1 } });
      const { message, configuration, metadata } = (JSON.parse(raw.calls[0]!.body) as { params: Record<string, Record<string, unknown>> }).params;
      assert.deepEqual([message?.['taskId'], message?.['contextId'], configuration?.['historyLength'], metadata], ['t', 'c', 3, { a: 1 }]);
    });
  });

  test('is read at the call', async () => {
    await withAgent({}, async (raw) => {
      const message = userText('before');
      const params = { deep: ['before'] };
      const agent = remote(raw.origin);
      const stream = agent.stream(message);
      const called = agent.rpcCall('Any', params);
      Object.assign(message.parts[0]!, { content: { $case: 'text', value: 'after' } });
      params.deep[0] = 'after';
      await stream.next().catch(() => undefined);
      await called;
      assert.deepEqual(raw.calls.map(({ body }) => [body.includes('before'), body.includes('after')]), [[true, false], [true, false]]);
    });
  });
});

describe('A remote agent', () => {
  test('leaves nothing behind', async () => {
    const own = new Agent();
    const raw = await CardAgent.start({ onCall: (socket, { id }) => void socket.write(good(id, TASK)) });
    const agent = new RemoteAgent(raw.origin, { dispatcher: own });
    agent.setTimeout(60_000);
    await agent.send('x');
    await own.close();
    await until(() => raw.openSockets === 0, 'its connections are closed');
    await raw.close();
    assert.deepEqual(process.getActiveResourcesInfo().filter((name) => name === 'Timeout'), []);
  });
});

/** RFC 8785 for these cards: members in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, member]) => [name, sorted(member)]));
}

describe('What nobody is to lose or to see', () => {
  const FOLLOWED = { kind: 'task', id: 'task-1', contextId: 'ctx-1' };
  const words_0_3 = (...texts: string[]): unknown => [{ artifactId: 'a', parts: texts.map((text) => ({ kind: 'text', text })) }];
  const chunk_0_3 = (id: string, eventId: number, text: string, append: boolean): string =>
    event(id, eventId, { kind: 'artifact-update', taskId: 'task-1', contextId: 'ctx-1', append, artifact: { artifactId: 'a', parts: [{ kind: 'text', text }] } });
  const status_0_3 = (id: string, eventId: number, state: string): string =>
    event(id, eventId, { kind: 'status-update', taskId: 'task-1', contextId: 'ctx-1', final: state === 'completed', status: { state } });
  const CARD_0_3 = (origin: string): Record<string, unknown> => ({
    supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
  });

  test('0.3: what was said between two subscriptions, neither of which begins with the task, is in the result', async () => {
    let subscriptions = 0;
    const onCall = (socket: Socket, { id, body }: SeenRequest): void => {
      if (body.includes('"tasks/get"')) {
        const isOver = subscriptions === 2;
        socket.write(good(id, { ...FOLLOWED, status: { state: isOver ? 'completed' : 'working' }, artifacts: words_0_3('one ', 'two ', ...(isOver ? ['three'] : [])) }));
      } else if (++subscriptions === 1) {
        socket.write(response(200, [SSE_FIELD, 'transfer-encoding: chunked']));
        socket.write(chunk(status_0_3(id, 1, 'working') + chunk_0_3(id, 2, 'one ', false)));
        setTimeout(() => socket.destroy(), 30);
      } else {
        socket.write(sse(chunk_0_3(id, 1, 'three', true) + status_0_3(id, 2, 'completed')));
      }
    };
    await withAgent({ card: CARD_0_3, onCall }, async (raw) => {
      const { artifacts } = await remote(raw.origin).follow('task-1', { firstDelayMs: 1 }).result;
      assert.deepEqual(artifacts.map(textOf), ['one two three']);
    });
  });

  test('0.3: a task that is followed from the middle of an artifact has all of it', async () => {
    const onCall = (socket: Socket, { id, body }: SeenRequest): void => {
      if (body.includes('"tasks/get"')) socket.write(good(id, { ...FOLLOWED, status: { state: 'completed' }, artifacts: words_0_3('one ', 'two') }));
      else socket.write(sse(chunk_0_3(id, 1, 'two', true) + status_0_3(id, 2, 'completed')));
    };
    await withAgent({ card: CARD_0_3, onCall }, async (raw) => {
      const { artifacts } = await remote(raw.origin).follow('task-1').result;
      assert.deepEqual(artifacts.map(textOf), ['one two']);
    });
  });

  test('A clock goes over all that following a task takes, whatever a retry-after asks', async () => {
    await withAgent({ onCall: (socket) => void socket.write(response(503, ['retry-after: 3600'])) }, async (raw) => {
      const agent = remote(raw.origin, { timeoutMs: 60 });
      const stream = agent.follow('task-1');
      const late = setTimeout(() => void stream.return(), 5000);
      assert.equal((await failureFrom(stream.result)).rule, 'deadline.total');
      clearTimeout(late);
    });
  });

  test('A card that was asked for before a forced one, and comes after it, is not used', async () => {
    let asked = 0;
    const onCard = (socket: Socket): boolean => {
      const version = String(++asked);
      const text = JSON.stringify({
        name: version, description: 'x', version, capabilities: {}, defaultInputModes: [], defaultOutputModes: [], skills: [],
        supportedInterfaces: [{ url: `http://${socket.localAddress}:${socket.localPort}/${version}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      });
      setTimeout(() => socket.write(response(200, ['content-type: application/json'], text)), version === '1' ? 80 : 0);
      return true;
    };
    await withAgent({ onCard }, async (raw) => {
      const agent = remote(raw.origin);
      const early = agent.send('x');
      await until(() => raw.cards.length === 1, 'the card is asked for');
      assert.equal((await agent.agentCard(true)).name, '2');
      await early;
      assert.equal((await agent.agentCard()).name, '2');
    });
  });

  test('A key that is withdrawn counts no more for a card that is kept', async () => {
    let isWithdrawn = false;
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const card = (origin: string): Record<string, unknown> => ({
      capabilities: { streaming: true }, defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], description: 'x', name: 'signed', version: '1',
      supportedInterfaces: [{ protocolBinding: 'JSONRPC', protocolVersion: '1.0', url: `${origin}/rpc` }],
    });
    let text = '';
    const onCard = (socket: Socket): boolean => socket.write(response(200, ['content-type: application/json'], text)) || true;
    await withAgent({ onCard }, async (raw) => {
      const unsigned = card(raw.origin);
      const [protectedHeader, , signature] = (
        await new CompactSign(Buffer.from(JSON.stringify(sorted(unsigned)))).setProtectedHeader({ alg: 'ES256', kid: 'k', typ: 'JOSE' }).sign(privateKey)
      ).split('.');
      text = JSON.stringify({ ...unsigned, signatures: [{ protected: protectedHeader, signature }] });
      const agent = remote(raw.origin, { verify: { keys: () => (isWithdrawn ? undefined : publicKey), algorithms: ['ES256'] } });
      await agent.send('x');
      isWithdrawn = true;
      assert.equal((await failureFrom(agent.send('x'))).rule, 'card.signature');
      assert.equal(raw.calls.length, 1);
    });
  });

  test('Only true opens other origins, not a word', () => {
    const agent = remote('http://127.0.0.1:1/');
    const opened = thrownRule(() => {
      // @ts-expect-error what a caller without types may say
      agent.setAllowCrossOriginInterfaces('false');
    });
    assert.equal(opened, 'options.endpoint invalid_argument allowCrossOriginInterfaces');
  });

  test('A method may be called in another dialect than the card\'s where plain text results are allowed', async () => {
    await withAgent({ card: CARD_0_3, onCall: (socket, { id }) => void socket.write(good(id)) }, async (raw) => {
      const agent = remote(raw.origin, { allowPlainTextResults: true });
      assert.deepEqual((await agent.rpcCall('X', {}, '1.0')).result, { fine: true });
    });
    const plain = (socket: Socket, { id }: SeenRequest): void =>
      void socket.write(response(200, ['content-type: text/plain'], JSON.stringify({ jsonrpc: '2.0', id, result: { fine: true } })));
    await withAgent({ onCall: plain }, async (raw) => {
      const agent = remote(raw.origin, { allowPlainTextResults: true });
      assert.deepEqual((await agent.rpcCall('X', {}, '0.3')).result, { fine: true });
    });
  });

  test('A message that was not sent for want of a card is told as not sent', async () => {
    await withAgent({ onCard: (socket) => socket.write(response(503, ['retry-after: 1'])) || true }, async (raw) => {
      const failure = await failureFrom(remote(raw.origin).send('x'));
      assert.deepEqual([failure.rule, failure.delivery, failure.status, failure.retryAfterMs], ['http.status', 'not_sent', 503, 1000]);
      assert.equal((await failureFrom(remote(raw.origin).agentCard())).delivery, 'answered');
    });
  });

  test('Whoever leaves a stream in the same turn dispatches nothing, also where the card is kept', async () => {
    await withAgent({}, async (raw) => {
      const methods: string[] = [];
      const watched = dispatcher.compose((dispatch) => (options, handler) => {
        methods.push(options.method);
        return dispatch(options, handler);
      });
      const agent = remote(raw.origin, { dispatcher: watched });
      await agent.agentCard();
      const stream = agent.stream('x');
      const first = stream.next();
      await stream.return();
      assert.equal((await first).done, true);
      assert.deepEqual(methods, ['GET']);
    });
  });

  test('A value that is set once more asks for no card', async () => {
    await withAgent({}, async (raw) => {
      const agent = remote(raw.origin);
      for (let turn = 0; turn < 3; turn++) {
        agent.setAuthorizationHeader('Bearer fake');
        await agent.send('x');
      }
      assert.equal(raw.cards.length, 1);
    });
  });

  test('Artifacts of one id are all in the result, as in a plain answer', async () => {
    const task = { id: 'task-1', contextId: 'ctx-1', status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ artifactId: 'a', parts: [{ text: 'one' }] }, { artifactId: 'a', parts: [{ text: 'two' }] }] };
    await withAgent({ onCall: (socket, { id, body }) => void socket.write(body.includes('Streaming') ? sse(event(id, 1, { task })) : good(id, { task })) }, async (raw) => {
      const agent = remote(raw.origin);
      assert.deepEqual((await agent.stream('x').result).artifacts.map(textOf), (await agent.send('x')).result.artifacts.map(textOf));
    });
  });
});
