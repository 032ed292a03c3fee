/**
 * The tracing channel `a2a-strict:call` of `node:diagnostics_channel`: what each call tells those who subscribe to it.
 *
 * Nothing of a payload and no header value is in it. A call without a subscriber asks once whether there is one, and that is all.
 */
import { createHash, type Hash } from 'node:crypto';
import { tracingChannel } from 'node:diagnostics_channel';
import type { PreparedCall } from './call.js';
import type { OperationName, ProtocolVersion, StreamName } from './dialect/dialect.js';
import { isObject } from './dialect/values.js';
import type { Delivery, Failure, FailureKind, FailureRule } from './failure.js';

/**
 * What every call publishes to the tracing channel `a2a-strict:call`: one object a call, the same on all of the channel's five.
 *
 * `start` and `end` stand around the beginning of the call, which runs its first interceptor or its dispatch: a store that is bound to
 * `start` is theirs. `asyncStart` and `asyncEnd` stand around its end, `error` comes before them where it failed. A call that is refused
 * before anything is sent publishes as well, a stream from its first `next()`.
 *
 * A subscriber sees what happens and changes nothing of it. One that throws does not harm the call: Node reports the throw as an uncaught
 * exception. One that subscribes while a call goes on hears nothing of that call, or its end alone
 * where somebody else had subscribed before it began.
 */
export interface CallMessage {
  /** The version of this type: 1. Members may be added to it; one that goes or changes its meaning changes the version. */
  readonly version: 1;
  /** The name of the `StrictClient` method. */
  readonly operation: OperationName;
  /** Whether the operation is a stream. */
  readonly stream: boolean;
  /** The JSON-RPC method. `undefined`, as the next three, for a call whose options or parameters were refused. */
  readonly method: string | undefined;
  /** Scheme, host and port of the endpoint: neither path nor query. */
  readonly origin: string | undefined;
  /** The dialect of the call. */
  readonly protocolVersion: ProtocolVersion | undefined;
  /** The JSON-RPC request id, which interceptors see too. */
  readonly requestId: string | undefined;
  /** Bytes of the request body; 0 for a call whose options or parameters were refused. */
  readonly requestBytes: number;
  /** When the call began, in milliseconds since the epoch. */
  readonly startedAt: number;

  /** From the call's beginning to its end. `undefined` before `error` or `asyncStart`, as all that follows. */
  readonly milliseconds: number | undefined;
  /** From the call's beginning until its first event was delivered; `undefined` for a unary call. */
  readonly firstEventMilliseconds: number | undefined;
  /** The HTTP status, where a response head came. */
  readonly status: number | undefined;
  /** Bytes of the response body that were read. */
  readonly bytes: number | undefined;
  /** Events that were delivered; 0 for a unary call. */
  readonly events: number | undefined;
  /** `left`: the caller left a stream before it had ended. */
  readonly outcome: 'ok' | 'left' | 'failure' | undefined;
  /** How far the request came. */
  readonly delivery: Delivery | undefined;
  /** The failure's kind; `undefined` where there was none. */
  readonly kind: FailureKind | undefined;
  /** The failure's rule; `undefined` where there was none. */
  readonly rule: FailureRule | undefined;

  /** SHA-256 of the request body, in hexadecimal: after {@link CallMessage.keepDigests} alone. */
  readonly requestSha256?: string;
  /**
   * SHA-256 of the exact bytes of the results, in hexadecimal: those of `raw`, for a stream of each event in order. At the end of the call,
   * after {@link CallMessage.keepDigests} alone, and if a result was accepted.
   */
  readonly resultSha256?: string;
  /** The task that the results are about: the agent's own word. At the end, after {@link CallMessage.keepIds} alone, and if they name one. */
  readonly taskId?: string;
  /** The context that the results are about: the agent's own word. As `taskId`. */
  readonly contextId?: string;

  /** What the call ended with. Not enumerable: `kind` and `rule` say it in a log line. */
  readonly error: Failure | undefined;

  /** Asks for the digests, while `start` is published; has no effect later. */
  keepDigests(): void;
  /** Asks for the task's and the context's id, while `start` is published; has no effect later. */
  keepIds(): void;
}

/** What is known of a call at its end. */
interface Seen {
  readonly status: number | undefined;
  readonly bytes: number;
  readonly events: number;
  readonly delivery: Delivery;
  readonly left: boolean;
}

type Subject = Pick<CallMessage, 'taskId' | 'contextId'>;

const NOTHING: Seen = { status: undefined, bytes: 0, events: 0, delivery: 'not_sent', left: false };

const STREAMS: Readonly<Record<StreamName, true>> = { sendStreamingMessage: true, subscribeToTask: true };

const calls = tracingChannel<unknown, CallMessage>('a2a-strict:call');

/** What a call tells its subscribers by: `undefined` where there are none. */
export function traceCall(operation: OperationName, prepared?: PreparedCall): CallTrace | undefined {
  return calls.hasSubscribers ? new CallTrace(operation, prepared) : undefined;
}

/** A call that was refused before it was prepared. */
export function traceRefusal(operation: OperationName, failure: Failure): void {
  const trace = traceCall(operation);
  if (trace === undefined) return;
  CallTrace.begin(trace, () => undefined);
  CallTrace.settle(trace, failure, NOTHING, () => undefined);
}

