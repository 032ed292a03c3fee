/** `strictFetch` under what the SDK has that takes a `fetchImpl`. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, mock, test } from 'node:test';
import { TaskState, type SendMessageRequest } from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  createAuthenticatingFetchWithRetry,
  type AuthenticationHandler,
  type Client,
} from '@a2a-js/sdk/client';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import { Agent } from 'undici';
import { Failure } from '../../lib/index.js';
import { strictFetch } from '../../lib/sdk/index.js';
import { guard, startAgent, userMessage, type RunningAgent } from './agent.js';
import { sdkRestTransport, sdkTransport } from './card.js';

const LIMIT = { timeout: 20_000 };

let agent: RunningAgent;
const dispatcher = new Agent();
const fetchImpl = strictFetch(dispatcher, { maxResponseBytes: 1 << 20, timeoutMs: 10_000 });

before(async () => {
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

const request = (text: string): SendMessageRequest => ({
  tenant: '',
  message: userMessage(text),
  configuration: undefined,
  metadata: undefined,
});

const TRANSPORTS = [
  ['REST transport', 'HTTP+JSON', '1.0', sdkRestTransport],
  ['JSON-RPC transport', 'JSONRPC', '1.0', sdkTransport],
  ['JSON-RPC transport of 0.3', 'JSONRPC', '0.3', sdkTransport],
] as const;

for (const [what, protocolBinding, protocolVersion, transport] of TRANSPORTS) {
  const clientOver = (fetching: typeof fetch): Promise<Client> =>
    new ClientFactory({ transports: [transport(fetching)] }).createFromAgentCard(
      agent.card({ protocolBinding, protocolVersion, url: protocolBinding === 'JSONRPC' ? agent.rpc : agent.rest }),
    );

  describe(`The SDK’s ${what} over strictFetch`, LIMIT, () => {
    test('sends, reads, configures, cancels', async () => {
      const client = await clientOver(fetchImpl);
      const task = await client.sendMessage(request('work'));
      assert.ok('status' in task);
      assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED);
      assert.equal((await client.getTask({ tenant: '', id: task.id, historyLength: 1 })).id, task.id);
      const of = { tenant: '', taskId: task.id, id: 'c-1' };
      await client.createTaskPushNotificationConfig({ ...of, url: 'https://example.com/hook', token: '', authentication: undefined });
      assert.equal((await client.getTaskPushNotificationConfig(of)).id, 'c-1');
      await client.deleteTaskPushNotificationConfig(of);
      const { configs } = await client.listTaskPushNotificationConfig({ tenant: '', taskId: task.id, pageSize: 0, pageToken: '' });
      assert.deepEqual(configs, []);
      assert.equal((await client.getAgentCard()).name, 'worker, seen from inside');
      const missing = client.getTask({ tenant: '', id: 'none', historyLength: undefined });
      await assert.rejects(missing, TaskNotFoundError);
    });

    test('streams, and leaves a stream', async () => {
      const client = await clientOver(fetchImpl);
      const kinds: (string | undefined)[] = [];
      for await (const { payload } of client.sendMessageStream(request('work'))) kinds.push(payload?.$case);
      assert.deepEqual(kinds, ['task', 'statusUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate']);
      let id = '';
      for await (const { payload } of client.sendMessageStream(request('wait'))) {
        if (payload?.$case === 'task') id = payload.value.id;
        else break;
      }
      const canceled = await client.cancelTask({ tenant: '', id, metadata: undefined });
      assert.equal(canceled.status?.state, TaskState.TASK_STATE_CANCELED);
    });

    test('ends by the signal', async () => {
      const client = await clientOver(fetchImpl);
      const mine = new AbortController();
      const stream = client.sendMessageStream(request('wait'), { signal: mine.signal });
      await stream.next();
      await stream.next();
      const next = stream.next();
      mine.abort();
      await assert.rejects(next, (error) => error instanceof Failure && error.rule === 'canceled.signal');
    });

    test('has a failure where an answer is over its bound, and not a byte of it', async () => {
      const client = await clientOver(strictFetch(dispatcher, { maxResponseBytes: 100 }));
      await assert.rejects(client.sendMessage(request('work')), (error) => error instanceof Failure && error.rule === 'limit.response_bytes');
    });

    test('is authenticated by the SDK’s wrapper, which asks again once after a 401', async () => {
      guard.authorization = 'Bearer fake-new';
      let token = 'fake-old';
      const kept: string[] = [];
      const handler: AuthenticationHandler = {
        headers: () => Promise.resolve({ Authorization: `Bearer ${token}` }),
        shouldRetryWithHeaders: (_request, { status, headers }) => {
          if (status !== 401) return Promise.resolve(undefined);
          assert.equal(headers.get('WWW-Authenticate'), 'Bearer');
          return Promise.resolve({ Authorization: 'Bearer fake-new' });
        },
        onSuccessfulRetry: ({ Authorization = '' }) => {
          kept.push(Authorization);
          token = 'fake-new';
          return Promise.resolve();
        },
      };
      const client = await clientOver(createAuthenticatingFetchWithRetry(fetchImpl, handler));
      const task = await client.sendMessage(request('work'));
      assert.ok('status' in task);
      const events: unknown[] = [];
      for await (const event of client.sendMessageStream(request('work'))) events.push(event);
      assert.equal(events.length, 5);
      assert.deepEqual(kept, ['Bearer fake-new']);
      assert.deepEqual(
        agent.arrived.map(({ headers }) => headers['authorization']),
        ['Bearer fake-old', 'Bearer fake-new', 'Bearer fake-new'],
      );
    });
  });
}

describe('The SDK’s card resolver over strictFetch', LIMIT, () => {
  test('has the card', async () => {
    const card = await new DefaultAgentCardResolver({ fetchImpl }).resolve(agent.origin);
    assert.equal(card.name, 'worker');
    const { method, path, headers } = agent.arrived[0] ?? assert.fail();
    assert.deepEqual([method, path, headers['a2a-version']], ['GET', '/.well-known/agent-card.json', '1.0']);
  });

  test('has its own error for a status, and a failure for what is over the bound', async () => {
    await assert.rejects(new DefaultAgentCardResolver({ fetchImpl }).resolve(agent.origin, '/none'), /404/);
    const small = new DefaultAgentCardResolver({ fetchImpl: strictFetch(dispatcher, { maxResponseBytes: 10 }) });
    await assert.rejects(small.resolve(agent.origin), (error) => error instanceof Failure && error.rule === 'limit.response_bytes');
  });
});
