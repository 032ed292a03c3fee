/**
 * What the demonstration's agent does, whatever serves it: it measures the text that it is sent, and reports each measure as one more
 * chunk of an artifact. Whoever knows the text can check that what arrived is what was sent.
 */
import { TaskState, type AgentCard, type Message, type Task } from '@a2a-js/sdk';
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server';
import { createHash } from 'node:crypto';
import { textOfParts } from '../../text/reply.js';

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

/** Runs before each chunk of a task, and holds it back meanwhile; `chunk` counts from 0. */
export type BeforeChunk = (chunk: number) => Promise<void>;

export class Measurer implements AgentExecutor {
  readonly #beforeChunk: BeforeChunk | undefined;
  /** What ends the wait of a task that waits. */
  readonly #waiting = new Map<string, () => void>();

  constructor(beforeChunk?: BeforeChunk) {
    this.#beforeChunk = beforeChunk;
  }

  execute = async ({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    bus.publish(AgentEvent.task(taskOf(taskId, contextId, userMessage)));
    if (userMessage.metadata?.['wait'] === true) {
      await new Promise<void>((resolve) => this.#waiting.set(taskId, resolve));
      publishState(bus, taskId, contextId, TaskState.TASK_STATE_CANCELED);
      return;
    }
    const chunks = measure(textOfParts(userMessage));
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

/** @param url where both dialects are spoken */
export function measurerCard(url: string): AgentCard {
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
