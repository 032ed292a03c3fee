/**
 * A call's policy: what the caller may say, read once and checked before anything else happens.
 *
 * A check fails closed. Options are plain objects: only their own members count, each is read a single time, and one that is none of
 * ours is refused rather than ignored.
 */
import * as v from 'valibot';
import type { ProtocolVersion } from './dialect/dialect.js';
import { isObject, isPlain } from './dialect/values.js';
import { Refusal, type FailureRule } from './failure.js';
import type { CallInterceptor, FinishedCall, OutgoingCall } from './interceptor.js';
import type { EventIdMode } from './wire/event_ids.js';
import { MAX_TEXT_BYTES } from './wire/json.js';
import { isAborted } from './wire/signal.js';

/** The whole policy of one call. Nothing in it is inferred, and nothing is kept from one call to the next. */
export interface CallOptions {
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
  /** Headers to add, beside those that every request has, which are reserved (`options.headers`). */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** URIs of the extensions to activate. */
  readonly extensions?: readonly string[] | undefined;
  /** 1.0: the tenant, put into every request. */
  readonly tenant?: string | undefined;
  /** Run in order around the exchange. */
  readonly interceptors?: readonly CallInterceptor[] | undefined;
  /** Ends the call when it aborts (`canceled.signal`, or `deadline.signal` for a timeout). */
  readonly signal?: AbortSignal | undefined;
  /** From the dispatch until the request can be written, in whole milliseconds (`deadline.connect`). Absent: no clock. */
  readonly connectTimeoutMs?: number | undefined;
  /** The whole exchange, interceptors and streams included, in whole milliseconds (`deadline.total`). Absent: no clock. */
  readonly timeoutMs?: number | undefined;
  /** No byte of the response for so long once the request is sent, in whole milliseconds (`deadline.idle`). Absent: no clock. */
  readonly idleTimeoutMs?: number | undefined;
  /** Names of headers that hold credentials, beside `authorization`, `cookie` and `proxy-authorization`. */
  readonly secretHeaders?: readonly string[] | undefined;
  /** Credentials may travel unencrypted, over `http:` to another machine. Absent: refused (`options.cleartext_credentials`). */
  readonly allowCleartextCredentials?: true | undefined;
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

/** The target of a request, taken apart. */
export interface Endpoint {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query, as given. */
  readonly target: string;
  /** What is sent to it can be read on the way: `http:`, to another machine. */
  readonly isCleartext: boolean;
}

/** A call's policy, checked; holds no object of the caller's but the signal and the interceptors. */
export interface CallPolicy {
  readonly endpoint: Endpoint;
  readonly protocolVersion: ProtocolVersion;
  readonly maxResponseBytes: number;
  readonly maxRequestBytes: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: readonly string[];
  readonly tenant: string;
  readonly interceptors: readonly CallInterceptor[];
  readonly signal: AbortSignal | undefined;
  readonly connectTimeoutMs: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly idleTimeoutMs: number | undefined;
  readonly secretHeaders: readonly string[];
  readonly allowCleartextCredentials: true | undefined;
}

/** A streaming call's policy, checked. */
export interface StreamPolicy extends CallPolicy {
  readonly maxEventBytes: number;
  readonly maxStreamBytes: number | undefined;
  readonly maxStreamEvents: number | undefined;
  readonly eventIds: EventIdMode;
  readonly repeatRecognition: boolean;
}

const limit = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
/** A bound of what is parsed as one text. */
const textLimit = v.pipe(
  limit,
  v.transform((bytes) => Math.min(bytes, MAX_TEXT_BYTES)),
);
/** `setTimeout` takes no longer time, and would take one that is longer for none at all. */
const MAX_TIME_MS = 2 ** 31 - 1;
const time = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_TIME_MS));
const none = (): undefined => undefined;
const unbounded = v.optional(limit, none);

/** Absolute (RFC 3986 section 4.3), visible ASCII, and without a comma, which would make two of one in the header. */
const EXTENSION_URI = /^[A-Za-z][A-Za-z0-9+.-]*:[!-+\--~]+$/;

