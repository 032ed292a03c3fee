/**
 * A streaming call: an async iterator that decodes each event when it is asked for it, and holds the agent back meanwhile.
 */
import type { Dispatcher } from 'undici';
import { Call, type PreparedCall } from './call.js';
import type { Dialect, StreamName } from './dialect/dialect.js';
import { CallTrace, traceRefusal } from './diagnostics.js';
import { Refusal, type Failure } from './failure.js';
import type { StreamPolicy } from './options.js';
import { RepeatRecognition, type DecodedEvent } from './repeat.js';
import { BODY_RULES, Body, bodyRefusal, decodeError } from './unary.js';
import { asRefusal } from './wire/exchange.js';
import { judgeHead, type BodyPlan, type ResponseHead } from './wire/http.js';
import { ResponseDecoder, copyOf } from './wire/jsonrpc.js';
import { Lifecycle, type StreamEvent, type StreamRequest } from './wire/lifecycle.js';
import { SseParser, type Frame } from './wire/sse.js';

/** One event of a stream. */
export interface StreamItem {
  /** The event, decoded to the SDK's type, checked against its schema and its place in the stream. Its texts are the agent's own. */
  readonly event: StreamEvent;
  /**
   * The exact bytes of the event's JSON-RPC result, in a buffer of their own, which is made when it is first asked for. Checked to be I-JSON. An
   * item that is kept, rather than its `event`, keeps what was read from the socket with it (64 KiB at most, or its own size) until then.
   */
  readonly raw: Uint8Array;
  /** The SSE event id; unique in its stream. `undefined` only under `eventIds: 'optional'`. */
  readonly id: string | undefined;
}

/**
 * The events of one streaming call, in order. Lazy: nothing is sent, and nothing is refused, before the first `next()`. Throws a
 * {@link Failure} once, after the events that came before it; ends without one only where the agent ended the stream as the protocol says.
 * Leaving a loop early closes the stream.
 */
export interface EventStream extends AsyncIterable<StreamItem>, AsyncDisposable {
  /** The next event. May be called again before the last call has settled: answers come in order. */
  next(): Promise<IteratorResult<StreamItem, undefined>>;
  /** Ends the stream; idempotent. */
  return(): Promise<IteratorResult<StreamItem, undefined>>;
  /** The stream itself. */
  [Symbol.asyncIterator](): EventStream;
}

/** Most consumers never ask for the bytes, and a buffer for each event costs more than all else that is done for it. */
class Item implements StreamItem {
  readonly event: StreamEvent;
  readonly id: string | undefined;
  #data: Buffer;
  readonly #start: number;
  readonly #end: number;
  #raw: Uint8Array | undefined;

  constructor(event: StreamEvent, id: string | undefined, data: Buffer, start: number, end: number) {
    this.event = event;
    this.id = id;
    this.#data = data;
    this.#start = start;
    this.#end = end;
  }

  get raw(): Uint8Array {
    if (this.#raw === undefined) {
      this.#raw = copyOf(this.#data, this.#start, this.#end);
      this.#data = NOTHING;
    }
    return this.#raw;
  }
}

const NOTHING = Buffer.alloc(0);

/** A streaming call, ready to be sent. */
export interface PreparedStream {
  readonly call: PreparedCall<StreamPolicy>;
  readonly asked: StreamRequest;
  readonly dialect: Dialect;
}

/** A streaming call that is not to be sent. */
export interface RefusedStream {
  readonly operation: StreamName;
  readonly failure: Failure;
}

/** So much may have arrived ahead of the consumer before the agent is held back: one socket chunk; undici may deliver another. */
const AHEAD_BYTES = 64 * 1024;

const DONE: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/** A stream that is dropped without `return()` must not keep its connection. */
const abandoned = new FinalizationRegistry<StreamCall>((call) => {
  void call.stop();
});

export function openStream(dispatcher: Dispatcher, prepared: PreparedStream | RefusedStream): EventStream {
  return new Events(dispatcher, prepared);
}

/** What the caller holds. Nothing below refers to it unless somebody waits, so that it can be found abandoned. */
class Events implements EventStream {
  readonly #dispatcher: Dispatcher;
  /** What is to be sent or to be thrown at the first `next()`. */
  #prepared: PreparedStream | RefusedStream | undefined;
  #call: StreamCall | undefined;

  constructor(dispatcher: Dispatcher, prepared: PreparedStream | RefusedStream) {
    this.#dispatcher = dispatcher;
    this.#prepared = prepared;
  }

