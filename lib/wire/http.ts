/**
 * What counts as an HTTP answer: the judgement of a response head, and which rule an error of the HTTP client stands for: the `http.`
 * rules.
 */
import type { Dispatcher } from 'undici';
import { Refusal, type FailureRule } from '../failure.js';

/** The headers that are judged, each with all its values in the order they came. */
export interface ResponseHead {
  readonly status: number;
  readonly contentType: readonly string[];
  readonly contentLength: readonly string[];
  readonly contentEncoding: readonly string[];
  readonly transferEncoding: readonly string[];
  readonly retryAfter: readonly string[];
}

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];
type RawHeaders = Dispatcher.DispatchController['rawHeaders'];

const JUDGED = {
  'content-type': 'contentType',
  'content-length': 'contentLength',
  'content-encoding': 'contentEncoding',
  'transfer-encoding': 'transferEncoding',
  'retry-after': 'retryAfter',
} as const;
const JUDGED_NAMES: ReadonlyMap<string, (typeof JUDGED)[keyof typeof JUDGED]> = new Map(Object.entries(JUDGED));
const JUDGED_LENGTHS: ReadonlySet<number> = new Set(Object.keys(JUDGED).map((name) => name.length));

/**
 * The judged part of a response head. The raw headers are what came over the wire; an interceptor of undici's may have taken some
 * of them off the others (`decompress` does). Only where there are none, the parsed ones are read.
 */
export function readHead(status: number, headers: Headers, raw: RawHeaders): ResponseHead {
  const head = {
    status,
    contentType: [] as string[],
    contentLength: [] as string[],
    contentEncoding: [] as string[],
    transferEncoding: [] as string[],
    retryAfter: [] as string[],
  };
  const add = (name: string, value: unknown): void => {
    const key = JUDGED_NAMES.get(name.toLowerCase());
    if (key === undefined) return;
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      // RFC 9110 section 5.5: white space around a value is no part of it, and undici leaves it on. But around a transfer coding it keeps
      // undici's parser from seeing the coding, and behind a length makes it take a whole body for another: there it must not go unnoticed.
      const isFraming = key === 'transferEncoding' || key === 'contentLength';
      head[key].push(isFraming ? textOf(item) : trimmed(textOf(item)));
    }
  };
  if (Array.isArray(raw)) {
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const name = raw[i];
      // Most headers are none that are judged: their length says so.
      if (name !== undefined && JUDGED_LENGTHS.has(name.length)) add(textOf(name), raw[i + 1]);
    }
  } else {
    for (const [name, value] of Object.entries(raw ?? headers)) add(name, value);
  }
  return head;
}

