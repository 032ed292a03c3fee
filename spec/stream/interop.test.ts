/** Streams of the official SDK's own server, in both dialects. It sends no ids, and reports errors in an event of its own. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, mock, test } from 'node:test';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore, type AgentExecutor } from '@a2a-js/sdk/server';
import { UserBuilder, jsonRpcHandler } from '@a2a-js/sdk/server/express';
import express from 'express';
import { Agent } from 'undici';
import {
  Failure,
  RemoteError,
  Role,
  StrictClient,
  TaskState,
  userText,
  type AgentCard,
  type EventStream,
  type FailureRule,
  type Message,
  type Part,
  type StreamItem,
  type StreamOptions,
} from '../../lib/index.js';
import { DIALECTS } from './results.js';

const textPart = (value: string): Part => ({ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' });

/** Resolves what the executor below waits for in `wait`. */
let release: () => void = () => undefined;

/** Does what the message's text says. */
const executor: AgentExecutor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const [part] = userMessage.parts;
    const order = part?.content?.$case === 'text' ? part.content.value : '';
    const say = (state: TaskState): void => {
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: { state, message: undefined, timestamp: new Date().toISOString() },
          metadata: undefined,
        }),
      );
    };
    const bring = (text: string, lastChunk: boolean): void => {
      const artifact = { artifactId: 'a', name: '', description: '', parts: [textPart(text)], metadata: undefined, extensions: [] };
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: text !== 'one', lastChunk, metadata: undefined }));
    };
    if (order === 'speak') {
      const message: Message = {
        messageId: 'm-1',
        contextId,
        taskId: '',
        role: Role.ROLE_AGENT,
        parts: [textPart('spoken')],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      };
      bus.publish(AgentEvent.message(message));
      bus.finished();
      return;
    }
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() };
    bus.publish(AgentEvent.task({ id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined }));
    say(TaskState.TASK_STATE_WORKING);
    if (order === 'throw') throw new Error('broken agent');
    if (order === 'wait') await new Promise<void>((resolve) => (release = resolve));
    if (order === 'ask') {
      say(TaskState.TASK_STATE_INPUT_REQUIRED);
    } else {
      for (const text of ['one', 'two', 'three']) bring(text, text === 'three');
      say(TaskState.TASK_STATE_COMPLETED);
    }
    bus.finished();
  },
  async cancelTask(taskId, bus) {
    const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: new Date().toISOString() };
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status, metadata: undefined }));
    bus.finished();
    return Promise.resolve();
  },
};

class FailingStore extends InMemoryTaskStore {
  /** From the how manieth save on it fails. */
  failsFrom = Infinity;
  #saves = 0;

  reset(failsFrom = Infinity): void {
    this.failsFrom = failsFrom;
    this.#saves = 0;
  }

  override save(...given: Parameters<InMemoryTaskStore['save']>): Promise<void> {
    this.#saves++;
    if (this.#saves >= this.failsFrom) return Promise.reject(new Error('broken store'));
    return super.save(...given);
  }
}

const store = new FailingStore();
const dispatcher = new Agent();
const client = new StrictClient(dispatcher);
const app = express();
const server = http.createServer(app);
let connections = 0;
server.on('connection', () => connections++);
let endpoint = '';

before(async () => {
  // The SDK reports what it does to the console.
  for (const name of ['log', 'warn', 'error'] as const) mock.method(console, name, () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const card: AgentCard = {
    name: 'worker',
    description: 'does what it is told',
    version: '1',
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
      url: endpoint,
      protocolBinding: 'JSONRPC',
      tenant: '',
      protocolVersion,
    })),
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
    iconUrl: '',
    documentationUrl: '',
  };
  const requestHandler = new DefaultRequestHandler(card, store, executor);
  app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } }));
});
beforeEach(() => {
  store.reset();
});
after(async () => {
  mock.restoreAll();
  await dispatcher.destroy();
  server.closeAllConnections();
  server.close();
});

async function read(
  stream: EventStream,
  each: (item: StreamItem) => void = () => undefined,
): Promise<{ items: StreamItem[]; failure: Failure | undefined }> {
  const items: StreamItem[] = [];
  try {
    for await (const item of stream) {
      items.push(item);
      each(item);
    }
  } catch (failure) {
    assert.ok(failure instanceof Failure, String(failure));
    return { items, failure };
  }
  return { items, failure: undefined };
}

const kinds = (items: readonly StreamItem[]): string[] => items.map(({ event }) => event.$case);
const stateOf = (item: StreamItem | undefined): TaskState | undefined =>
  item?.event.$case === 'task' || item?.event.$case === 'statusUpdate' ? item.event.value.status?.state : undefined;

