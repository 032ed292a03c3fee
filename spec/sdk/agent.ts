/** An agent made with the official SDK's server that has all that its client can ask for; it tells what it was sent. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Role, TaskState, type AgentCard, type AgentInterface, type Message, type Part } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultExecutionEventBusManager,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import express, { type RequestHandler } from 'express';

/** A request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: { readonly method?: string; readonly params?: Record<string, unknown> } | undefined;
}

export interface RunningAgent {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** JSON-RPC in both dialects. */
  readonly rpc: string;
  /** HTTP+JSON. */
  readonly rest: string;
  readonly arrived: Arrived[];
  /** Connections that are open. */
  connections(): Promise<number>;
  /** A card with these interfaces alone. */
  card(...interfaces: Partial<AgentInterface>[]): AgentCard;
  close(): Promise<void>;
}

/** What the agent asks for, where the test says so: the value of `authorization`. */
export interface Guard {
  authorization: string | undefined;
}

export const guard: Guard = { authorization: undefined };

export async function startAgent(): Promise<RunningAgent> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [rpc, rest] = [`${origin}/rpc`, `${origin}/rest`];
  const card = (...interfaces: Partial<AgentInterface>[]): AgentCard => ({
    name: 'worker',
    description: 'does what it is told',
    version: '1',
    supportedInterfaces: interfaces.map((one) => ({ url: rpc, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0', ...one })),
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: true, extensions: [], extendedAgentCard: true },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  });
  const own = card({}, { protocolVersion: '0.3' }, { url: rest, protocolBinding: 'HTTP+JSON' });
  const requestHandler = new DefaultRequestHandler(
    own,
    new InMemoryTaskStore(),
    new Worker(),
    new DefaultExecutionEventBusManager(),
    new InMemoryPushNotificationStore(),
    { send: () => Promise.resolve() },
    () => Promise.resolve({ ...own, name: 'worker, seen from inside' }),
  );
  const arrived: Arrived[] = [];
  const note: RequestHandler = ({ method, path, headers, body }, response, next) => {
    arrived.push({ method, path, headers, body: body as Arrived['body'] });
    if (guard.authorization === undefined || headers.authorization === guard.authorization) next();
    else response.status(401).set('www-authenticate', 'Bearer').json({ error: 'who are you?' });
  };
  const shared = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } };
  const app = express();
  app.use(express.json());
  app.use(note);
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler(shared));
  app.use('/rest', restHandler({ ...shared, legacyCompat: { enabled: false } }));
  server.on('request', (request, response) => {
    app(request, response);
  });
  return {
    origin,
    rpc,
    rest,
    arrived,
    card,
    connections: () =>
      new Promise((resolve) => {
        server.getConnections((_error, count) => {
          resolve(count);
        });
      }),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const textPart = (value: string): Part => ({ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' });

export function userMessage(text: string, more: Partial<Message> = {}): Message {
  return {
    messageId: crypto.randomUUID(),
    role: Role.ROLE_USER,
    parts: [textPart(text)],
    taskId: '',
    contextId: '',
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
}

/** Does what the message's text says: `work`, `speak`, `ask`, `wait` (until it is canceled). */
class Worker implements AgentExecutor {
  readonly #waiting = new Map<string, () => void>();

  execute = async ({ taskId, contextId, userMessage: message }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const [part] = message.parts;
    const order = part?.content?.$case === 'text' ? part.content.value : '';
    const say = (state: TaskState): void => {
      const status = { state, message: undefined, timestamp: new Date().toISOString() };
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
    };
    if (order === 'speak') {
      bus.publish(AgentEvent.message(userMessage('spoken', { role: Role.ROLE_AGENT, contextId })));
      bus.finished();
      return;
    }
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() };
    bus.publish(AgentEvent.task({ id: taskId, contextId, status, artifacts: [], history: [message], metadata: undefined }));
    say(TaskState.TASK_STATE_WORKING);
    if (order === 'ask') {
      say(TaskState.TASK_STATE_INPUT_REQUIRED);
    } else if (order === 'wait') {
      await new Promise<void>((resolve) => this.#waiting.set(taskId, resolve));
      say(TaskState.TASK_STATE_CANCELED);
    } else {
      for (const text of ['one', 'two']) {
        const artifact = { artifactId: 'a', name: '', description: '', parts: [textPart(text)], metadata: undefined, extensions: [] };
        bus.publish(
          AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: text !== 'one', lastChunk: text === 'two', metadata: undefined }),
        );
      }
      say(TaskState.TASK_STATE_COMPLETED);
    }
    bus.finished();
  };

  cancelTask = (taskId: string): Promise<void> => {
    this.#waiting.get(taskId)?.();
    this.#waiting.delete(taskId);
    return Promise.resolve();
  };
}
