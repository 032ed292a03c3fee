/** The SDK's own client over the strict transport, against the SDK's own server, in both dialects. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, mock, test } from 'node:test';
import { TaskState, type AgentInterface, type Message, type SendMessageRequest, type StreamResponse, type Task } from '@a2a-js/sdk';
import {
  ClientFactory,
  ServiceParameters,
  withA2AExtensions,
  type CallInterceptor,
  type Client,
  type ClientConfig,
  type RequestOptions,
} from '@a2a-js/sdk/client';
import { PushNotificationNotSupportedError, TaskNotCancelableError, TaskNotFoundError, isJsonRpcError } from '@a2a-js/sdk/errors';
import { Agent } from 'undici';
import { Failure, RemoteError, failureOf } from '../../lib/index.js';
import { StrictTransportFactory, type StrictTransportOptions } from '../../lib/sdk/index.js';
import { guard, startAgent, userMessage, type RunningAgent } from './agent.js';
import { sdkTransport } from './card.js';

const LIMIT = { timeout: 20_000 };
const EXTENSION = 'https://example.com/extensions/one';

let agent: RunningAgent;
const dispatcher = new Agent();

before(async () => {
  // The SDK's server reports what it does to the console.
  for (const name of ['log', 'warn', 'error'] as const) mock.method(console, name, () => undefined);
  agent = await startAgent();
});
afterEach(() => {
  agent.arrived.length = 0;
  guard.authorization = undefined;
});
after(async () => {
  mock.restoreAll();
  await dispatcher.destroy();
  await agent.close();
});

/** What the agent was sent last. */
const last = (): RunningAgent['arrived'][number] => agent.arrived.at(-1) ?? assert.fail('nothing arrived');

function request(text: string, more: Partial<Message> = {}): SendMessageRequest {
  return { tenant: '', message: userMessage(text, more), configuration: undefined, metadata: undefined };
}

async function collect(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const one of stream) events.push(one);
  return events;
}

const kinds = (events: readonly StreamResponse[]): (string | undefined)[] => events.map(({ payload }) => payload?.$case);

function taskOf(result: Message | Task): Task {
  assert.ok('status' in result, 'it is a task');
  return result;
}

async function thrown(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail('nothing was thrown');
}