const CALL = {
  endpoint: v.pipe(v.unknown(), v.transform(endpointOf)),
  protocolVersion: v.picklist(['1.0', '0.3']),
  maxResponseBytes: textLimit,
  maxRequestBytes: unbounded,
  headers: v.pipe(
    v.optional(v.unknown(), () => ({})),
    v.transform(headersOf),
  ),
  extensions: v.optional(v.array(v.pipe(v.string(), v.regex(EXTENSION_URI))), () => []),
  tenant: v.optional(
    v.pipe(
      v.string(),
      v.check((value) => value.isWellFormed()),
    ),
    '',
  ),
  interceptors: v.optional(v.array(v.pipe(v.unknown(), v.transform(interceptorOf))), () => []),
  signal: v.optional(
    v.pipe(
      v.instance(AbortSignal),
      // An object that only has the prototype throws here.
      v.check((signal) => typeof isAborted(signal) === 'boolean'),
    ),
    none,
  ),
  connectTimeoutMs: v.optional(time, none),
  timeoutMs: v.optional(time, none),
  idleTimeoutMs: v.optional(time, none),
  secretHeaders: v.optional(
    v.array(
      v.pipe(
        v.string(),
        v.check((name) => FIELD_NAME.test(name)),
        v.toLowerCase(),
      ),
    ),
    () => [],
  ),
  allowCleartextCredentials: v.optional(v.literal(true), none),
};

const STREAM = {
  ...CALL,
  maxEventBytes: textLimit,
  maxStreamBytes: unbounded,
  maxStreamEvents: unbounded,
  eventIds: v.optional(v.picklist(['required', 'sequential', 'optional']), 'required'),
  repeatRecognition: v.optional(v.boolean(), true),
};

/** One object of options may serve unary calls and streams: what belongs to streams is checked here too, and has no effect. */
const UNARY = { ...STREAM, maxEventBytes: v.optional(textLimit) };

const RULE_OF: Readonly<Record<keyof StreamOptions, FailureRule>> = {
  endpoint: 'options.endpoint',
  protocolVersion: 'options.dialect',
  maxResponseBytes: 'options.limit',
  maxRequestBytes: 'options.limit',
  headers: 'options.headers',
  extensions: 'options.headers',
  tenant: 'options.dialect',
  interceptors: 'options.interceptors',
  signal: 'options.signal',
  connectTimeoutMs: 'options.time',
  timeoutMs: 'options.time',
  idleTimeoutMs: 'options.time',
  secretHeaders: 'options.headers',
  allowCleartextCredentials: 'options.cleartext_credentials',
  maxEventBytes: 'options.limit',
  maxStreamBytes: 'options.limit',
  maxStreamEvents: 'options.limit',
  eventIds: 'options.dialect',
  repeatRecognition: 'options.dialect',
};

type Schemas<T> = { readonly [N in keyof T]: v.GenericSchema<unknown, T[N]> };

/** What was read for the last call of a kind, if that were plain values alone, and the policy that it came to. */
interface Remembered<T> {
  readonly read: Readonly<Record<string, unknown>>;
  readonly size: number;
  readonly policy: T;
}

/**
 * The check of one kind of options. Callers mostly make one call after another with the same: where every member read is the same plain
 * value as before, the policy is too. Objects could have changed meanwhile, and are checked each time.
 */
function checker<T extends CallPolicy>(schemas: Schemas<T>): (options: unknown) => T {
  let last: Remembered<T> | undefined;
  return (options) => {
    const read = readOnce(options);
    const names = Object.keys(read);
    if (last?.size === names.length) {
      const before = last.read;
      if (names.every((name) => read[name] === before[name] && name in before)) return last.policy;
    }
    const policy = checkOptions(read, schemas);
    if (names.every((name) => typeof read[name] !== 'object')) last = { read, size: names.length, policy };
    return policy;
  };
}

function checkOptions<T extends CallPolicy>(read: Readonly<Record<string, unknown>>, schemas: Schemas<T>): T {
  const policy: Partial<T> = {};
  for (const name in schemas) {
    let reason: unknown;
    try {
      const result = v.safeParse(schemas[name], read[name], { abortEarly: true });
      if (result.success) {
        policy[name] = result.output;
        continue;
      }
    } catch (error) {
      // What a check of ours says, or a proxy or a getter inside an option.
      reason = error instanceof Refusal ? error.reason : error;
    }
    throw new Refusal(ruleOf(name), { path: name, reason });
  }
  // Each name of the schemas has been filled in.
  const checked = policy as T;
  if (checked.tenant !== '' && checked.protocolVersion === '0.3') throw new Refusal('options.dialect', { path: 'tenant' });
  return checked;
}

/** @throws {Refusal} `options.*` */
export const checkCallOptions = checker<CallPolicy>(UNARY);

