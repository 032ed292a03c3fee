/** The options of any HTTP exchange, whatever is asked for. */
import * as v from 'valibot';
import { isAborted } from '../wire/signal.js';
import type { OptionTable } from './checker.js';
import { FIELD_NAME, headersOf } from './headers.js';

/** What a caller may say of any exchange. */
export interface HttpOptions {
  /** Headers to add, beside those that every request has, which are reserved (`options.headers`). */
  readonly headers?: Readonly<Record<string, string>> | undefined;
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

/** The same, checked; holds no object of the caller's but the signal. */
export interface HttpPolicy {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
  readonly connectTimeoutMs: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly idleTimeoutMs: number | undefined;
  readonly secretHeaders: readonly string[];
  readonly allowCleartextCredentials: true | undefined;
}

export const none = (): undefined => undefined;

/** A number of bytes or of things. */
export const limit = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** `setTimeout` takes no longer time, and would take one that is longer for none at all. */
const MAX_TIME_MS = 2 ** 31 - 1;
export const time = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_TIME_MS));

export const HTTP_OPTIONS: OptionTable<HttpPolicy> = {
  headers: [
    'options.headers',
    v.pipe(
      v.optional(v.unknown(), () => ({})),
      v.transform(headersOf),
    ),
  ],
  signal: [
    'options.signal',
    v.optional(
      v.pipe(
        v.instance(AbortSignal),
        // An object that only has the prototype throws here.
        v.check((signal) => typeof isAborted(signal) === 'boolean'),
      ),
      none,
    ),
  ],
  connectTimeoutMs: ['options.time', v.optional(time, none)],
  timeoutMs: ['options.time', v.optional(time, none)],
  idleTimeoutMs: ['options.time', v.optional(time, none)],
  secretHeaders: [
    'options.headers',
    v.optional(
      v.array(
        v.pipe(
          v.string(),
          v.check((name) => FIELD_NAME.test(name)),
          v.toLowerCase(),
        ),
      ),
      () => [],
    ),
  ],
  allowCleartextCredentials: ['options.cleartext_credentials', v.optional(v.literal(true), none)],
};