for (const dialect of DIALECTS) {
  const options = (more: Partial<StreamOptions> = {}): StreamOptions => ({
    endpoint,
    protocolVersion: dialect,
    maxResponseBytes: 1 << 20,
    maxEventBytes: 1 << 20,
    eventIds: 'optional',
    timeoutMs: 10_000,
    ...more,
  });
  const send = (text: string, more?: Partial<StreamOptions>): EventStream =>
    client.sendStreamingMessage(options(more), { message: userText(text) });

  describe(`The official server in ${dialect}`, () => {
    test('streams a task to its end, and its connection serves the next stream', async () => {
      const first = await read(send('work'));
      assert.equal(first.failure, undefined);
      assert.deepEqual(kinds(first.items), ['task', 'statusUpdate', 'artifactUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate']);
      assert.deepEqual(
        first.items.map(({ id }) => id),
        Array(6).fill(undefined),
      );
      const texts = first.items.map(({ event }) =>
        event.$case === 'artifactUpdate' ? event.value.artifact?.parts[0]?.content : undefined,
      );
      assert.deepEqual(
        texts.slice(2, 5),
        ['one', 'two', 'three'].map((value) => ({ $case: 'text', value })),
      );
      assert.equal(stateOf(first.items.at(-1)), TaskState.TASK_STATE_COMPLETED);
      for (const { raw } of first.items) assert.equal(typeof JSON.parse(Buffer.from(raw).toString()), 'object');
      await new Promise((resolve) => setTimeout(resolve, 20));
      const before = connections;
      await read(send('work'));
      assert.equal(connections, before);
    });

    test('streams a message', async () => {
      const { items, failure } = await read(send('speak'));
      assert.equal(failure, undefined);
      assert.deepEqual(kinds(items), ['message']);
    });

    test('ends a stream where it needs input', async () => {
      const { items, failure } = await read(send('ask'));
      assert.equal(failure, undefined);
      assert.equal(stateOf(items.at(-1)), TaskState.TASK_STATE_INPUT_REQUIRED);
    });

    test('is subscribed to from beside', async () => {
      let subscribed: ReturnType<typeof read> | undefined;
      const sent = await read(send('wait'), ({ event }) => {
        if (event.$case !== 'statusUpdate' || event.value.status?.state !== TaskState.TASK_STATE_WORKING) return;
        subscribed = read(client.subscribeToTask(options(), { id: event.value.taskId }), (item) => {
          if (item.event.$case === 'task') release();
        });
      });
      assert.equal(sent.failure, undefined);
      const { items, failure } = (await subscribed) ?? assert.fail('never worked');
      assert.equal(failure, undefined);
      assert.equal(items[0]?.event.$case, 'task');
      assert.equal(stateOf(items.at(-1)), TaskState.TASK_STATE_COMPLETED);
      assert.deepEqual(kinds(items).slice(-4), ['artifactUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate']);
    });

    test('refuses a subscription to a task that it does not have', async () => {
      const { items, failure } = await read(client.subscribeToTask(options(), { id: 'none' }));
      assert.deepEqual(items, []);
      assert.equal(failure?.rule, 'remote.error');
      assert.equal(failure.code, -32_001);
      assert.equal(failure.status, 200);
      assert.ok(failure.unwrap() instanceof RemoteError);
    });

    test('reports an agent that throws as a task that failed', async () => {
      const { items, failure } = await read(send('throw'));
      assert.equal(failure, undefined);
      assert.equal(stateOf(items.at(-1)), TaskState.TASK_STATE_FAILED);
    });

    test('reports a fault in the middle of a stream as the failure behind the events before it', async () => {
      store.reset(3);
      const { items, failure } = await read(send('work'));
      assert.equal(failure?.rule satisfies FailureRule | undefined, 'remote.error');
      assert.ok(items.length >= 1, 'events came before');
      assert.equal(items[0]?.event.$case, 'task');
      assert.equal(failure?.status, 200);
    });

    test('sends no ids, which the default refuses', async () => {
      const { items, failure } = await read(send('work', { eventIds: 'required' }));
      assert.deepEqual(items, []);
      assert.equal(failure?.rule, 'sse.id_missing');
    });

    test('is left in the middle, and stays a server', async () => {
      for await (const { event } of send('work')) if (event.$case === 'artifactUpdate') break;
      const { failure } = await read(send('work'));
      assert.equal(failure, undefined);
    });
  });
}
