/** What a text peer is told when it is made, and with each call. */
import type { Dispatcher } from 'undici';
import * as v from 'valibot';
import type { ProtocolVersion } from '../dialect/dialect.js';
import type { CallInterceptor } from '../interceptor.js';
import { STREAM_OPTIONS, type StreamOptions } from '../options.js';
import { optionChecker, type OptionTable } from '../policy/checker.js';
import { HTTP_OPTIONS, limit, none, time, type HttpOptions } from '../policy/http.js';
import { checkDispatcher } from '../wire/dispatcher.js';
import type { EventIdMode } from '../wire/event_ids.js';

/** Bounds of what the peer may send and be sent, in bytes but for `maxStreamEvents`: positive safe integers (`options.limit`). */
export interface TextLimits {
  /** Of a request body. Absent: no bound. */
  readonly maxRequestBytes?: number | undefined;
  /** Of an answer that is no stream. Absent: 8,388,608. */
  readonly maxResponseBytes?: number | undefined;
  /** Of one event of a stream. Absent: 1,048,576. */
  readonly maxEventBytes?: number | undefined;
  /** Of a whole stream, and so of its text, which is kept to tell what is new in an event. Absent: 67,108,864. */
  readonly maxStreamBytes?: number | undefined;
  /** Events of a whole stream. Absent: no bound. */
  readonly maxStreamEvents?: number | undefined;
}

/** What a text peer at an address is made with. Read once, when it is made. */
export interface TextPeerOptions extends Omit<HttpOptions, 'signal'> {
  /** An undici `Agent` or the like, which the caller makes, shares and closes. Absent: one of the peer's own, which `close()` ends. */
  readonly dispatcher?: Dispatcher | undefined;
  /** The dialect the peer speaks. Absent: 1.0. */
  readonly protocolVersion?: ProtocolVersion | undefined;
  readonly limits?: TextLimits | undefined;
  /** What is asked of event ids. Absent: `optional`, as official servers send none; an id that repeats is refused all the same. */
  readonly eventIds?: EventIdMode | undefined;
  /** URIs of the extensions to activate. */
  readonly extensions?: readonly string[] | undefined;
  /** 1.0: the tenant, put into every request. */
  readonly tenant?: string | undefined;
  /** Run in order around each call. */
  readonly interceptors?: readonly CallInterceptor[] | undefined;
  /** From the dispatch until the request can be written, in whole milliseconds (`deadline.connect`). Absent: 30,000. */
  readonly connectTimeoutMs?: number | undefined;
}

/** What one call is told. */
export interface TextSettings {
  /** The task that the text goes on with: that of a reply which asked for more. */
  readonly taskId?: string | undefined;
  /** The context that the text belongs to. */
  readonly contextId?: string | undefined;
  /** Ends the call (`canceled.signal`, or `deadline.signal` for a timeout). */
  readonly signal?: AbortSignal | undefined;
}

/** A peer's options, checked: the dispatcher, and what each call takes beside its endpoint. */
export interface TextPolicy {
  readonly dispatcher: Dispatcher | undefined;
  readonly call: Omit<StreamOptions, 'endpoint' | 'signal'>;
}

const checkLimits = optionChecker({
  maxRequestBytes: ['options.limit', v.optional(limit, none)],
  maxResponseBytes: ['options.limit', v.optional(limit, 8 * 1024 * 1024)],
  maxEventBytes: ['options.limit', v.optional(limit, 1024 * 1024)],
  maxStreamBytes: ['options.limit', v.optional(limit, 64 * 1024 * 1024)],
  maxStreamEvents: ['options.limit', v.optional(limit, none)],
} satisfies OptionTable<Pick<StreamOptions, keyof TextLimits>>);

const { signal, ...HTTP } = HTTP_OPTIONS;

interface CheckedOptions extends Omit<TextPolicy['call'], keyof TextLimits> {
  readonly dispatcher: Dispatcher | undefined;
  readonly limits: unknown;
}

const checkOptions = optionChecker<CheckedOptions>({
  ...HTTP,
  connectTimeoutMs: ['options.time', v.optional(time, 30_000)],
  dispatcher: ['options.dispatcher', v.optional(v.custom<Dispatcher>((value) => checkDispatcher(value) === undefined), none)],
  limits: ['options.limit', v.optional(v.unknown(), () => ({}))],
  protocolVersion: ['options.dialect', v.optional(v.picklist(['1.0', '0.3']), '1.0')],
  eventIds: ['options.dialect', v.optional(v.picklist(['required', 'sequential', 'optional']), 'optional')],
  extensions: STREAM_OPTIONS.extensions,
  tenant: STREAM_OPTIONS.tenant,
  interceptors: STREAM_OPTIONS.interceptors,
});

/** @throws {Refusal} `options.*` */
export function checkTextOptions(options: unknown): TextPolicy {
  const { dispatcher, limits, ...call } = checkOptions(options);
  return { dispatcher, call: { ...call, ...checkLimits(limits) } };
}

/** An agent that was discovered has a policy of its own. @throws {Refusal} `options.unknown` for any option */
export const checkNoOptions = optionChecker({});

/** @throws {Refusal} `options.*`, `request.params` */
export const checkTextSettings = optionChecker<TextSettings>({
  taskId: ['request.params', v.optional(v.string(), none)],
  contextId: ['request.params', v.optional(v.string(), none)],
  signal,
});
