/**
 * A real A2A agent on a loopback port, made with the official SDK's server, speaking 1.0 and 0.3 at one URL.
 *
 * It measures the text that it is sent, and reports each measure as one more chunk of an artifact: whoever knows the text can check
 * that what arrived is what was sent.
 */
import { TaskState, type AgentCard, type Message, type Task } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler } from '@a2a-js/sdk/server/express';
import express, { type RequestHandler } from 'express';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the agent finds out about a text, one line a chunk. */
export function measure(text: string): string[] {
  const words = text.match(/\S+/gu)?.length ?? 0;
  return [
    `words ${String(words)}`,
    `bytes ${String(Buffer.byteLength(text))}`,
    `sha256 ${createHash('sha256').update(text).digest('hex')}`,
  ];
}

/** In a message's metadata: the task waits until it is canceled, and measures nothing. */
export const WAIT = { wait: true } as const;

export interface AgentSetup {
  /** Runs before each chunk of a task, and holds it back meanwhile; `chunk` counts from 0. */
  readonly beforeChunk?: (chunk: number) => Promise<void>;
  /** At `/cut`, the same agent: but each of its streams is closed, cleanly, after so many events. Absent: there is none. */
  readonly cutAfterEvents?: number;
}

export interface RunningAgent {
  /** `http://127.0.0.1:<port>/`: the JSON-RPC endpoint of both dialects, and the base URL below which the card is. */
  readonly url: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

export async function startAgent({ beforeChunk, cutAfterEvents }: AgentSetup = {}): Promise<RunningAgent> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;

  const requestHandler = new DefaultRequestHandler(cardOf(url), new InMemoryTaskStore(), new Measurer(beforeChunk));
  const rpc = jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } });
  const app = express();
  // The SDK's handler takes 100 kB at most, less than a command line may hold; a body that is parsed already it takes as it is.
  app.use(express.json({ limit: '16mb' }));
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  if (cutAfterEvents !== undefined) app.use('/cut', cutAfter(cutAfterEvents), rpc);
  app.use('/', rpc);
  server.on('request', (request, response) => {
    app(request, response);
  });

  return {
    url,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

class Measurer implements AgentExecutor {
  readonly #beforeChunk: AgentSetup['beforeChunk'];
  /** What ends the wait of a task that waits. */
  readonly #waiting = new Map<string, () => void>();

  constructor(beforeChunk: AgentSetup['beforeChunk']) {
    this.#beforeChunk = beforeChunk;
  }

  execute = async ({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    bus.publish(AgentEvent.task(taskOf(taskId, contextId, userMessage)));
    if (userMessage.metadata?.['wait'] === true) {
      await new Promise<void>((resolve) => this.#waiting.set(taskId, resolve));
      publishState(bus, taskId, contextId, TaskState.TASK_STATE_CANCELED);
      return;
    }
    const chunks = measure(textOf(userMessage));
    for (const [chunk, value] of chunks.entries()) {
      await this.#beforeChunk?.(chunk);
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: {
            artifactId: 'measures',
            name: 'measures',
            description: '',
            parts: [{ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' }],
            metadata: undefined,
            extensions: [],
          },
          append: chunk > 0,
          lastChunk: chunk === chunks.length - 1,
          metadata: undefined,
        }),
      );
    }
    publishState(bus, taskId, contextId, TaskState.TASK_STATE_COMPLETED);
  };

  cancelTask = (taskId: string): Promise<void> => {
    this.#waiting.get(taskId)?.();
    this.#waiting.delete(taskId);
    return Promise.resolve();
  };
}

function publishState(bus: ExecutionEventBus, taskId: string, contextId: string, state: TaskState): void {
  const status = { state, message: undefined, timestamp: new Date().toISOString() };
  bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
}

function taskOf(id: string, contextId: string, message: Message): Task {
  return {
    id,
    contextId,
    status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: new Date().toISOString() },
    artifacts: [],
    history: [message],
    metadata: undefined,
  };
}

/** The texts of what holds parts, one after the other. */
export function textOf({ parts }: Pick<Message, 'parts'>): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

/** Ends a response after so many writes of an event stream: one write is one event. What the agent still has to say goes nowhere. */
function cutAfter(events: number): RequestHandler {
  return (_request, response, next) => {
    const write = response.write.bind(response) as (chunk: string) => boolean;
    let left = events;
    response.write = (chunk: string): boolean => {
      if (left === 0) return true;
      left--;
      const flushed = write(chunk);
      if (left === 0) response.end();
      return flushed;
    };
    next();
  };
}

function cardOf(url: string): AgentCard {
  const rpc = { url, protocolBinding: 'JSONRPC', tenant: '' };
  return {
    name: 'Measurer',
    description: 'Measures a text: its words, its bytes, its SHA-256.',
    supportedInterfaces: [
      { ...rpc, protocolVersion: '1.0' },
      { ...rpc, protocolVersion: '0.3' },
    ],
    provider: undefined,
    version: '1.0.0',
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  };
}
