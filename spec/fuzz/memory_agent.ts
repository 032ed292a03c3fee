/** An agent in memory: a dispatcher that plays one answer to a client, and what the client makes of it. */
import type { Dispatcher } from 'undici';
import {
  Failure,
  Role,
  StrictClient,
  type CallOptions,
  type EventStream,
  type ProtocolVersion,
  type StreamItem,
  type StreamOptions,
} from '../../lib/index.js';
import { readJson } from './oracle_json.js';

/** What bodies say where the id of the request belongs: as long as one, so that no place in the body moves. */
export const ID = '0123456789abcdef0123456789abcdef';

export interface Answer {
  readonly status: number;
  /** Field names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** The chunks that the body comes in. */
  readonly cut: (body: Buffer) => readonly Buffer[];
  /** How the body ends: as it should, or with the connection. */
  readonly ending: 'end' | 'reset';
  /** Turns that the client is given between two chunks. */
  readonly pace: number;
}

export const JSON_HEADERS = ['content-type', 'application/json'];
export const EVENT_HEADERS = ['content-type', 'text/event-stream'];

/** Plays the answer as undici would: no chunk while it is paused, and nothing after an abort but the error. */
class Playing implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  readonly rawHeaders: Buffer[];
  readonly rawTrailers: Buffer[] = [];
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #answer: Answer;
  #resumed: (() => void) | undefined;

  constructor(handler: Dispatcher.DispatchHandler, answer: Answer) {
    this.#handler = handler;
    this.#answer = answer;
    this.rawHeaders = answer.headers.map((text) => Buffer.from(text, 'latin1'));
  }

  abort(reason: Error): void {
    this.aborted = true;
    this.reason = reason;
    this.resume();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#resumed?.();
  }

  async play(): Promise<void> {
    const { status, body, cut, ending, pace } = this.#answer;
    this.#handler.onRequestStart?.(this, {});
    this.#handler.onResponseStart?.(this, status, {}, '');
    for (const chunk of cut(body)) {
      for (let turn = 0; turn < pace; turn++) await Promise.resolve();
      while (this.paused && !this.aborted) {
        await new Promise<void>((resolve) => {
          this.#resumed = resolve;
        });
      }
      if (this.aborted) break;
      this.#handler.onResponseData?.(this, chunk);
    }
    if (this.aborted) this.#handler.onResponseError?.(this, this.reason ?? new Error('aborted'));
    else if (ending === 'end') this.#handler.onResponseEnd?.(this, {});
    else this.#handler.onResponseError?.(this, Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));
  }
}

/** A request as the agent was sent it. */
export interface Sent {
  readonly id: string;
  readonly method: string;
  readonly params: unknown;
}

/** A dispatcher that answers each request with the bytes of `answer`, its id put in. */
export function agentWith(answer: Answer, requests: Sent[] = []): Dispatcher {
  return {
    dispatch({ body }: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      const { id, method, params } = readJson((body as Buffer).toString()) as { id: string; method: string; params: unknown };
      requests.push({ id, method, params });
      void new Playing(handler, { ...answer, body: withId(answer.body, id) }).play();
      return true;
    },
  } as unknown as Dispatcher;
}

function withId(body: Buffer, id: string): Buffer {
  return body.includes(ID) ? Buffer.from(body.toString('latin1').replaceAll(ID, id), 'latin1') : body;
}

const MESSAGE = { messageId: 'message-1', role: Role.ROLE_USER, parts: [{ content: { $case: 'text' as const, value: 'hi' } }] };
const CONFIG = { taskId: 'task-1', id: 'config-1' };

type Unary = (client: StrictClient, options: CallOptions) => Promise<{ result: unknown; raw: Uint8Array }>;

