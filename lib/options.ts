/** A call's policy: what the caller may say, read once and checked before anything else happens. */
import * as v from 'valibot';
import type { ProtocolVersion } from './dialect/dialect.js';
import { isObject } from './dialect/values.js';
import { Refusal } from './failure.js';
import type { CallInterceptor, FinishedCall, OutgoingCall } from './interceptor.js';
import { optionChecker, refused, type OptionTable } from './policy/checker.js';
import { endpointOf, type Endpoint } from './policy/endpoint.js';
import { HTTP_OPTIONS, limit, none, type HttpOptions, type HttpPolicy } from './policy/http.js';
import type { EventIdMode } from './wire/event_ids.js';
import { MAX_TEXT_BYTES } from './wire/json.js';

/** The whole policy of one call. Nothing in it is inferred, and nothing is kept from one call to the next. */
export interface CallOptions extends HttpOptions {
  /**
   * The exact `http:` or `https:` URL that the request goes to, path and query untouched. No user info, no fragment, and nothing that
   * `new URL` would rewrite, but for the case of the host, a default port and a missing `/` (`options.endpoint`).
   */
  readonly endpoint: string | URL;
  /** The dialect the agent speaks. */
  readonly protocolVersion: ProtocolVersion;
  /**
   * The largest body of an answer, in bytes: a positive safe integer (`limit.response_bytes`). A single JSON text beyond what one
   * JavaScript string can hold (about 512 MiB) is refused whatever the bound.
   */
  readonly maxResponseBytes: number;
  /** The largest request body, in bytes: a positive safe integer (`request.bytes`). Absent: no bound. */
  readonly maxRequestBytes?: number | undefined;
  /** URIs of the extensions to activate. */
  readonly extensions?: readonly string[] | undefined;
  /** 1.0: the tenant, put into every request. */
  readonly tenant?: string | undefined;
  /**
   * 0.3, unary calls: a whole answer may come as `text/plain`, as the official Go server of 0.3 sends it. It is held to all other rules. Absent:
   * `http.content_type`, unless it is an error.
   */
  readonly allowPlainTextResults?: true | undefined;
  /** Run in order around the exchange. */
  readonly interceptors?: readonly CallInterceptor[] | undefined;
}

/** The whole policy of one streaming call. */
export interface StreamOptions extends CallOptions {
  /** The largest event, in bytes as framed, comments and blank lines before it included (`limit.event_bytes`). */
  readonly maxEventBytes: number;
  /** The most bytes a stream may have (`limit.stream_bytes`). Absent: no bound. */
  readonly maxStreamBytes?: number | undefined;
  /** The most events a stream may have (`limit.stream_events`). Absent: no bound. */
  readonly maxStreamEvents?: number | undefined;
  /** What is asked of event ids. Absent: `required`. An id that repeats is refused in all three modes. */
  readonly eventIds?: EventIdMode | undefined;
  /**
   * False: each event takes the plain path, also one that repeats another but for its text. The result is the same, more slowly. Absent: true.
   */
  readonly repeatRecognition?: boolean | undefined;
}

/** A call's policy, checked; holds no object of the caller's but the signal and the interceptors. */
export interface CallPolicy extends HttpPolicy {
  readonly endpoint: Endpoint;
  readonly protocolVersion: ProtocolVersion;
  readonly maxResponseBytes: number;
  readonly maxRequestBytes: number | undefined;
  readonly extensions: readonly string[];
  readonly tenant: string;
  readonly allowPlainTextResults: true | undefined;
  readonly interceptors: readonly CallInterceptor[];
}

/** A streaming call's policy, checked. */
export interface StreamPolicy extends CallPolicy {
  readonly maxEventBytes: number;
  readonly maxStreamBytes: number | undefined;
  readonly maxStreamEvents: number | undefined;
  readonly eventIds: EventIdMode;
  readonly repeatRecognition: boolean;
}

/** A bound of what is parsed as one text. */
const textLimit = v.pipe(
  limit,
  v.transform((bytes) => Math.min(bytes, MAX_TEXT_BYTES)),
);
const unbounded = v.optional(limit, none);

/** Absolute (RFC 3986 section 4.3), visible ASCII, and without a comma, which would make two of one in the header. */
const EXTENSION_URI = /^[A-Za-z][A-Za-z0-9+.-]*:[!-+\--~]+$/;

const CALL: OptionTable<CallPolicy> = {
  endpoint: ['options.endpoint', v.pipe(v.unknown(), v.transform(endpointOf))],
  protocolVersion: ['options.dialect', v.picklist(['1.0', '0.3'])],
  maxResponseBytes: ['options.limit', textLimit],
  maxRequestBytes: ['options.limit', unbounded],
  ...HTTP_OPTIONS,
  extensions: ['options.headers', v.optional(v.array(v.pipe(v.string(), v.regex(EXTENSION_URI))), () => [])],
  tenant: [
    'options.dialect',
    v.optional(
      v.pipe(
        v.string(),
        v.check((value) => value.isWellFormed()),
      ),
      '',
    ),
  ],
  allowPlainTextResults: ['options.dialect', v.optional(v.literal(true), none)],
  interceptors: ['options.interceptors', v.optional(v.array(v.pipe(v.unknown(), v.transform(interceptorOf))), () => [])],
};

export const STREAM_OPTIONS: OptionTable<StreamPolicy> = {
  ...CALL,
  maxEventBytes: ['options.limit', textLimit],
  maxStreamBytes: ['options.limit', unbounded],
  maxStreamEvents: ['options.limit', unbounded],
  eventIds: ['options.dialect', v.optional(v.picklist(['required', 'sequential', 'optional']), 'required')],
  repeatRecognition: ['options.dialect', v.optional(v.boolean(), true)],
};

/** One object of options may serve unary calls and streams: what belongs to streams is checked here too, and has no effect. */
type UnaryPolicy = Omit<StreamPolicy, 'maxEventBytes'> & { readonly maxEventBytes: number | undefined };
const UNARY: OptionTable<UnaryPolicy> = { ...STREAM_OPTIONS, maxEventBytes: ['options.limit', v.optional(textLimit, none)] };

function checkDialect({ tenant, protocolVersion, allowPlainTextResults }: CallPolicy): void {
  if (tenant !== '' && protocolVersion === '0.3') throw new Refusal('options.dialect', { path: 'tenant' });
  if (allowPlainTextResults === true && protocolVersion !== '0.3') throw new Refusal('options.dialect', { path: 'allowPlainTextResults' });
}

/** @throws {Refusal} `options.*` */
export const checkCallOptions: (options: unknown) => CallPolicy = optionChecker(UNARY, checkDialect);

/** @throws {Refusal} `options.*` */
export const checkStreamOptions: (options: unknown) => StreamPolicy = optionChecker(STREAM_OPTIONS, checkDialect);

function interceptorOf(value: unknown): CallInterceptor {
  if (!isObject(value)) throw refused('options.interceptors', 'one of them is no object');
  // Read once. An interceptor may be an instance with methods of its own: it is the caller's code, not the caller's data.
  const { before, after } = value;
  if (before === undefined && after === undefined) throw refused('options.interceptors', 'one of them has neither before nor after');
  return {
    ...(before !== undefined && { before: method(value, before) }),
    ...(after !== undefined && { after: method(value, after) }),
  };
}

function method(self: object, value: unknown): (shown: OutgoingCall | FinishedCall) => void | Promise<void> {
  if (typeof value !== 'function') throw refused('options.interceptors', 'before and after are functions');
  return (shown) => Reflect.apply(value, self, [shown]) as void | Promise<void>;
}
