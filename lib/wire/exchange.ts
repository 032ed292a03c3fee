/**
 * One undici dispatch, from the call to its end: one request and never two, no redirect, the clocks, cancellation, and how far the
 * request came.
 *
 * It settles by itself and owes nothing to undici's good will: whatever a dispatcher or an interceptor does or leaves undone after
 * the end has no effect.
 */
import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import { Failure, Refusal, failureOf, type Delivery } from '../failure.js';
import { judgeClientError, readHead, retryAfterMs, type ClientErrorVerdict, type ResponseHead } from './http.js';
import { watchRawHeaders } from './raw_headers.js';
import { isAborted, signalRefusal, unwatch, watch } from './signal.js';

/** What an exchange is told of the call. */
export interface ExchangePolicy {
  readonly endpoint: { readonly origin: string; readonly target: string };
  readonly signal: AbortSignal | undefined;
  readonly connectTimeoutMs: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly idleTimeoutMs: number | undefined;
}

/** Who an exchange reports to. A {@link Refusal} that one of the first three throws ends the exchange. */
export interface ExchangeListener {
  head(head: ResponseHead): void;
  data(chunk: Buffer): void;
  /** The response is whole. */
  end(): void;
  /** The exchange has failed, once. */
  failed(failure: Failure): void;
  /** The caller's signal or `timeoutMs` ended the call: until `close`, whether or not the response is whole. */
  interrupted(failure: Failure): void;
}

/** How long an agent may take to close a stream that has ended, in milliseconds. */
export const LINGER_MS = 250;

const MAX_INFORMATIONAL = 16;

/**
 * Marks a body as one that was read already. undici's retry and redirect handlers send no body twice that they find so: for
 * `RetryAgent`, whose options outrank those of a dispatch, there is no other way to say it.
 */
const DISTURBED = Symbol.for('nodejs.stream.disturbed');

const ENCODED: ClientErrorVerdict = { rule: 'http.content_encoding', status: 200 };

