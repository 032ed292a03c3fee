/** The body of an event stream that is handed on as it comes: read no faster than it is asked for. */
import { Failure, Refusal } from '../failure.js';
import { Body } from '../unary.js';
import type { Exchange } from '../wire/exchange.js';

/** So much may have arrived ahead of the consumer before the agent is held back: one socket chunk. */
const AHEAD_BYTES = 64 * 1024;

/** A body that is dropped unread must not keep its connection. */
const abandoned = new FinalizationRegistry<EventsBody>((body) => {
  body.stop();
});

interface Pull {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly served: () => void;
}

/**
 * Nothing here refers to the `ReadableStream` unless somebody reads it, so that it can be found abandoned.
 */
export class EventsBody {
  readonly #exchange: Exchange;
  readonly #max: number;
  #length = 0;
  #ahead = new Body(Infinity);
  #aheadBytes = 0;
  /** How the body ends, once it does: `undefined` inside for a good end. */
  #ending: { readonly failure: Failure | undefined } | undefined;
  #pull: Pull | undefined;

  constructor(exchange: Exchange, max: number) {
    this.#exchange = exchange;
    this.#max = max;
  }

  stream(): ReadableStream<Uint8Array> {
    const stream = new ReadableStream<Uint8Array>(
      {
        pull: (controller) =>
          new Promise((served) => {
            this.#pull = { controller, served };
            this.#serve();
          }),
        cancel: () => {
          this.stop();
        },
      },
      // The stream itself keeps nothing ahead: what does is here, and bounded in bytes.
      { highWaterMark: 0 },
    );
    abandoned.register(stream, this);
    return stream;
  }

  /** @throws {Refusal} `limit.stream_bytes` */
  push(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > this.#max) throw new Refusal('limit.stream_bytes');
    this.#ahead.add(chunk);
    this.#aheadBytes += chunk.length;
    this.#serve();
    if (this.#aheadBytes >= AHEAD_BYTES) this.#exchange.pause();
  }

  /** The body is whole, or the exchange has failed: what has arrived is still to be delivered. */
  end(failure: Failure | undefined): void {
    this.#ending ??= { failure };
    this.#serve();
  }

  /** The call was ended: what has arrived is not wanted any more. */
  abort(failure: Failure): void {
    this.#discard();
    this.end(failure);
  }

  /** Nobody reads any more. */
  stop(): void {
    this.#ending ??= { failure: undefined };
    this.#discard();
    this.#exchange.stop();
    this.#exchange.close();
  }

  #discard(): void {
    this.#ahead = new Body(Infinity);
    this.#aheadBytes = 0;
  }

  /** Serves the read that waits, with what has arrived or with how it ended. */
  #serve(): void {
    const pull = this.#pull;
    if (pull === undefined) return;
    if (this.#aheadBytes > 0) {
      const bytes = this.#ahead.whole();
      this.#discard();
      this.#take(pull);
      // A copy: around the bytes lie those of the socket.
      pull.controller.enqueue(new Uint8Array(bytes));
    } else if (this.#ending !== undefined) {
      this.#take(pull);
      if (this.#ending.failure === undefined) pull.controller.close();
      else pull.controller.error(this.#ending.failure);
    }
    if (this.#ending === undefined) this.#exchange.resume();
  }

  #take({ served }: Pull): void {
    this.#pull = undefined;
    served();
  }
}
