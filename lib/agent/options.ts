/** What a `RemoteAgent` is told when it is made, and with each call. */
import type { Dispatcher } from 'undici';
import * as v from 'valibot';
import type { JsonObject, SendMessageInput } from '../dialect/request.js';
import type { ProtocolVersion } from '../dialect/dialect.js';
import { Refusal } from '../failure.js';
import { AgentCardCache, type CardVerification } from '../discovery/index.js';
import type { CallInterceptor } from '../interceptor.js';
import { STREAM_OPTIONS } from '../options.js';
import { optionChecker } from '../policy/checker.js';
import { HTTP_OPTIONS, limit, none, time, type HttpOptions, type HttpPolicy } from '../policy/http.js';
import { checkDispatcher } from '../wire/dispatcher.js';
import type { EventIdMode } from '../wire/event_ids.js';
import type { Patience } from './follow.js';

/** Bounds of what the agent may send and be sent, in bytes but for `maxStreamEvents`: positive safe integers (`options.limit`). */
export interface AgentLimits {
  /** Of the agent card. Absent: 262,144. */
  readonly maxCardBytes?: number | undefined;
  /** Of a request body. Absent: no bound. */
  readonly maxRequestBytes?: number | undefined;
  /** Of an answer that is no stream. Absent: 8,388,608. */
  readonly maxResponseBytes?: number | undefined;
  /** Of one event of a stream. Absent: 1,048,576. */
  readonly maxEventBytes?: number | undefined;
  /** Of a whole stream. Absent: no bound. */
  readonly maxStreamBytes?: number | undefined;
  /** Events of a whole stream. Absent: no bound. */
  readonly maxStreamEvents?: number | undefined;
  /** Of the events that a task is put together from (`agent.task_bytes`). Absent: 16,777,216. */
  readonly maxTaskBytes?: number | undefined;
}

/** What a `RemoteAgent` is made with. */
export interface RemoteAgentOptions extends Omit<HttpOptions, 'signal'> {
  /** An undici `Agent` or the like, which the caller makes, shares and closes. */
  readonly dispatcher: Dispatcher;
  readonly limits?: AgentLimits | undefined;
  /** What is asked of event ids. Absent: `optional`, as official servers send none; an id that repeats is refused all the same. */
  readonly eventIds?: EventIdMode | undefined;
  /** The dialects that may be spoken; of these, that of the interface which the card has at the base URL, or lists first. Absent: both. */
  readonly protocolVersions?: readonly ProtocolVersion[] | undefined;
  /** The agent's card may send calls to another origin than that of the base URL. Absent: they stay there. */
  readonly allowCrossOriginInterfaces?: true | undefined;
  /** URIs of the extensions to ask for, of those that the agent's card lists. */
  readonly extensions?: readonly string[] | undefined;
  /** The extensions are asked for even where the card does not list them. */
  readonly forceExtensions?: true | undefined;
  /** Where 0.3 is spoken, a whole answer may come as `text/plain`, as the official Go server of 0.3 sends it. */
  readonly allowPlainTextResults?: true | undefined;
  /** Run around each call, and not around the fetching of the card. */
  readonly interceptors?: readonly CallInterceptor[] | undefined;
  /** Where cards are kept; may be shared between agents. Absent: a cache of its own, in memory. */
  readonly cache?: AgentCardCache | undefined;
  /** The path of the card on the base URL's origin. Absent: the well-known one, below the base URL's path. */
  readonly cardPath?: string | undefined;
  /** After a 404, the path that agents had before 0.3 is tried. */
  readonly allowLegacyCardPath?: true | undefined;
  /** How the card's signatures are judged. Absent: they are not. */
  readonly verify?: CardVerification | undefined;
  /** One call with all that it takes, the card included, in whole milliseconds (`deadline.total`). Absent: no clock. */
  readonly timeoutMs?: number | undefined;
  /** From each dispatch until its request can be written, in whole milliseconds (`deadline.connect`). Absent: 30,000. */
  readonly connectTimeoutMs?: number | undefined;
}

/** What one call of a `RemoteAgent` is told. */
export interface AgentCallSettings {
  /** Ends the call (`canceled.signal`, or `deadline.signal` for a timeout). */
  readonly signal?: AbortSignal | undefined;
}

/** What a message is sent with. */
export interface SendSettings extends AgentCallSettings {
  /** The task that the message goes on with. */
  readonly taskId?: string | undefined;
  /** The context that the message belongs to. */
  readonly contextId?: string | undefined;
  readonly configuration?: SendMessageInput['configuration'];
  /** Of the request, not of the message. */
  readonly metadata?: JsonObject | undefined;
}

/** How patiently a task is followed. */
export interface FollowSettings extends AgentCallSettings {
  /** How often in a row the agent may be out of reach, with no news of the task between. Absent: 8. */
  readonly maxAttempts?: number | undefined;
  /** The longest wait after the first time, in whole milliseconds; it doubles with each that follows. Absent: 250. */
  readonly firstDelayMs?: number | undefined;
  /** The longest wait, in whole milliseconds; a `retry-after` of the agent's may ask for more. Absent: 30,000. */
  readonly maxDelayMs?: number | undefined;
}