  next(): Promise<IteratorResult<StreamItem, undefined>> {
    if (this.#call !== undefined) return this.#call.next(this);
    const prepared = this.#prepared;
    this.#prepared = undefined;
    if (prepared === undefined) return Promise.resolve(DONE);
    if ('failure' in prepared) {
      traceRefusal(prepared.operation, prepared.failure);
      return Promise.reject(prepared.failure);
    }
    const call = new StreamCall(this.#dispatcher, prepared);
    this.#call = call;
    abandoned.register(this, call, this);
    const first = call.next(this);
    call.start();
    return first;
  }

  return(): Promise<IteratorResult<StreamItem, undefined>> {
    this.#prepared = undefined;
    if (this.#call === undefined) return Promise.resolve(DONE);
    abandoned.unregister(this);
    return this.#call.stop();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}

interface Waiter {
  /** A stream that is waited for is not abandoned, even if nothing but the promise is held. */
  readonly holder: Events;
  readonly resolve: (result: IteratorResult<StreamItem, undefined>) => void;
  readonly reject: (failure: Failure) => void;
}

class StreamCall extends Call {
  readonly #dialect: Dialect;
  readonly #parser: SseParser;
  readonly #decoder: ResponseDecoder;
  readonly #repeats: RepeatRecognition | undefined;
  readonly #lifecycle: Lifecycle;
  readonly #maxResponseBytes: number;
  #plan: BodyPlan = { kind: 'events' };
  /** The body of an answer that is no stream. */
  #body: Body | undefined;
  /** The response is whole, or the network failed: what is left is what has arrived. */
  #closed = false;
  #networkFailure: Failure | undefined;
  #events = 0;
  /** A rule broken after the end, by an event that is not complete yet. */
  #brokenAfterEnd: Refusal | undefined;

  readonly #waiters: Waiter[] = [];
  #isSettled = false;
  /** The consumer left before the end. */
  #isLeft = false;
  /** What the next `next()` is to throw. */
  #thrown: Failure | undefined;
  /** Calls of `return()` that wait for the interceptors. */
  readonly #stopping: (() => void)[] = [];

  constructor(dispatcher: Dispatcher, { call, asked, dialect }: PreparedStream) {
    super(dispatcher, call);
    const { maxResponseBytes, maxEventBytes, maxStreamBytes, maxStreamEvents, eventIds, repeatRecognition } = call.policy;
    this.#dialect = dialect;
    this.#maxResponseBytes = maxResponseBytes;
    this.#decoder = new ResponseDecoder(call.id);
    this.#repeats = repeatRecognition ? new RepeatRecognition((data) => this.#decode(data)) : undefined;
    this.#lifecycle = new Lifecycle(asked);
    this.#parser = new SseParser({
      maxEventBytes,
      maxStreamBytes: maxStreamBytes ?? Infinity,
      maxStreamEvents: maxStreamEvents ?? Infinity,
      eventIds,
    });
  }

  // ---- The consumer's side ----

  next(holder: Events): Promise<IteratorResult<StreamItem, undefined>> {
    if (this.#waiters.length === 0) {
      const item = this.#take();
      if (item !== undefined) return Promise.resolve({ done: false, value: item });
      if (this.#isSettled) return this.#over();
    }
    return new Promise((resolve, reject) => {
      this.#waiters.push({ holder, resolve, reject });
    });
  }

  stop(): Promise<IteratorResult<StreamItem, undefined>> {
    this.#thrown = undefined;
    if (this.#isSettled) return Promise.resolve(DONE);
    const stopped = new Promise<IteratorResult<StreamItem, undefined>>((resolve) => {
      this.#stopping.push(() => {
        resolve(DONE);
      });
    });
    if (!this.isFinishing) this.#isLeft = !this.#lifecycle.ended;
    this.finish(undefined);
    return stopped;
  }

  #over(): Promise<IteratorResult<StreamItem, undefined>> {
    const failure = this.#thrown;
    this.#thrown = undefined;
    return failure === undefined ? Promise.resolve(DONE) : Promise.reject(failure);
  }

  /** Serves those who wait with what has arrived. */
  #serve(): void {
    while (this.#waiters.length > 0) {
      const item = this.#take();
      if (item === undefined) return;
      this.#waiters.shift()?.resolve({ done: false, value: item });
    }
  }

  /** The next event of what has arrived. Where there is none, the stream has ended or goes on to be read. */
  #take(): StreamItem | undefined {
    if (this.isFinishing) return undefined;
    try {
      const frame = this.#nextFrame();
      if (frame !== undefined) return this.#item(frame);
      if (this.#closed) this.#conclude();
      else this.exchange.resume();
    } catch (error) {
      this.finish(this.exchange.failure(asRefusal(error)));
    }
    return undefined;
  }

  /** @throws {Refusal} After the end only for a complete event: what is none by the time the agent closes breaks nothing. */
  #nextFrame(): Frame | undefined {
    if (this.#brokenAfterEnd === undefined) {
      try {
        return this.#parser.next();
      } catch (error) {
        if (!this.#lifecycle.ended) throw error;
        this.#brokenAfterEnd = asRefusal(error);
      }
    }
    if (this.#parser.skipEvent()) throw this.#brokenAfterEnd;
    return undefined;
  }

  #decode(data: Buffer): DecodedEvent {
    const { value, start, end } = this.#decoder.decode(data);
    return { event: this.#dialect.decodeEvent(value), isFinal: this.#dialect.isFinal(value), start, end };
  }

  #item({ data, id, isError }: Frame): StreamItem {
    if (isError) {
      this.#decoder.decode(data);
      throw new Refusal('sse.event_name');
    }
    const { event, isFinal, start, end } = this.#repeats === undefined ? this.#decode(data) : this.#repeats.decode(data);
    const hadEnded = this.#lifecycle.ended;
    this.#lifecycle.accept(event, isFinal);
    this.#events++;
    const item = new Item(event, id, data, start, end);
    CallTrace.accepted(this.trace, item, event);
    if (this.#lifecycle.ended && !hadEnded) {
      this.exchange.awaitEnd(() => {
        this.#closed = true;
        this.#serve();
      });
    }
    return item;
  }

  /** Nothing more will arrive, and what had is used up. */
  #conclude(): void {
    if (!this.#lifecycle.ended) {
      if (this.#networkFailure !== undefined) {
        this.finish(this.#networkFailure);
        return;
      }
      this.#parser.end();
      this.#lifecycle.close();
    }
    this.finish(undefined);
  }

  // ---- The exchange's side ----

  override head(head: ResponseHead): void {
    const { errorMediaType } = this.#dialect;
    this.#plan = judgeHead(head, {
      stream: true,
      maxResponseBytes: this.#maxResponseBytes,
      errorMediaType,
      allowPlainTextResults: false,
    });
    if (this.#plan.kind !== 'events') this.#body = new Body(this.#maxResponseBytes);
  }