/** @throws {Refusal} `options.*` */
export const checkStreamOptions = checker<StreamPolicy>(STREAM);

/** The caller's own members, each read once, into an object that nobody else holds. */
function readOnce(options: unknown): Record<string, unknown> {
  const read = Object.create(null) as Record<string, unknown>;
  let reading: string | symbol | undefined;
  try {
    if (!isPlain(options)) throw refused('options.unknown', 'the options are no plain object');
    for (const name of Reflect.ownKeys(options)) {
      reading = name;
      if (typeof name === 'symbol' || !Object.hasOwn(RULE_OF, name)) {
        throw refused('options.unknown', `no such option: ${String(name)}`);
      }
      read[name] = (options)[name];
    }
  } catch (reason) {
    if (reason instanceof Refusal) throw reason;
    throw new Refusal(ruleOf(reading), { reason });
  }
  return read;
}

function ruleOf(name: unknown): FailureRule {
  return typeof name === 'string' && Object.hasOwn(RULE_OF, name) ? RULE_OF[name as keyof StreamOptions] : 'options.unknown';
}

/** A refusal that says why to the caller alone, whose own words may be in it. */
function refused(rule: FailureRule, why: string): Refusal {
  return new Refusal(rule, { reason: new TypeError(why) });
}

// ---- Endpoint ----

const URL_PARTS = /^(https?):\/\/([^/?#@]+)(\/[^?#]*)?(\?[^#]*)?$/;

function endpointOf(value: unknown): Endpoint {
  const text = value instanceof URL ? value.href : value;
  if (typeof text !== 'string') throw refused('options.endpoint', 'it is no string and no URL');
  return parseEndpoint(text);
}

function parseEndpoint(text: string): Endpoint {
  const url = URL.parse(text);
  const parts = URL_PARTS.exec(text);
  if (url === null || parts === null) {
    throw refused('options.endpoint', 'it is no http: or https: URL, or has user info or a fragment');
  }
  const [, scheme = '', authority = '', path = '', query = ''] = parts;
  const host = authority.toLowerCase().replace(scheme === 'https' ? /:443$/ : /:80$/, '');
  const target = `${path === '' ? '/' : path}${query}`;
  // What the URL parser would have to rewrite was not exact, and another parser may rewrite it otherwise.
  if (url.href !== `${scheme}://${host}${target}`) {
    throw refused('options.endpoint', `it is not written as a URL parser would: ${url.href}`);
  }
  return { origin: url.origin, target, isCleartext: scheme === 'http' && !isLoopback(url.hostname) };
}

/** RFC 6761 section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3. The host is as the URL parser writes it. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

// ---- Headers ----

/** RFC 9110 section 5.6.2. */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 9110 section 5.5: no control character but the tab, no white space around. */
const FIELD_VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

/** What frames the message, or what every request says. */
const RESERVED = new Set([
  'host',
  'content-length',
  'content-type',
  'accept',
  'accept-encoding',
  'transfer-encoding',
  'connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'keep-alive',
  'proxy-connection',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
]);

const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization'];

function headersOf(value: unknown): Record<string, string> {
  if (!isPlain(value) || Object.getOwnPropertySymbols(value).length > 0) {
    throw refused('options.headers', 'they are no plain object of names and values');
  }
  return checkHeaders(Object.entries(value));
}

/**
 * Headers that a caller or an interceptor adds, by lower-case name.
 * @throws {Refusal} `options.headers`: reserved, not legal, or twice under one name
 */
export function checkHeaders(entries: Iterable<readonly [string, unknown]>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    if (RESERVED.has(key)) throw refused('options.headers', `reserved: ${key}`);
    if (Object.hasOwn(headers, key)) throw refused('options.headers', `twice: ${key}`);
    if (!FIELD_NAME.test(name) || key === '__proto__') throw refused('options.headers', `no legal name: ${name}`);
    if (typeof value !== 'string' || !FIELD_VALUE.test(value)) throw refused('options.headers', `no legal value: ${key}`);
    headers[key] = value;
  }
  return headers;
}

/** @throws {Refusal} `options.cleartext_credentials` */
export function checkCredentials(policy: CallPolicy, headers: Readonly<Record<string, string>>): void {
  if (!policy.endpoint.isCleartext || policy.allowCleartextCredentials === true) return;
  for (const name of [...CREDENTIALS, ...policy.secretHeaders]) {
    if (Object.hasOwn(headers, name)) throw refused('options.cleartext_credentials', name);
  }
}

// ---- Interceptors ----

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