/** Limits, checked. */
export interface CheckedLimits {
  readonly maxCardBytes: number;
  readonly maxRequestBytes: number | undefined;
  readonly maxResponseBytes: number;
  readonly maxEventBytes: number;
  readonly maxStreamBytes: number | undefined;
  readonly maxStreamEvents: number | undefined;
  readonly maxTaskBytes: number;
}

/** What a `RemoteAgent` was made with, checked. */
export interface AgentPolicy extends Omit<HttpPolicy, 'signal'> {
  readonly dispatcher: Dispatcher;
  readonly limits: CheckedLimits;
  readonly eventIds: EventIdMode;
  readonly protocolVersions: readonly ProtocolVersion[] | undefined;
  readonly allowCrossOriginInterfaces: true | undefined;
  readonly extensions: readonly string[];
  readonly forceExtensions: true | undefined;
  readonly allowPlainTextResults: true | undefined;
  readonly interceptors: readonly CallInterceptor[];
  readonly cache: AgentCardCache | undefined;
  readonly cardPath: string | undefined;
  readonly allowLegacyCardPath: true | undefined;
  readonly verify: CardVerification | undefined;
}

const checkLimits = optionChecker<CheckedLimits>({
  maxCardBytes: ['options.limit', v.optional(limit, 256 * 1024)],
  maxRequestBytes: ['options.limit', v.optional(limit, none)],
  maxResponseBytes: ['options.limit', v.optional(limit, 8 * 1024 * 1024)],
  maxEventBytes: ['options.limit', v.optional(limit, 1024 * 1024)],
  maxStreamBytes: ['options.limit', v.optional(limit, none)],
  maxStreamEvents: ['options.limit', v.optional(limit, none)],
  maxTaskBytes: ['options.limit', v.optional(limit, 16 * 1024 * 1024)],
});

const danger = v.optional(v.literal(true), none);

/** What the layers below check, with each call. */
const judgedBelow = <T>(): v.GenericSchema<unknown, T> => v.custom<T>(() => true);

const checkAgent = optionChecker<Omit<AgentPolicy, 'limits'> & { readonly limits: unknown }>({
  headers: HTTP_OPTIONS.headers,
  timeoutMs: HTTP_OPTIONS.timeoutMs,
  connectTimeoutMs: ['options.time', v.optional(time, 30_000)],
  idleTimeoutMs: HTTP_OPTIONS.idleTimeoutMs,
  secretHeaders: HTTP_OPTIONS.secretHeaders,
  allowCleartextCredentials: HTTP_OPTIONS.allowCleartextCredentials,
  dispatcher: ['options.dispatcher', v.pipe(judgedBelow<Dispatcher>(), v.check((value) => checkDispatcher(value) === undefined))],
  limits: ['options.limit', v.optional(v.unknown(), () => ({}))],
  eventIds: ['options.dialect', v.optional(v.picklist(['required', 'sequential', 'optional']), 'optional')],
  protocolVersions: ['options.dialect', v.optional(v.pipe(v.array(v.picklist(['1.0', '0.3'])), v.nonEmpty()), none)],
  allowCrossOriginInterfaces: ['options.endpoint', danger],
  extensions: STREAM_OPTIONS.extensions,
  forceExtensions: ['options.headers', danger],
  allowPlainTextResults: STREAM_OPTIONS.allowPlainTextResults,
  interceptors: STREAM_OPTIONS.interceptors,
  cache: ['card.store', v.optional(v.instance(AgentCardCache), none)],
  cardPath: ['options.endpoint', judgedBelow<string | undefined>()],
  allowLegacyCardPath: ['options.endpoint', danger],
  verify: ['card.keys', judgedBelow<CardVerification | undefined>()],
});

/** @throws {Refusal} `options.*` */
export function checkAgentOptions(options: unknown): AgentPolicy {
  const checked = checkAgent(options);
  return { ...checked, limits: checkLimits(checked.limits) };
}

const optionalText = v.optional(v.string(), none);

/** @throws {Refusal} `options.*`, `request.params` */
export const checkSendSettings = optionChecker<{
  readonly signal: AbortSignal | undefined;
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  readonly configuration: SendMessageInput['configuration'];
  readonly metadata: JsonObject | undefined;
}>({
  signal: HTTP_OPTIONS.signal,
  taskId: ['request.params', optionalText],
  contextId: ['request.params', optionalText],
  configuration: ['request.params', judgedBelow<SendMessageInput['configuration']>()],
  metadata: ['request.params', judgedBelow<JsonObject | undefined>()],
});

/** @throws {Refusal} `options.*` */
export const checkCallSettings = optionChecker<{ readonly signal: AbortSignal | undefined }>({ signal: HTTP_OPTIONS.signal });

/** @throws {Refusal} `options.*` */
export const checkFollowSettings = optionChecker<Patience & { readonly signal: AbortSignal | undefined }>({
  signal: HTTP_OPTIONS.signal,
  maxAttempts: ['options.limit', v.optional(limit, 8)],
  firstDelayMs: ['options.time', v.optional(time, 250)],
  maxDelayMs: ['options.time', v.optional(time, 30_000)],
});

/** Zero is no clock. @throws {Refusal} `options.time` */
export function checkTimeout(ms: unknown): number | undefined {
  if (ms === 0) return undefined;
  if (!v.is(time, ms)) throw new Refusal('options.time');
  return ms;
}
