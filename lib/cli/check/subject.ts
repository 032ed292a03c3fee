/** The agent that is checked: every call that is made of it leaves a record of how its answer kept the rules. */
import type { Dispatcher } from 'undici';
import { StrictClient } from '../../client.js';
import type { ProtocolVersion } from '../../dialect/dialect.js';
import type { Failure } from '../../failure.js';
import type { CallInterceptor } from '../../interceptor.js';
import type { StreamOptions } from '../../options.js';
import type { StreamItem } from '../../stream.js';
import { failureFrom } from './finding.js';

/** How one answer went. */
export interface Answer {
  /** What was asked, for people. */
  readonly asked: string;
  readonly isStream: boolean;
  /** Events that were delivered. */
  readonly events: number;
  readonly failure: Failure | undefined;
}

/** What came of a call. */
export type Outcome<T> = { readonly result: T; readonly failure?: undefined } | { readonly failure: Failure };

/** What came of a stream. */
export interface Followed {
  readonly items: readonly StreamItem[];
  /** From the last event to the end of the stream. */
  readonly endedAfterMs: number;
  readonly failure: Failure | undefined;
}

export class Subject {
  readonly client: StrictClient;
  readonly dispatcher: Dispatcher;
  readonly options: StreamOptions & { readonly endpoint: string };
  /** The same, with the clock of a call that sends a message. */
  readonly messageOptions: StreamOptions & { readonly endpoint: string };
  /** Every answer so far, in order. */
  readonly answers: Answer[] = [];
  /** The latest answer had `connection: close`. */
  saidClose = false;
  readonly #progress: (asked: string) => void;

  constructor(dispatcher: Dispatcher, options: StreamOptions & { readonly endpoint: string }, messageTimeoutMs: number | undefined, progress: (asked: string) => void) {
    this.client = new StrictClient(dispatcher);
    this.dispatcher = dispatcher;
    this.#progress = progress;
    const watch: CallInterceptor = {
      after: ({ headers }) => {
        if (headers !== undefined) this.saidClose = /(^|,)\s*close\s*(,|$)/i.test(String(headers['connection'] ?? ''));
      },
    };
    this.options = { ...options, interceptors: [watch] };
    this.messageOptions = { ...this.options, timeoutMs: messageTimeoutMs };
  }

  get protocolVersion(): ProtocolVersion {
    return this.options.protocolVersion;
  }

  /** Makes a unary call. @throws {Failure} one that says nothing of the agent: an option is wrong, or the user has enough */
  async ask<T>(asked: string, call: () => Promise<{ readonly result: T }>): Promise<Outcome<T>> {
    this.#progress(asked);
    try {
      const { result } = await call();
      this.answers.push({ asked, isStream: false, events: 0, failure: undefined });
      return { result };
    } catch (error) {
      return { failure: this.#failed(error, { asked, isStream: false, events: 0 }) };
    }
  }

  /** Makes a streaming call. @throws {Failure} as `ask` */
  async follow(asked: string, source: AsyncIterable<StreamItem>): Promise<Followed> {
    this.#progress(asked);
    const items: StreamItem[] = [];
    let lastAt = performance.now();
    try {
      for await (const item of source) {
        items.push(item);
        lastAt = performance.now();
      }
      this.answers.push({ asked, isStream: true, events: items.length, failure: undefined });
      return { items, endedAfterMs: performance.now() - lastAt, failure: undefined };
    } catch (error) {
      return { items, endedAfterMs: 0, failure: this.#failed(error, { asked, isStream: true, events: items.length }) };
    }
  }

  #failed(error: unknown, answer: Omit<Answer, 'failure'>): Failure {
    const failure = failureFrom(error);
    if (failure.kind === 'invalid_argument' || failure.kind === 'canceled') throw failure;
    this.answers.push({ ...answer, failure });
    return failure;
  }
}
