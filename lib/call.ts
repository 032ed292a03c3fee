/**
 * What every call has in common, unary or streaming: interceptors before and after, the request's bytes, one end.
 */
import type { Dispatcher } from 'undici';
import { CallTrace, traceCall } from './diagnostics.js';
import type { OperationName } from './dialect/dialect.js';
import { Refusal, type Failure } from './failure.js';
import type { CallInterceptor, FinishedCall } from './interceptor.js';
import type { CallPolicy } from './options.js';
import { checkCredentials, checkHeaders } from './policy/headers.js';
import { Exchange, type ExchangeListener } from './wire/exchange.js';
import type { ResponseHead } from './wire/http.js';

/** A call, ready to be sent: nothing of it is the caller's any more. */
export interface PreparedCall<Policy extends CallPolicy = CallPolicy> {
  readonly policy: Policy;
  readonly operation: OperationName;
  /** The JSON-RPC method. */
  readonly method: string;
  /** The JSON-RPC request id. */
  readonly id: string;
  /** The request's bytes. */
  readonly body: Buffer;
  /** The headers that every request of its kind has. */
  readonly headers: readonly string[];
}

export abstract class Call implements ExchangeListener {
  protected readonly prepared: PreparedCall;
  protected readonly exchange: Exchange;
  /** Where somebody subscribes to the calls. */
  protected readonly trace: CallTrace | undefined;
  readonly #dispatcher: Dispatcher;
  readonly #startedAt = performance.now();
  /** The interceptors whose `before` succeeded: their `after` will run. */
  readonly #entered: CallInterceptor[] = [];
  #state: 'open' | 'finishing' | 'settled' = 'open';
  #failure: Failure | undefined;

  constructor(dispatcher: Dispatcher, prepared: PreparedCall) {
    this.#dispatcher = dispatcher;
    this.prepared = prepared;
    this.exchange = new Exchange(prepared.policy, this);
    this.trace = traceCall(prepared.operation, prepared);
  }

  abstract head(head: ResponseHead): void;
  abstract data(chunk: Buffer): void;
  abstract end(): void;
  /** Events that were delivered. */
  protected abstract get events(): number;
  /** The caller gave the call up that has now ended without a failure. */
  protected abstract get isLeft(): boolean;
  /** The call is over: hands the outcome to the caller, once. */
  protected abstract settled(failure: Failure | undefined): void;

  /** The call has its outcome. */
  protected get isFinishing(): boolean {
    return this.#state !== 'open';
  }

  start(): void {
    if (this.trace === undefined) this.#begin();
    else {
      CallTrace.begin(this.trace, () => {
        this.#begin();
      });
    }
  }

  #begin(): void {
    this.exchange.open();
    if (this.exchange.over) return;
    if (this.prepared.policy.interceptors.length === 0) this.#send(this.prepared.policy.headers);
    else void this.#intercept();
  }

  failed(failure: Failure): void {
    this.finish(failure);
  }

  interrupted(interruption: Failure): void {
    // Interceptors that are cut short were part of the call.
    this.#failure ??= this.#state === 'open' ? this.afterInterruption(interruption) : interruption;
    if (this.#state === 'open') {
      this.#state = 'finishing';
      // The caller waits no longer, for interceptors neither.
      void this.#leave(this.#entered);
    }
    this.#settle(this.#failure);
  }

  /** What the call ends with that its signal or clock has ended. */
  protected afterInterruption(interruption: Failure): Failure | undefined {
    return interruption;
  }

  /** The call has its outcome; interceptors may have a last word. */
  protected finish(failure: Failure | undefined): void {
    if (this.#state !== 'open') return;
    this.#state = 'finishing';
    this.#failure = failure;
    this.release(failure);
    if (this.#entered.length === 0) {
      this.#settle(failure);
      return;
    }
    void this.#leave(this.#entered).then(() => {
      this.#settle(this.#failure);
    });
  }

  /** What becomes of the response once the call has its outcome. */
  protected release(_failure: Failure | undefined): void {
    this.exchange.stop();
  }

  #settle(failure: Failure | undefined): void {
    if (this.#state === 'settled') return;
    this.#state = 'settled';
    this.exchange.close();
    if (this.trace === undefined) this.settled(failure);
    else {
      const { status, bytes, delivery } = this.exchange;
      CallTrace.settle(this.trace, failure, { status, bytes, delivery, events: this.events, left: this.isLeft }, () => {
        this.settled(failure);
      });
    }
  }

  #send(headers: Readonly<Record<string, string>>): void {
    const { policy, headers: ours, body } = this.prepared;
    try {
      checkCredentials(policy, headers);
    } catch (error) {
      this.#refuse(error);
      return;
    }
    const all = [...ours];
    for (const [name, value] of Object.entries(headers)) all.push(name, value);
    this.exchange.send(this.#dispatcher, all, body);
  }

  #refuse(error: unknown): void {
    this.finish(this.exchange.failure(error instanceof Refusal ? error : new Refusal('interceptor.before', { reason: error })));
  }

  async #intercept(): Promise<void> {
    const { policy, operation, method, id } = this.prepared;
    const outgoing = {
      operation,
      method,
      endpoint: policy.endpoint.origin + policy.endpoint.target,
      requestId: id,
      headers: new Headers(policy.headers),
    };
    let headers: Record<string, string>;
    try {
      for (const interceptor of policy.interceptors) {
        await interceptor.before?.(outgoing);
        if (this.#state !== 'open') {
          // The call was ended meanwhile, and the others have had their last word: what this one opened it is to close too.
          void this.#leave([interceptor]);
          return;
        }
        this.#entered.push(interceptor);
      }
      headers = checkHeaders(outgoing.headers);
    } catch (error) {
      this.#refuse(error);
      return;
    }
    this.#send(headers);
  }

  /** Runs `after` of each of `interceptors`. Never rejects: what one throws becomes the call's failure, unless there is one. */
  async #leave(interceptors: readonly CallInterceptor[]): Promise<void> {
    const { policy, operation, method, id } = this.prepared;
    for (const interceptor of interceptors) {
      if (interceptor.after === undefined) continue;
      const finished: FinishedCall = {
        operation,
        method,
        endpoint: policy.endpoint.origin + policy.endpoint.target,
        requestId: id,
        status: this.exchange.status,
        headers: this.exchange.headers,
        bytes: this.exchange.bytes,
        events: this.events,
        milliseconds: performance.now() - this.#startedAt,
        failure: this.#failure,
      };
      try {
        await interceptor.after(finished);
      } catch (reason) {
        this.#failure ??= this.exchange.failure(new Refusal('interceptor.after', { reason }));
      }
    }
  }
}
