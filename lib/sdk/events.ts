/** The events of a stream in the form the SDK's clients take them. */
import type { StreamResponse } from '@a2a-js/sdk';
import { Failure } from '../failure.js';
import type { EventStream } from '../stream.js';
import { sdkError } from './errors.js';

const DONE: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/**
 * As the SDK's own transports give it: an asynchronous generator. Unlike the one that `async *` makes, its `return()` does not wait for a
 * `next()` that is under way: it closes the stream at once.
 */
export class StreamResponses implements AsyncGenerator<StreamResponse, void, undefined> {
  #events: EventStream | undefined;
  #refusal: Failure | undefined;

  /** @param opened the stream, or what its first `next()` is to throw */
  constructor(opened: EventStream | Failure) {
    if (opened instanceof Failure) this.#refusal = opened;
    else this.#events = opened;
  }

  async next(): Promise<IteratorResult<StreamResponse, undefined>> {
    const refusal = this.#refusal;
    this.#refusal = undefined;
    if (refusal !== undefined) throw refusal;
    if (this.#events === undefined) return DONE;
    try {
      const { done, value } = await this.#events.next();
      return done === true ? DONE : { done: false, value: { payload: value.event } };
    } catch (error) {
      throw sdkError(error);
    }
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#refusal = undefined;
    await this.#events?.return();
    return DONE;
  }

  async throw(error: unknown): Promise<never> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
