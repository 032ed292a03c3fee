/** One server in one dialect, as the scenario calls it. */
import assert from 'node:assert/strict';
import { Agent, request, type Dispatcher } from 'undici';
import {
  StrictClient,
  TaskState,
  failureOf,
  userText,
  type EventIdMode,
  type EventStream,
  type ProtocolVersion,
  type StreamEvent,
  type StreamItem,
  type StreamOptions,
  type Task,
} from '../../lib/index.js';
import { withHeader, wireLog, type Exchange } from './wire_log.js';

/** Long enough for any answer of a server under load, and the end of one that hangs. */
const CALL_MS = 30_000;
/** The same for what should take no time at all, but that a server in use is known to hang in. */
const SHORT_CALL_MS = 15_000;

export class Peer {
  readonly dialect: ProtocolVersion;
  /** True: the server has no other dialect. */
  readonly isOnlyDialect: boolean;
  readonly url: string;
  readonly #allowPlainTextResults: true | undefined;
  /** The strictest that the server can keep; found out by the first step. */
  eventIds: EventIdMode = 'required';
  readonly #agent = new Agent();
  readonly #log = wireLog();
  readonly #dispatcher: Dispatcher = this.#agent.compose(this.#log.interceptor);
  readonly client = new StrictClient(this.#dispatcher);

  constructor(url: string, dialect: ProtocolVersion, isOnlyDialect: boolean, allowPlainTextResults?: true) {
    this.#allowPlainTextResults = allowPlainTextResults;
    this.url = url;
    this.dialect = dialect;
    this.isOnlyDialect = isOnlyDialect;
  }

  get exchanges(): readonly Exchange[] {
    return this.#log.exchanges;
  }

  /** The strictest options, but for what `more` says. */
  options(more: Partial<StreamOptions> = {}): StreamOptions {
    return {
      endpoint: this.url,
      protocolVersion: this.dialect,
      maxResponseBytes: 1 << 20,
      maxRequestBytes: 1 << 20,
      maxEventBytes: 1 << 16,
      maxStreamBytes: 1 << 20,
      maxStreamEvents: 1000,
      eventIds: this.eventIds,
      connectTimeoutMs: CALL_MS,
      timeoutMs: CALL_MS,
      allowPlainTextResults: (more.protocolVersion ?? this.dialect) === '0.3' ? this.#allowPlainTextResults : undefined,
      ...more,
    };
  }

  /** A client that says another protocol version than it speaks. */
  clientOfVersion(version: string): StrictClient {
    return new StrictClient(this.#dispatcher.compose(withHeader('a2a-version', version)));
  }

  /** The card, by plain HTTP: what it says is compared, not trusted. */
  async card(): Promise<{ readonly status: number; readonly contentType: string; readonly card: unknown }> {
    const { statusCode, headers, body } = await request(new URL('/.well-known/agent-card.json', this.url), {
      dispatcher: this.#agent,
      bodyTimeout: CALL_MS,
      headersTimeout: CALL_MS,
    });
    return { status: statusCode, contentType: String(headers['content-type']), card: await body.json() };
  }

  stream(text: string, more?: Partial<StreamOptions>): EventStream {
    return this.client.sendStreamingMessage(this.options(more), { message: userText(text) });
  }

  /** A task that has come to its end, known from a stream: servers whose unary answers are refused have tasks too. */
  async finished(text: string): Promise<TaskName> {
    const [first] = await drain(this.stream(text));
    return nameOf(first);
  }

  /** A task that works until it is canceled, and the stream that it was found in, which has not come to its end. */
  async running(): Promise<TaskName & { readonly stream: EventStream }> {
    const stream = this.stream('slow', { timeoutMs: SHORT_CALL_MS });
    let name: TaskName | undefined;
    for (;;) {
      const { value, done } = await stream.next();
      assert.ok(done !== true, 'a slow task ended by itself');
      name ??= nameOf(value);
      if (stateOf(value.event) === TaskState.TASK_STATE_WORKING) return { ...name, stream };
    }
  }

  /** What is done so that something else can be looked at: how it ends is the business of another step. */
  async regardless(call: Promise<unknown>): Promise<void> {
    try {
      await call;
    } catch (error) {
      if (failureOf(error) === undefined) throw error;
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

export interface TaskName {
  readonly id: string;
  readonly contextId: string;
}

function nameOf(item: StreamItem | undefined): TaskName {
  assert.ok(item !== undefined, 'an empty stream');
  const { $case, value } = item.event;
  return { id: $case === 'task' ? value.id : value.taskId, contextId: value.contextId };
}

/** The events of a stream that ends well. */
export async function drain(stream: EventStream): Promise<StreamItem[]> {
  const items: StreamItem[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

export function stateOf(event: StreamEvent | undefined): TaskState | undefined {
  return event?.$case === 'task' || event?.$case === 'statusUpdate' ? event.value.status?.state : undefined;
}

/** The state that a stream ended in. */
export function endOf(items: readonly StreamItem[]): TaskState | undefined {
  return stateOf(items.at(-1)?.event);
}

/** The texts of a task's artifacts, one after the other. */
export function artifactText({ artifacts }: Task): string {
  return artifacts
    .flatMap(({ parts }) => parts)
    .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
    .join('');
}