  override data(chunk: Buffer): void {
    if (this.#body !== undefined) {
      if (!this.#body.add(chunk)) throw bodyRefusal(this.#plan, new Refusal('limit.response_bytes'));
      return;
    }
    this.#parser.push(chunk);
    this.#serve();
    if (this.#parser.buffered >= AHEAD_BYTES) this.exchange.pause();
  }

  override end(): void {
    if (this.#body !== undefined && this.#plan.kind === 'error') decodeError(this.#body.whole(), this.#decoder, this.#plan);
    // undici gives the connection back a turn after this, from an immediate that it has not asked for yet. A consumer that opens its
    // next stream as soon as this one is over is to find it free.
    queueMicrotask(() => {
      setImmediate(() => {
        this.#closed = true;
        this.#serve();
      });
    });
  }

  override failed(failure: Failure): void {
    const isOfBody = this.#body !== undefined && BODY_RULES.has(failure.rule);
    this.#networkFailure = isOfBody
      ? this.exchange.failure(bodyRefusal(this.#plan, new Refusal(failure.rule, { reason: failure.unwrap() })))
      : failure;
    // What arrived before is still to be delivered.
    this.#closed = true;
    this.#serve();
  }

  protected override get events(): number {
    return this.#events;
  }

  protected override get isLeft(): boolean {
    return this.#isLeft;
  }

  /** The end event was delivered: only another event could undo it. */
  protected override afterInterruption(interruption: Failure): Failure | undefined {
    return this.#lifecycle.ended ? undefined : interruption;
  }

  protected override release(failure: Failure | undefined): void {
    if (this.#lifecycle.ended && failure === undefined) this.exchange.linger();
    else this.exchange.stop();
  }

  protected override settled(failure: Failure | undefined): void {
    this.#isSettled = true;
    this.#parser.discard();
    const [first, ...others] = this.#waiters.splice(0);
    if (failure !== undefined && this.#stopping.length === 0) {
      if (first === undefined) this.#thrown = failure;
      else first.reject(failure);
    } else {
      first?.resolve(DONE);
    }
    for (const waiter of others) waiter.resolve(DONE);
    for (const resolve of this.#stopping.splice(0)) resolve();
  }
}