export class CallTrace implements CallMessage {
  readonly version = 1;
  readonly operation: OperationName;
  readonly stream: boolean;
  readonly method: string | undefined;
  readonly origin: string | undefined;
  readonly protocolVersion: ProtocolVersion | undefined;
  readonly requestId: string | undefined;
  readonly requestBytes: number;
  readonly startedAt = Date.now();

  // Filled in at the end.
  readonly milliseconds: number | undefined;
  readonly firstEventMilliseconds: number | undefined;
  readonly status: number | undefined;
  readonly bytes: number | undefined;
  readonly events: number | undefined;
  readonly outcome: 'ok' | 'left' | 'failure' | undefined;
  readonly delivery: Delivery | undefined;
  readonly kind: FailureKind | undefined;
  readonly rule: FailureRule | undefined;
  // Absent unless asked for.
  declare requestSha256?: string;
  declare readonly resultSha256?: string;
  declare readonly taskId?: string;
  declare readonly contextId?: string;

  readonly #since = performance.now();
  /** The request's bytes, as long as somebody may ask for their digest. */
  #body: Uint8Array | undefined;
  #stage: 'starting' | 'begun' | 'ended' = 'starting';
  #results: Hash | undefined;
  #firstResultAt: number | undefined;
  #keepsIds = false;
  #subject: Subject = {};
  #failure: Failure | undefined;

  constructor(operation: OperationName, prepared: PreparedCall | undefined) {
    this.operation = operation;
    this.stream = Object.hasOwn(STREAMS, operation);
    this.method = prepared?.method;
    this.origin = prepared?.policy.endpoint.origin;
    this.protocolVersion = prepared?.policy.protocolVersion;
    this.requestId = prepared?.id;
    this.requestBytes = prepared?.body.length ?? 0;
    this.#body = prepared?.body;
  }

  get error(): Failure | undefined {
    return this.#failure;
  }

  keepDigests(): void {
    if (this.#stage !== 'starting' || this.#body === undefined || this.#results !== undefined) return;
    this.requestSha256 = createHash('sha256').update(this.#body).digest('hex');
    this.#results = createHash('sha256');
  }

  keepIds(): void {
    if (this.#stage === 'starting') this.#keepsIds = true;
  }

  // What the call does with its message is reached by none of its members: a subscriber holds it, and may set any.

  /** Runs the beginning of the call. */
  static begin(trace: CallTrace, run: () => void): void {
    trace.#begin(run);
  }

  /** A result, or an event of a stream, was judged good. */
  static accepted(trace: CallTrace | undefined, holder: { readonly raw: Uint8Array }, result: unknown): void {
    if (trace !== undefined) trace.#accepted(holder, result);
  }

  /** The call is over. */
  static settle(trace: CallTrace, failure: Failure | undefined, seen: Seen, handOver: () => void): void {
    trace.#settle(failure, seen, handOver);
  }

  #begin(run: () => void): void {
    calls.start.runStores(this, () => {
      this.#stage = 'begun';
      this.#body = undefined;
      run();
    });
    this.#end();
  }

  #accepted(holder: { readonly raw: Uint8Array }, result: unknown): void {
    this.#firstResultAt ??= performance.now();
    // The bytes may be copied only when they are asked for.
    this.#results?.update(holder.raw);
    // What a method that we do not know answers may name anything.
    if (this.#keepsIds && this.operation !== 'call') this.#subject = { ...this.#subject, ...subjectOf(result) };
  }

  #settle(failure: Failure | undefined, { status, bytes, events, delivery, left }: Seen, handOver: () => void): void {
    this.#end();
    this.#failure = failure;
    const first = this.#firstResultAt;
    const resultSha256 = first === undefined ? undefined : this.#results?.digest('hex');
    try {
      Object.assign(this, {
        milliseconds: performance.now() - this.#since,
        ...(this.stream && first !== undefined && { firstEventMilliseconds: first - this.#since }),
        status,
        bytes,
        events,
        outcome: failure !== undefined ? 'failure' : left ? 'left' : 'ok',
        delivery: failure?.delivery ?? delivery,
        kind: failure?.kind,
        rule: failure?.rule,
        ...(resultSha256 !== undefined && { resultSha256 }),
        ...this.#subject,
      } satisfies Partial<CallMessage>);
    } catch {
      // A subscriber froze its message: that is no matter of the call's.
    }
    if (failure !== undefined) calls.error.publish(this);
    calls.asyncStart.publish(this);
    handOver();
    calls.asyncEnd.publish(this);
  }

  /** Also a call that is over at once has begun before. */
  #end(): void {
    if (this.#stage === 'ended') return;
    this.#stage = 'ended';
    calls.end.publish(this);
  }
}

/** What a result is about: the task itself, or the one that it names. */
function subjectOf(result: unknown): Subject {
  const subject = isObject(result) && '$case' in result ? result['value'] : result;
  if (!isObject(subject)) return {};
  const { id, taskId = id, contextId } = subject;
  return {
    ...(typeof taskId === 'string' && taskId !== '' && { taskId }),
    ...(typeof contextId === 'string' && contextId !== '' && { contextId }),
  };
}
