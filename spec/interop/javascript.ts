/** The agent of the suite on the JavaScript SDK: 1.0, and 0.3 by the SDK's own compatibility layer, at one URL. */
import { AgentCard, Role, TaskState, type Message, type Part } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler } from '@a2a-js/sdk/server/express';
import express from 'express';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pass } from 'node:timers/promises';
import type { RunningAgent } from './agents.js';

/** In this process. */
export async function startJavaScriptAgent(): Promise<RunningAgent> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const requestHandler = new DefaultRequestHandler(
    cardOf(url),
    new InMemoryTaskStore(),
    new Obedient(),
    undefined,
    new InMemoryPushNotificationStore(),
  );
  const legacyCompat = { enabled: true };
  const app = express();
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
  app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat }));
  server.on('request', (request, response) => {
    app(request, response);
  });
  return {
    url,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Does what the first word of a message says: the words are those of `python/agent.py`. */
class Obedient implements AgentExecutor {
  /** Slow tasks that have not been canceled. */
  readonly #working = new Set<string>();

  execute = async (context: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, contextId, userMessage, task } = context;
    const [, word = '', rest = ''] = /^(\S*) ?(.*)$/su.exec(textOf(userMessage)) ?? [];
    if (word === 'say') {
      bus.publish(AgentEvent.message({ ...agentMessage(rest), contextId }));
      return;
    }
    // The SDK wants a task or a message first, also where a task goes on.
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() };
    const known = task ?? { id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined };
    bus.publish(AgentEvent.task({ ...known, status }));
    const tell = (state: TaskState, text?: string): void => {
      const message = text === undefined ? undefined : { ...agentMessage(text), taskId, contextId };
      const status = { state, message, timestamp: new Date().toISOString() };
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
    };
    const bring = (artifactId: string, parts: Part[], append = false, lastChunk = false): void => {
      const artifact = { artifactId, name: '', description: '', parts, metadata: undefined, extensions: [] };
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk, metadata: undefined }));
    };
    tell(TaskState.TASK_STATE_WORKING);
    switch (word) {
      case 'ask':
        tell(TaskState.TASK_STATE_INPUT_REQUIRED, 'what?');
        return;
      case 'fail':
        tell(TaskState.TASK_STATE_FAILED, 'as told');
        return;
      case 'throw':
        throw new Error('broken as told');
      case 'slow':
        this.#working.add(taskId);
        while (this.#working.has(taskId)) {
          tell(TaskState.TASK_STATE_WORKING);
          await pass(100);
        }
        tell(TaskState.TASK_STATE_CANCELED);
        return;
      case 'quiet':
        await pass(Number(rest));
        break;
      case 'stream':
        for (const chunk of ['one', 'two', 'three']) bring('chunks', [textPart(chunk)], chunk !== 'one', chunk === 'three');
        break;
      case 'parts':
        bring('parts', everyPart());
        break;
      default:
        bring('echo', [textPart(rest)]);
    }
    tell(TaskState.TASK_STATE_COMPLETED);
  };

  cancelTask = (taskId: string): Promise<void> => {
    this.#working.delete(taskId);
    return Promise.resolve();
  };
}

function textOf({ parts }: Message): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' };
}

function everyPart(): Part[] {
  const plain = { metadata: undefined, filename: '', mediaType: '' };
  return [
    textPart('grüß ☃'),
    { ...plain, content: { $case: 'data', value: { n: 1.5, list: [true, null], deep: { text: 'x' } } } },
    {
      ...plain,
      content: { $case: 'raw', value: Buffer.from([0, 250, 255, 62, 63]) },
      mediaType: 'application/octet-stream',
      filename: 'five.bin',
    },
    { ...plain, content: { $case: 'url', value: 'https://agent.example/file' }, mediaType: 'text/plain' },
  ];
}

function agentMessage(text: string): Message {
  return {
    messageId: randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_AGENT,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function cardOf(url: string): AgentCard {
  return AgentCard.fromJSON({
    name: 'Obedient',
    description: 'Does what the first word of a message says.',
    version: '1.0.0',
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({ url, protocolBinding: 'JSONRPC', protocolVersion })),
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'obey', name: 'Obey', description: 'Does as told.', tags: ['test'] }],
  });
}