/** Without what the two clients write differently and means the same: a member that is undefined, and one that is not there. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

interface Setup {
  readonly at?: Partial<AgentInterface>;
  readonly config?: ClientConfig;
  readonly options?: Partial<StrictTransportOptions>;
}

for (const dialect of ['1.0', '0.3'] as const) {
  const clientOf = ({ at, config, options }: Setup = {}): Promise<Client> =>
    new ClientFactory({
      transports: [new StrictTransportFactory({ dispatcher, ...options })],
      ...(config && { clientConfig: config }),
    }).createFromAgentCard(agent.card({ protocolVersion: dialect, ...at }));
  const peerOf = (): Promise<Client> =>
    new ClientFactory({ transports: [sdkTransport()] }).createFromAgentCard(
      agent.card({ protocolVersion: dialect }),
    );

  describe(`The SDK's client over the strict transport in ${dialect}`, LIMIT, () => {
    test('speaks the dialect of the interface', async () => {
      const client = await clientOf();
      assert.equal(client.protocolVersion, dialect);
      assert.equal(client.transport.protocolName, 'JSONRPC');
      await client.sendMessage(request('speak'));
      assert.equal(last().body?.method, dialect === '1.0' ? 'SendMessage' : 'message/send');
      assert.equal(last().headers['a2a-version'], dialect === '1.0' ? '1.0' : undefined);
    });

    test('sends a message and has a task or a message for an answer', async () => {
      const client = await clientOf();
      const task = taskOf(await client.sendMessage(request('work')));
      assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED);
      assert.deepEqual(
        task.artifacts[0]?.parts.map(({ content }) => (content?.$case === 'text' ? content.value : undefined)),
        ['one', 'two'],
      );
      const message = await client.sendMessage(request('speak'));
      assert.ok('parts' in message);
      assert.deepEqual(message.parts[0]?.content, { $case: 'text', value: 'spoken' });
    });

    test('goes on with a task that asked for input', async () => {
      const client = await clientOf();
      const task = taskOf(await client.sendMessage(request('ask')));
      assert.equal(task.status?.state, TaskState.TASK_STATE_INPUT_REQUIRED);
      const { id: taskId, contextId } = task;
      const ended = taskOf(await client.sendMessage(request('work', { taskId, contextId })));
      assert.equal(ended.id, taskId);
      assert.equal(ended.status?.state, TaskState.TASK_STATE_COMPLETED);
    });

    test('reads tasks, push configs and the extended card as the SDK’s own transport reads them', async () => {
      const [client, peer] = [await clientOf(), await peerOf()];
      const { id } = taskOf(await client.sendMessage(request('work')));
      const config = { tenant: '', taskId: id, id: 'c-1', url: 'https://example.com/hook', token: 'not-a-secret', authentication: undefined };
      const created = await client.createTaskPushNotificationConfig(config);
      assert.equal(created.url, config.url);
      const of = { tenant: '', taskId: id, id: 'c-1' };
      const listed = { tenant: '', taskId: id, pageSize: 0, pageToken: '' };
      const asks: ((one: Client) => Promise<unknown>)[] = [
        (one) => one.getTask({ tenant: '', id, historyLength: undefined }),
        (one) => one.getTask({ tenant: '', id, historyLength: 1 }),
        (one) => one.getTaskPushNotificationConfig(of),
        (one) => one.listTaskPushNotificationConfig(listed),
        (one) => one.getAgentCard(),
      ];
      for (const ask of asks) assert.deepEqual(plain(await ask(client)), plain(await ask(peer)), ask.toString());
      assert.equal((await client.getAgentCard()).name, 'worker, seen from inside');
      assert.equal((await client.listTaskPushNotificationConfig(listed)).configs.length, 1);
      await client.deleteTaskPushNotificationConfig(of);
      assert.equal((await client.listTaskPushNotificationConfig(listed)).configs.length, 0);
    });

    test('lists tasks where the dialect can', async () => {
      const client = await clientOf();
      const { id, contextId } = taskOf(await client.sendMessage(request('work')));
      const ask = client.listTasks({
        tenant: '',
        contextId,
        status: TaskState.TASK_STATE_UNSPECIFIED,
        pageToken: '',
        statusTimestampAfter: undefined,
      });
      if (dialect === '1.0') {
        const { tasks } = await ask;
        assert.deepEqual(
          tasks.map((task) => task.id),
          [id],
        );
      } else {
        assert.equal(failureOf(await thrown(ask))?.rule, 'options.operation');
      }
    });

    test('polls, and cancels', async () => {
      const client = await clientOf({ config: { polling: true } });
      const task = taskOf(await client.sendMessage(request('wait')));
      const read = (): Promise<Task> => client.getTask({ tenant: '', id: task.id, historyLength: undefined });
      assert.equal(last().body?.method, dialect === '1.0' ? 'SendMessage' : 'message/send');
      assert.notEqual((await read()).status?.state, TaskState.TASK_STATE_CANCELED);
      const canceled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
      assert.equal(canceled.status?.state, TaskState.TASK_STATE_CANCELED);
      assert.equal((await read()).status?.state, TaskState.TASK_STATE_CANCELED);
    });

    test('streams a task, and a message', async () => {
      const client = await clientOf();
      const events = await collect(client.sendMessageStream(request('work')));
      assert.deepEqual(kinds(events), ['task', 'statusUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate']);
      assert.deepEqual(kinds(await collect(client.sendMessageStream(request('speak')))), ['message']);
    });

    test('sends instead of streaming where the card says that the agent does not stream', async () => {
      const factory = new ClientFactory({ transports: [new StrictTransportFactory({ dispatcher })] });
      const card = agent.card({ protocolVersion: dialect });
      card.capabilities = { streaming: false, pushNotifications: false, extensions: [], extendedAgentCard: false };
      const client = await factory.createFromAgentCard(card);
      assert.deepEqual(kinds(await collect(client.sendMessageStream(request('work')))), ['task']);
      assert.deepEqual(kinds(await collect(client.sendMessageStream(request('speak')))), ['message']);
    });

    test('subscribes again to a task whose stream was left', async () => {
      const client = await clientOf();
      let id = '';
      for await (const { payload } of client.sendMessageStream(request('wait'))) {
        if (payload?.$case === 'task') id = payload.value.id;
        if (payload?.$case === 'statusUpdate') break;
      }
      const subscribed = client.resubscribeTask({ tenant: '', id });
      const first = await subscribed.next();
      assert.equal(first.done, false);
      assert.equal(first.value.payload?.$case, 'task');
      await client.cancelTask({ tenant: '', id, metadata: undefined });
      const rest = await collect(subscribed);
      const end = rest.at(-1)?.payload;
      assert.equal(end?.$case, 'statusUpdate');
      assert.equal(end.value.status?.state, TaskState.TASK_STATE_CANCELED);
    });

    test('ends a call and a stream by the signal of its options', async () => {
      const client = await clientOf();
      const polled = taskOf(await (await clientOf({ config: { polling: true } })).sendMessage(request('wait')));
      const waiting = new AbortController();
      const subscribed = client.resubscribeTask({ tenant: '', id: polled.id }, { signal: waiting.signal });
      await subscribed.next();
      const next = subscribed.next();
      waiting.abort();
      assert.equal(failureOf(await thrown(next))?.rule, 'canceled.signal');
      const called = new AbortController();
      const call = client.sendMessage(request('wait'), { signal: called.signal });
      setTimeout(() => {
        called.abort();
      }, 50);
      assert.equal(failureOf(await thrown(call))?.rule, 'canceled.signal');
      const timed = client.sendMessage(request('wait'), { signal: AbortSignal.timeout(50) });
      assert.equal(failureOf(await thrown(timed))?.rule, 'deadline.signal');
    });

    test('sends service parameters as headers, and extensions under the name of the dialect', async () => {
      const client = await clientOf({ options: { headers: { 'x-every': 'call', 'x-both': 'options' } } });
      const options: RequestOptions = {
        serviceParameters: ServiceParameters.create(withA2AExtensions(EXTENSION, 'urn:two'), (all) => {
          all['X-Trace'] = 'abc';
          all['X-Both'] = 'call';
        }),
      };
      await client.sendMessage(request('speak'), options);
      const { headers } = last();
      assert.equal(headers[dialect === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions'], `${EXTENSION}, urn:two`);
      assert.equal(headers[dialect === '1.0' ? 'x-a2a-extensions' : 'a2a-extensions'], undefined);
      assert.equal(headers['x-trace'], 'abc');
      assert.equal(headers['x-every'], 'call');
      assert.equal(headers['x-both'], 'call');
    });

    test('runs the SDK’s interceptors, which may add parameters, change input and output, and answer by themselves', async () => {
      guard.authorization = 'Bearer fake-token';
      const seen: string[] = [];
      const bearer: CallInterceptor = {
        before: (args) => {
          const { input } = args as { input: { method: string; value?: { id?: string } } };
          seen.push(input.method);
          if (input.value?.id === 'known') {
            args.earlyReturn = { method: 'getTask', value: { id: 'known' } as Task };
          }
          args.options = {
            ...args.options,
            serviceParameters: { ...args.options?.serviceParameters, Authorization: 'Bearer fake-token' },
          };
          return Promise.resolve();
        },
        after: ({ result }) => {
          if (result?.method === 'sendMessage' && 'artifacts' in result.value) result.value.artifacts = [];
          return Promise.resolve();
        },
      };
      const client = await clientOf({ config: { interceptors: [bearer] } });
      assert.deepEqual(taskOf(await client.sendMessage(request('work'))).artifacts, []);
      const arrived = agent.arrived.length;
      assert.deepEqual(await client.getTask({ tenant: '', id: 'known', historyLength: undefined }), { id: 'known' });
      assert.equal(agent.arrived.length, arrived);
      assert.equal((await collect(client.sendMessageStream(request('work')))).length, 5);
      assert.deepEqual(seen, ['sendMessage', 'getTask', 'sendMessageStream']);
      const refused = await thrown((await clientOf()).sendMessage(request('work')));
      assert.ok(refused instanceof Failure);
      assert.equal(refused.rule, 'http.status');
      assert.equal(refused.status, 401);
    });

    test('throws the SDK’s typed errors for what the agent says no to, with the failure behind them', async () => {
      const client = await clientOf();
      const { id } = taskOf(await client.sendMessage(request('work')));
      const unknown = { tenant: '', id: 'none', historyLength: undefined };
      const missing = await thrown(client.getTask(unknown));
      assert.ok(missing instanceof TaskNotFoundError);
      assert.ok(isJsonRpcError(missing));
      assert.equal(missing.name, 'TaskNotFoundError');
      const failure = failureOf(missing);
      assert.equal(failure?.kind, 'remote_agent');
      assert.equal(failure.code, -32001);
      assert.ok(failure.unwrap() instanceof RemoteError);
      assert.equal(missing.cause, failure);
      assert.deepEqual(Object.keys(missing).includes('cause'), false);
      const ended = await thrown(client.cancelTask({ tenant: '', id, metadata: undefined }));
      assert.ok(ended instanceof TaskNotCancelableError);
      const unsubscribed = await thrown(client.resubscribeTask({ tenant: '', id: 'none' }).next());
      assert.ok(unsubscribed instanceof TaskNotFoundError);
      assert.equal(failureOf(unsubscribed)?.rule, 'remote.error');
      const peers = await thrown((await peerOf()).getTask(unknown));
      assert.ok(peers instanceof TaskNotFoundError);
      assert.equal(missing.message, peers.message);
    });

    test('leaves the SDK’s own refusals to the SDK', async () => {
      const card = agent.card({ protocolVersion: dialect });
      card.capabilities = { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false };
      const client = await new ClientFactory({ transports: [new StrictTransportFactory({ dispatcher })] }).createFromAgentCard(card);
      assert.throws(() => client.getTaskPushNotificationConfig({ tenant: '', taskId: 't', id: 'c' }), PushNotificationNotSupportedError);
      assert.equal(await client.getAgentCard(), card);
    });
  });
}

describe('The SDK’s tenant decorator over the strict transport', LIMIT, () => {
  const clientAt = (at: Partial<AgentInterface>): Promise<Client> =>
    new ClientFactory({ transports: [new StrictTransportFactory({ dispatcher })] }).createFromAgentCard(agent.card(at));

  test('puts the tenant of the interface into each request of 1.0', async () => {
    const client = await clientAt({ tenant: 'acme' });
    const { id } = taskOf(await client.sendMessage(request('work')));
    assert.equal(last().body?.params?.['tenant'], 'acme');
    await client.getTask({ tenant: '', id, historyLength: undefined });
    await client.getTask({ tenant: 'other', id, historyLength: undefined }).catch(() => undefined);
    await client.getAgentCard();
    await collect(client.sendMessageStream(request('work')));
    assert.deepEqual(
      agent.arrived.map(({ body }) => [body?.method, body?.params?.['tenant']]),
      [
        ['SendMessage', 'acme'],
        ['GetTask', 'acme'],
        ['GetTask', 'other'],
        ['GetExtendedAgentCard', 'acme'],
        ['SendStreamingMessage', 'acme'],
      ],
    );
  });

  test('asks for what 0.3 cannot say: nothing is sent', async () => {
    const client = await clientAt({ tenant: 'acme', protocolVersion: '0.3' });
    const failures = [
      await thrown(client.sendMessage(request('work'))),
      await thrown(client.getAgentCard()),
      await thrown(client.sendMessageStream(request('work')).next()),
    ].map(failureOf);
    for (const failure of failures) assert.deepEqual([failure?.rule, failure?.delivery], ['options.dialect', 'not_sent']);
    assert.equal(agent.arrived.length, 0);
  });
});
