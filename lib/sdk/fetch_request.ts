/** What `strictFetch` is asked for: checked, and read once, before anything is sent. */
import * as v from 'valibot';
import { isPlain } from '../dialect/values.js';
import { Refusal } from '../failure.js';
import { optionChecker, refused } from '../policy/checker.js';
import { endpointOf, type Endpoint } from '../policy/endpoint.js';
import { checkCredentials, checkHeaders } from '../policy/headers.js';
import { HTTP_OPTIONS, limit, none, type HttpOptions, type HttpPolicy } from '../policy/http.js';

/** What every request of a `strictFetch` keeps to. Read once, when it is made. */
export interface StrictFetchOptions extends Omit<HttpOptions, 'headers' | 'signal'> {
  /** The largest body of a response, in bytes: a positive safe integer (`limit.response_bytes`). */
  readonly maxResponseBytes: number;
  /** The most bytes of an event stream that `accept` asked for (`limit.stream_bytes`). Absent: `maxResponseBytes`. */
  readonly maxStreamBytes?: number | undefined;
  /** The largest body of a request, in bytes (`request.bytes`). Absent: no bound. */
  readonly maxRequestBytes?: number | undefined;
}

/** The same, checked. */
export interface FetchPolicy extends Omit<HttpPolicy, 'headers' | 'signal'> {
  readonly maxResponseBytes: number;
  readonly maxStreamBytes: number | undefined;
  readonly maxRequestBytes: number | undefined;
}

/** A request, ready to be sent: nothing of it is the caller's any more, but for the signal. */
export interface FetchRequest extends HttpPolicy {
  readonly endpoint: Endpoint;
  readonly method: Method;
  readonly body: Buffer | undefined;
  readonly maxResponseBytes: number;
  readonly maxStreamBytes: number;
  /** `accept` asks for an event stream. */
  readonly wantsEvents: boolean;
}

const METHODS = ['GET', 'POST', 'DELETE'] as const;
type Method = (typeof METHODS)[number];

const { headers: _, signal, ...HTTP } = HTTP_OPTIONS;
const bound = v.optional(limit, none);

/** @throws {Refusal} `options.*` */
export const checkFetchOptions: (options: unknown) => FetchPolicy = optionChecker<FetchPolicy>({
  maxResponseBytes: ['options.limit', limit],
  maxStreamBytes: ['options.limit', bound],
  maxRequestBytes: ['options.limit', bound],
  ...HTTP,
});

interface FetchInit {
  readonly method: Method;
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
  readonly signal: AbortSignal | undefined;
}

const checkInit = optionChecker<FetchInit>(
  {
    // As `fetch` takes it, in any case.
    method: ['request.params', v.optional(v.pipe(v.string(), v.toUpperCase(), v.picklist(METHODS)), 'GET')],
    headers: [
      'options.headers',
      v.pipe(
        v.optional(v.unknown(), () => ({})),
        v.transform(fetchHeadersOf),
      ),
    ],
    body: ['request.params', v.nullish(v.pipe(v.unknown(), v.transform(bytesOf)), none)],
    signal: [signal[0], v.pipe(v.unknown(), v.transform((given) => given ?? undefined), signal[1])],
  },
  ({ method, body }) => {
    if (method === 'GET' && body !== undefined) throw new Refusal('request.params', { path: 'body', reason: new TypeError('a GET has no body') });
  },
);

const EVENTS_ACCEPTED = /(?:^|,)[ \t]*text\/event-stream[ \t]*(?:[;,]|$)/i;

/**
 * Takes apart what `fetch` was called with.
 * @throws {Refusal} `options.*`, `request.params`, `request.bytes`
 */
export function checkFetch(policy: FetchPolicy, input: unknown, init: unknown): FetchRequest {
  const endpoint = endpointOf(input);
  const { method, headers, body, signal: watched } = checkInit(init ?? {});
  if ((body?.length ?? 0) > (policy.maxRequestBytes ?? Infinity)) throw new Refusal('request.bytes');
  const request = {
    ...policy,
    endpoint,
    method,
    headers,
    body,
    signal: watched,
    maxStreamBytes: policy.maxStreamBytes ?? policy.maxResponseBytes,
    wantsEvents: EVENTS_ACCEPTED.test(headers['accept'] ?? ''),
  };
  checkCredentials(request, headers);
  return request;
}

/** What a transport says by itself, and what is the caller's to say here. */
const OPEN = new Set(['content-type', 'accept', 'a2a-version', 'a2a-extensions', 'x-a2a-extensions']);

function fetchHeadersOf(value: unknown): Record<string, string> {
  const open: (readonly [string, unknown])[] = [];
  const others: (readonly [string, unknown])[] = [];
  for (const entry of entriesOf(value)) (OPEN.has(entry[0].toLowerCase()) ? open : others).push(entry);
  const headers = checkHeaders(others);
  for (const [name, text] of open) {
    const key = name.toLowerCase();
    if (Object.hasOwn(headers, key)) throw refused('options.headers', `twice: ${key}`);
    // A value that is legal is so under any name.
    for (const legal of Object.values(checkHeaders([['x-open', text]]))) headers[key] = legal;
  }
  return headers;
}

function entriesOf(value: unknown): Iterable<readonly [string, unknown]> {
  if (value instanceof Headers) return value;
  if (isPlain(value)) return Object.entries(value);
  throw refused('options.headers', 'they are no plain object of names and values, and no Headers');
}

/** A copy: the caller may go on to use what was given. */
function bytesOf(value: unknown): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (typeof value !== 'string') throw refused('request.params', 'the body is no string and no bytes');
  if (!value.isWellFormed()) throw refused('request.params', 'half of a surrogate pair');
  return Buffer.from(value);
}