/** Every unary operation, asked with what the generated answers are about. */
export const UNARY = {
  sendMessage: (client, options) => client.sendMessage(options, { message: MESSAGE }),
  getTask: (client, options) => client.getTask(options, { id: 'task-1' }),
  listTasks: (client, options) => client.listTasks(options),
  cancelTask: (client, options) => client.cancelTask(options, { id: 'task-1' }),
  createTaskPushNotificationConfig: (client, options) =>
    client.createTaskPushNotificationConfig(options, { ...CONFIG, url: 'https://caller.example/hook' }),
  getTaskPushNotificationConfig: (client, options) => client.getTaskPushNotificationConfig(options, CONFIG),
  listTaskPushNotificationConfigs: (client, options) => client.listTaskPushNotificationConfigs(options, { taskId: 'task-1' }),
  deleteTaskPushNotificationConfig: (client, options) => client.deleteTaskPushNotificationConfig(options, CONFIG),
  getExtendedAgentCard: (client, options) => client.getExtendedAgentCard(options),
  call: (client, options) => client.call(options, 'Echo', {}),
} satisfies Record<string, Unary>;

type Stream = (client: StrictClient, options: StreamOptions) => EventStream;

export const STREAMS = {
  sendStreamingMessage: (client, options) => client.sendStreamingMessage(options, { message: MESSAGE }),
  subscribeToTask: (client, options) => client.subscribeToTask(options, { id: 'task-1' }),
} satisfies Record<string, Stream>;

export type UnaryOperation = keyof typeof UNARY;
export type StreamOperation = keyof typeof STREAMS;
export const UNARY_OPERATIONS = Object.keys(UNARY) as UnaryOperation[];
export const STREAM_OPERATIONS = Object.keys(STREAMS) as StreamOperation[];
export const DIALECTS: readonly ProtocolVersion[] = ['1.0', '0.3'];

export interface Item {
  readonly value: unknown;
  /** One character a byte. */
  readonly raw: string;
  readonly id?: string | undefined;
}

/** All that a caller gets to see of a call. */
export interface Verdict {
  readonly items: readonly Item[];
  readonly failure: Readonly<Record<'rule' | 'kind' | 'delivery' | 'status' | 'code' | 'path', unknown>> | undefined;
}

export type Policy = Omit<StreamOptions, 'endpoint'>;

/** What a call comes to that is answered so. Rejects with whatever the call ends with that is no `Failure`. */
export async function verdictOfAnswer(operation: UnaryOperation | StreamOperation, policy: Policy, answer: Answer): Promise<Verdict> {
  const requests: Sent[] = [];
  const { items, failure } = await verdictOf(operation, { endpoint: 'http://127.0.0.1/', ...policy }, agentWith(answer, requests));
  return { items: renamed(items, requests[0]?.id), failure };
}

/** What a call comes to. Rejects with whatever the call ends with that is no `Failure`. */
export async function verdictOf(
  operation: UnaryOperation | StreamOperation,
  options: StreamOptions,
  dispatcher: Dispatcher,
): Promise<Verdict> {
  const client = new StrictClient(dispatcher);
  const events: StreamItem[] = [];
  // Every other event is asked for its bytes at once, the others at the end: they may be copied as late as that.
  const items = (): Item[] => events.map(({ event, raw, id }) => ({ value: event, raw: latin1(raw), id }));
  try {
    if (!(operation in STREAMS)) {
      const { result, raw } = await UNARY[operation as UnaryOperation](client, options);
      return { items: [{ value: result, raw: latin1(raw) }], failure: undefined };
    }
    for await (const item of STREAMS[operation as StreamOperation](client, options)) {
      events.push(item);
      if (events.length % 2 === 0) latin1(item.raw);
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { rule, kind, delivery, status, code, path } = error;
    return { items: items(), failure: { rule, kind, delivery, status, code, path } };
  }
  return { items: items(), failure: undefined };
}

/** An answer may hold the id of its request in more places than one: with the id that every request had. */
function renamed<T>(value: T, id = ID): T {
  if (typeof value === 'string') return value.replaceAll(id, ID) as T & string;
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => renamed(item, id)) as T & unknown[];
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [renamed(name, id), renamed<unknown>(held, id)])) as T & object;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}