/** Without the spaces and tabs around it. No regular expression: one would take quadratic time for a value that is full of them. */
function trimmed(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isSpace(value.charCodeAt(start))) start++;
  while (end > start && isSpace(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1') : String(value);
}

/**
 * How a body is to be read. `answer`: a JSON-RPC response. `events`: an event stream. `error`: a JSON-RPC response of which only an
 * error counts.
 */
export type BodyPlan =
  | { readonly kind: 'answer' | 'events' }
  | {
      readonly kind: 'error';
      /** The rule for a result. */
      readonly otherwise: FailureRule;
      /** The rule holds for whatever else the body is, or breaks, too. */
      readonly whateverElse: boolean;
    };

/** What was asked for, as far as the head is concerned. */
export interface HeadPolicy {
  readonly stream: boolean;
  readonly maxResponseBytes: number;
  /** A 200 of this media type may carry a JSON-RPC error. */
  readonly errorMediaType: string | undefined;
  /** It may carry a result too. */
  readonly allowPlainTextResults: boolean;
}

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';

/**
 * Judges a response head before anything of the body is read.
 * @throws {Refusal} `http.malformed`, `http.redirect`, `http.status`, `http.content_type`, `http.content_encoding`,
 * `limit.response_bytes`
 */
export function judgeHead(head: ResponseHead, policy: HeadPolicy): BodyPlan {
  checkFraming(head);
  const { status } = head;
  if (status >= 300 && status < 400) throw new Refusal('http.redirect');
  const mediaType = mediaTypeOf(head.contentType);
  const tooLarge = Number(head.contentLength[0] ?? 0) > policy.maxResponseBytes;
  const encoded = !isIdentity(head.contentEncoding);
  if (status !== 200) {
    const isErrorStatus = status >= 400 && status < 600;
    if (!isErrorStatus || mediaType !== JSON_TYPE || encoded || tooLarge) throw new Refusal('http.status');
    return { kind: 'error', otherwise: 'http.status', whateverElse: true };
  }
  if (mediaType === undefined) throw new Refusal('http.content_type');
  const plan = planOf(mediaType, policy);
  if (encoded) throw new Refusal('http.content_encoding');
  if (tooLarge && plan.kind !== 'events') {
    throw new Refusal(plan.kind === 'error' && plan.whateverElse ? plan.otherwise : 'limit.response_bytes');
  }
  return plan;
}

function planOf(mediaType: string, policy: HeadPolicy): BodyPlan {
  if (policy.stream && mediaType === EVENTS_TYPE) return { kind: 'events' };
  if (mediaType === JSON_TYPE) {
    return policy.stream ? { kind: 'error', otherwise: 'http.content_type', whateverElse: false } : { kind: 'answer' };
  }
  if (mediaType === policy.errorMediaType) {
    if (policy.allowPlainTextResults) return { kind: 'answer' };
    return { kind: 'error', otherwise: 'http.content_type', whateverElse: true };
  }
  throw new Refusal('http.content_type');
}

/**
 * RFC 9112 section 6: one length, or one transfer coding that we asked for, never both.
 * @throws {Refusal} `http.malformed`
 */
export function checkFraming({ contentLength, transferEncoding }: ResponseHead): void {
  const lengths = contentLength.length;
  const codings = transferEncoding.length;
  const wellFramed =
    lengths + codings <= 1 &&
    (lengths === 0 || /^\d+$/.test(contentLength[0] ?? '')) &&
    (codings === 0 || transferEncoding[0]?.toLowerCase() === 'chunked');
  if (!wellFramed) throw new Refusal('http.malformed');
}

export function isIdentity(contentEncoding: readonly string[]): boolean {
  return contentEncoding.length === 0 || (contentEncoding.length === 1 && contentEncoding[0]?.toLowerCase() === 'identity');
}

/** RFC 9110 section 8.3.1: a type, then parameters, each a token or a quoted string. */
const MEDIA_TYPE = /^([!#$%&'*+\-.^_`|~0-9a-z]+\/[!#$%&'*+\-.^_`|~0-9a-z]+)[ \t]*(?:;(.*))?$/i;
const PARAMETER = /^[ \t]*([!#$%&'*+\-.^_`|~0-9a-z]+)=(?:([!#$%&'*+\-.^_`|~0-9a-z]+)|"([^"\\]*)")[ \t]*$/i;
/** The forms nearly every server sends, told without a regular expression. */
const PLAIN_TYPES = new Set([JSON_TYPE, EVENTS_TYPE]);

/** The one media type of a head, in lower case; `undefined` where there is none, several, or one that is not of UTF-8 text. */
export function mediaTypeOf(values: readonly string[]): string | undefined {
  const [value] = values;
  if (values.length !== 1 || value === undefined) return undefined;
  if (PLAIN_TYPES.has(value)) return value;
  const match = MEDIA_TYPE.exec(value);
  if (match === null) return undefined;
  const [, type, parameters] = match;
  let charsetSeen = false;
  // A quoted `;` makes no media type that is ours, so nothing is lost by taking it for a separator.
  for (const parameter of parameters === undefined ? [] : parameters.split(';')) {
    if (/^[ \t]*$/.test(parameter)) continue;
    const [, name, token, quoted] = PARAMETER.exec(parameter) ?? [];
    if (name === undefined) return undefined;
    if (name.toLowerCase() !== 'charset') continue;
    if (charsetSeen || (token ?? quoted ?? '').toLowerCase() !== 'utf-8') return undefined;
    charsetSeen = true;
  }
  return type?.toLowerCase();
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** RFC 9110 section 5.6.7: the three formats that a recipient has to take. */
const HTTP_DATES = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/** What `retry-after` asks for in milliseconds, at most a day; `undefined` where there is none, or none that is valid. */
export function retryAfterMs(values: readonly string[], now: number): number | undefined {
  const [value] = values;
  if (values.length !== 1 || value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, DAY_MS);
  const at = httpDate(value);
  return at === undefined ? undefined : Math.min(Math.max(at - now, 0), DAY_MS);
}

/** The milliseconds since 1970 that an HTTP date names; `undefined` where it is none. */
export function httpDate(value: string): number | undefined {
  const format = HTTP_DATES.findIndex((date) => date.test(value));
  if (format < 0) return undefined;
  // The third format names no zone; it is GMT all the same.
  const at = Date.parse(format === 2 ? `${value} GMT` : value);
  // A day that the month does not have, Date.parse takes for one of the next.
  const day = Number(/\b\d{1,2}\b/.exec(value)?.[0]);
  return Number.isNaN(at) || new Date(at).getUTCDate() !== day ? undefined : at;
}

/** What an error of the HTTP client stands for. */
export interface ClientErrorVerdict {
  readonly rule: FailureRule;
  /** A status that an interceptor of undici's kept for itself, with its head. */
  readonly status?: number;
  readonly retryAfter?: readonly string[];
}

/**
 * Which rule an error of the HTTP client, or of a dispatcher of other make, stands for.
 * @param stage how far the exchange had come: the request could not be written yet, was (perhaps) written, or its answer had begun
 */
export function judgeClientError(error: unknown, stage: 'waiting' | 'sent' | 'answered'): ClientErrorVerdict {
  const { name, code, message, statusCode, headers } = fieldsOf(error);
  if (code === 'UND_ERR_REQ_RETRY' || code === 'UND_ERR_RESPONSE') {
    const status = typeof statusCode === 'number' ? statusCode : 0;
    // A good status that was kept: the body behind it was not whole.
    if (status === 200) return { rule: 'http.truncated', status };
    return {
      rule: status >= 300 && status < 400 ? 'http.redirect' : 'http.status',
      status,
      retryAfter: headers === undefined ? [] : readHead(status, {}, headers).retryAfter,
    };
  }
  if (stage === 'waiting') return { rule: 'http.connect' };
  // Its code is not to be relied on: undici's build of the parser leaves it undefined.
  if (name === 'HTTPParserError' && !/Invalid EOF state/.test(String(message))) return { rule: 'http.malformed' };
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return { rule: 'limit.head_bytes' };
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return { rule: 'limit.response_bytes' };
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    // undici compares lengths before it looks at what the parser says: in a head, they are lengths that contradict each other.
    return { rule: stage === 'sent' ? 'http.malformed' : 'http.truncated' };
  }
  // nghttp2's word for bytes that break HTTP/2.
  if (code === 'ERR_HTTP2_ERROR') return { rule: 'http.malformed' };
  // How undici's forwarding proxy says that it was asked for credentials: it keeps the head for itself.
  if (code === 'UND_ERR_INVALID_ARG' && message === 'Proxy Authentication Required (407)') return { rule: 'http.status', status: 407 };
  // undici takes it for granted that a status is 100 or more, and asserts it.
  if (code === 'ERR_ASSERTION' && stage === 'sent') return { rule: 'http.malformed' };
  // How undici says that it met a 100 or a 101 it has no use for.
  if (code === 'UND_ERR_SOCKET' && (message === 'bad response' || message === 'bad upgrade')) return { rule: 'http.malformed' };
  return { rule: stage === 'sent' ? 'http.connection_lost' : 'http.truncated' };
}

interface ErrorFields {
  readonly name?: unknown;
  readonly code?: string | undefined;
  readonly message?: unknown;
  readonly statusCode?: unknown;
  readonly headers?: Record<string, string | string[] | undefined> | undefined;
}

function fieldsOf(error: unknown): ErrorFields {
  if (typeof error !== 'object' || error === null) return {};
  try {
    const { name, code, message, statusCode, headers } = error as Record<string, unknown>;
    return {
      name,
      code: typeof code === 'string' ? code : undefined,
      message,
      statusCode,
      headers: typeof headers === 'object' && headers !== null ? (headers as ErrorFields['headers']) : undefined,
    };
  } catch {
    // An error of other make that throws when it is looked at says nothing.
    return {};
  }
}