/** Never seen by anyone but undici: a reason to abort with. */
class Ended extends Error {}

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #policy: ExchangePolicy;
  readonly #listener: ExchangeListener;
  readonly #onAbort = (): void => {
    const { signal } = this.#policy;
    if (signal !== undefined) this.#interrupt(signalRefusal(signal));
  };

  #controller: Dispatcher.DispatchController | undefined;
  #delivery: Delivery = 'not_sent';
  #head: ResponseHead | undefined;
  #rawHeaders: ReturnType<typeof watchRawHeaders>;
  #headers: Headers | undefined;
  #informational = 0;
  #bytes = 0;
  /** Counts what came of the response. */
  #activity = 0;
  /** The response is whole, or has failed, or nobody wants it any more. */
  #over = false;
  /** Nobody wants what still comes of the response. */
  #isDeaf = false;
  #paused = false;
  #totalTimer: NodeJS.Timeout | undefined;
  #connectTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #lingerTimer: NodeJS.Timeout | undefined;

  constructor(policy: ExchangePolicy, listener: ExchangeListener) {
    this.#policy = policy;
    this.#listener = listener;
  }

  get over(): boolean {
    return this.#over;
  }

  /** Bytes of the body that have arrived. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How far the request has come. */
  get delivery(): Delivery {
    return this.#delivery;
  }

  get status(): number | undefined {
    return this.#head?.status;
  }

  get headers(): Headers | undefined {
    return this.#headers;
  }

  /** Starts what goes on for the whole call: the total clock and the watch on the signal. */
  open(): void {
    const { signal, timeoutMs } = this.#policy;
    if (timeoutMs !== undefined) {
      this.#totalTimer = setTimeout(() => {
        this.#interrupt(new Refusal('deadline.total'));
      }, timeoutMs);
    }
    if (signal === undefined) return;
    if (isAborted(signal) === true) this.#onAbort();
    else watch(signal, this.#onAbort);
  }

  /** Sends the request: unless `method` says otherwise, a POST of `body`, or a GET where there is none. */
  send(dispatcher: Dispatcher, headers: string[], body?: Buffer, method: Dispatcher.HttpMethod = body === undefined ? 'GET' : 'POST'): void {
    const { endpoint, connectTimeoutMs } = this.#policy;
    if (connectTimeoutMs !== undefined) {
      this.#connectTimer = setTimeout(() => {
        this.fail(new Refusal('deadline.connect'));
      }, connectTimeoutMs);
    }
    const options = {
      origin: endpoint.origin,
      path: endpoint.target,
      method,
      headers,
      // An empty one is sent as none is; without one to mark, a retry handler would wait for its turn to send a GET again.
      body: Object.assign(body ?? Buffer.alloc(0), { [DISTURBED]: true }),
      // The caller's clocks are the only ones.
      headersTimeout: 0,
      bodyTimeout: 0,
      // For undici's interceptors: what they would do by default, or by their own options.
      maxRedirections: 0,
      retryOptions: { maxRetries: 0, methods: [], statusCodes: [], errorCodes: [] },
    };
    try {
      const returned: unknown = dispatcher.dispatch(options, this);
      // One of other make may be asynchronous.
      if (returned instanceof Promise) {
        returned.catch((error: unknown) => {
          this.#clientFailed(error);
        });
      }
    } catch (error) {
      this.#clientFailed(error);
    }
  }

  /** Holds the agent back. The idle clock rests meanwhile: it is not the agent that is slow. */
  pause(): void {
    if (this.#over || this.#paused) return;
    this.#paused = true;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    this.#control((controller) => {
      controller.pause();
    });
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    // From within a callback of another dispatch, resuming breaks undici; from a microtask it never is.
    queueMicrotask(() => {
      if (this.#over || this.#paused) return;
      this.#watchIdle();
      this.#control((controller) => {
        controller.resume();
      });
    });
  }

  #control(act: (controller: Dispatcher.DispatchController) => void): void {
    try {
      if (this.#controller !== undefined) act(this.#controller);
    } catch (error) {
      // A controller of other make that does not do what it is for: nothing more will come of this response.
      this.#clientFailed(error);
    }
  }

  /** Ends the exchange with a failure, unless it is over. */
  fail(refusal: Refusal): void {
    if (this.#over) return;
    const failure = this.failure(refusal);
    this.stop();
    this.#listener.failed(failure);
  }

  /** The failure that a refusal makes of this exchange. */
  failure(refusal: Refusal): Failure {
    const { rule } = refusal;
    const isAnswer = rule === 'http.status' || rule === 'http.redirect' || rule === 'remote.error';
    return new Failure(rule, {
      delivery: this.#delivery,
      status: isAnswer ? this.#head?.status : undefined,
      retryAfterMs: isAnswer && this.#head ? retryAfterMs(this.#head.retryAfter, Date.now()) : undefined,
      code: refusal.code,
      path: refusal.path,
      cause: refusal.reason,
    });
  }

  /** Nothing more of the response is wanted: the connection is closed, unless the response is whole. */
  stop(): void {
    this.#clearTimers();
    if (this.#over) return;
    this.#over = true;
    try {
      this.#controller?.abort(new Ended());
    } catch {
      // A controller of other make: the call is over all the same.
    }
  }

  /** Nothing more of the response is wanted, but its connection may serve another call if the agent closes the response soon. */
  linger(): void {
    if (this.#over) return;
    this.#isDeaf = true;
    this.resume();
    this.#lingerTimer ??= setTimeout(() => {
      this.stop();
    }, LINGER_MS);
  }

  /** The call is over: its clock and its signal have no more effect. */
  close(): void {
    clearTimeout(this.#totalTimer);
    const { signal } = this.#policy;
    if (signal !== undefined) unwatch(signal, this.#onAbort);
  }

  /** The stream has ended: the agent has {@link LINGER_MS} left to close the response, and `expired` is called if it does not. */
  awaitEnd(expired: () => void): void {
    if (this.#over) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    this.#lingerTimer = setTimeout(() => {
      this.stop();
      if (!this.#isDeaf) expired();
    }, LINGER_MS);
  }

  #clearTimers(): void {
    clearTimeout(this.#connectTimer);
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#lingerTimer);
    this.#connectTimer = this.#idleTimer = this.#lingerTimer = undefined;
  }

  /** undici's `decompress` gave up on a head for its content codings, and kept it. */
  #isKeptForEncoding(): boolean {
    const raw = this.#head === undefined ? this.#rawHeaders?.() : undefined;
    return raw !== undefined && readHead(0, {}, raw).contentEncoding.length > 0;
  }

  #interrupt(refusal: Refusal): void {
    const failure = this.failure(refusal);
    this.stop();
    this.#listener.interrupted(failure);
  }

  #watchIdle(): void {
    const { idleTimeoutMs } = this.#policy;
    if (idleTimeoutMs === undefined || this.#isDeaf || this.#paused || this.#lingerTimer !== undefined) return;
    this.#activity++;
    if (this.#idleTimer !== undefined) {
      this.#idleTimer.refresh();
      return;
    }
    this.#idleTimer = setTimeout(() => {
      const activity = this.#activity;
      // If it was this process that was busy, what came meanwhile is still to be read: it is before an immediate runs.
      setImmediate(() => {
        if (activity === this.#activity && this.#idleTimer !== undefined) this.fail(new Refusal('deadline.idle'));
      });
    }, idleTimeoutMs);
  }

  #clientFailed(error: unknown): void {
    if (this.#over) return;
    const stage = this.#head ? 'answered' : this.#delivery === 'not_sent' ? 'waiting' : 'sent';
    const { rule, status, retryAfter } = this.#isKeptForEncoding() ? ENCODED : judgeClientError(error, stage);
    if (status !== undefined) {
      // An interceptor of undici's kept the head for itself, but one there was.
      this.#delivery = 'answered';
      this.#head ??= { ...readHead(status, {}, null), retryAfter: retryAfter ?? [] };
    }
    // What `hardenedAgent` refuses to connect to is refused by its own name, and is not an error of the network's.
    const refused = stage === 'waiting' ? failureOf(error) : undefined;
    const failure = this.failure(
      refused?.rule === 'network.refused' ? new Refusal(refused.rule, { reason: refused.unwrap() }) : new Refusal(rule, { reason: error }),
    );
    this.#over = true;
    this.#clearTimers();
    if (!this.#isDeaf) this.#listener.failed(failure);
  }

  // ---- undici's callbacks ----

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const isRepeat = this.#delivery !== 'not_sent';
    if (isRepeat) this.fail(new Refusal('http.connection_lost'));
    // The call ended while its connection was being made, or this is a second attempt at it. Nothing has been written, and nothing will be:
    // a throw ends a dispatch under whatever interceptor, and unlike `abort` it leaves the connection to others.
    if (this.#over) throw new Ended();
    this.#controller = controller;
    this.#rawHeaders = watchRawHeaders(controller);
    clearTimeout(this.#connectTimer);
    this.#connectTimer = undefined;
    this.#delivery = 'unknown';
  }

  onRequestSent(): void {
    if (!this.#over) this.#watchIdle();
  }

  onRequestUpgrade(_controller: Dispatcher.DispatchController, _status: number, _headers: Headers, socket: Duplex): void {
    socket.destroy();
    this.fail(new Refusal('http.malformed'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (this.#over) return;
    this.#watchIdle();
    if (status < 200) {
      this.#rawHeaders?.();
      this.#informational++;
      if (status === 101 || this.#informational > MAX_INFORMATIONAL) this.fail(new Refusal('http.malformed'));
      return;
    }
    if (this.#head !== undefined) {
      // Two responses to one request, which only a dispatcher of other make could think of.
      this.fail(new Refusal('http.malformed'));
      return;
    }
    const head = readHead(status, headers, this.#rawHeaders?.() ?? controller.rawHeaders);
    this.#delivery = 'answered';
    this.#head = head;
    this.#headers = headers;
    try {
      this.#listener.head(head);
    } catch (error) {
      this.fail(asRefusal(error));
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over || this.#isDeaf) return;
    if (this.#head === undefined) {
      this.fail(new Refusal('http.malformed'));
      return;
    }
    this.#bytes += chunk.length;
    this.#watchIdle();
    try {
      this.#listener.data(chunk);
    } catch (error) {
      this.fail(asRefusal(error));
    }
  }

  onResponseEnd(): void {
    if (this.#over) return;
    if (this.#head === undefined) {
      this.fail(new Refusal('http.malformed'));
      return;
    }
    this.#over = true;
    this.#clearTimers();
    if (this.#isDeaf) return;
    try {
      this.#listener.end();
    } catch (error) {
      this.#listener.failed(this.failure(asRefusal(error)));
    }
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#clientFailed(error);
  }
}

/** What a judge throws that is no refusal is the engine at its limits: a text or a list larger than it can make. */
export function asRefusal(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal('limit.response_bytes', { reason: error });
}
