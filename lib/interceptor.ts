/** What a caller may run around a call, and what it is shown. */
import type { OperationName } from './dialect/dialect.js';
import type { Failure } from './failure.js';

/** A call that is about to be sent. */
export interface OutgoingCall {
  readonly operation: OperationName;
  /** The JSON-RPC method. */
  readonly method: string;
  /** The exact URL, query included: it may hold secrets. */
  readonly endpoint: string;
  /** The JSON-RPC request id: 128 random bits. */
  readonly requestId: string;
  /** The caller's headers so far; what is set here is sent too. Reserved names are refused (`options.headers`). */
  readonly headers: Headers;
}

/** A call that has ended, however it did. */
export interface FinishedCall {
  readonly operation: OperationName;
  readonly method: string;
  readonly endpoint: string;
  readonly requestId: string;
  /** The HTTP status, where a response head came. */
  readonly status: number | undefined;
  /** The response headers, where a response head came. Untrusted; names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  /** Bytes of the response body that were read. */
  readonly bytes: number;
  /** Events that were delivered; 0 for a unary call. */
  readonly events: number;
  /** From the call to its end. */
  readonly milliseconds: number;
  /** What the call ends with, or `undefined` where it ends well. */
  readonly failure: Failure | undefined;
}

/**
 * Runs around a call, in the order of `CallOptions.interceptors`. A throw ends the call as `interceptor.before` or
 * `interceptor.after`, its cause behind `unwrap()`; one in `after` never replaces a failure that is already there. The call's clocks and
 * signal go on while an interceptor runs.
 */
export interface CallInterceptor {
  /** Before anything is sent; may add headers. */
  before?(call: OutgoingCall): void | Promise<void>;
  /** Once the call has ended, if `before` of this interceptor succeeded. */
  after?(call: FinishedCall): void | Promise<void>;
}
