/** The events of one task of a remote agent, and the task that they add up to. */
import type { Task } from '@a2a-js/sdk';
import { Failure, Refusal } from '../failure.js';
import type { StreamItem } from '../stream.js';
import { TaskAssembly } from './task_assembly.js';

/** Where a stream's events come from. */
export interface ItemSource {
  next(): Promise<IteratorResult<StreamItem, undefined>>;
  return(value: undefined): Promise<unknown>;
}

const DONE: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/**
 * The events of a task, in order, and the task itself. Lazy: nothing is sent, and nothing is refused, before the first `next()` or before
 * `result` is waited for. Throws a {@link Failure} once, after the events that came before it. Leaving a loop early closes the stream; the
 * task goes on.
 */
export class TaskStream implements AsyncIterable<StreamItem>, AsyncDisposable {
  readonly #open: (stopped: AbortSignal) => Promise<ItemSource>;
  readonly #assembly: TaskAssembly;
  readonly #stop = new AbortController();
  readonly #outcome = Promise.withResolvers<Task>();
  #source: Promise<ItemSource> | undefined;
  #isOver = false;
  /** `result` reads the stream: nobody else may. */
  #isRead = false;

  /** The extensions that the agent says it has activated, of those that it was asked for. Known once the stream has ended. */
  readonly extensions: readonly string[];

  /** @internal */
  constructor(open: (stopped: AbortSignal) => Promise<ItemSource>, maxTaskBytes: number, extensions: readonly string[]) {
    this.#open = open;
    this.extensions = extensions;
    this.#assembly = new TaskAssembly(maxTaskBytes);
    // Who only iterates learns of a failure there.
    this.#outcome.promise.catch(() => undefined);
  }

  /**
   * The task as the events add up to it: once the stream has ended; where the consumer leaves early, what had come by then. Rejects with the
   * failure that ended the stream, or with `stream.incomplete` where it was left before its first event.
   *
   * A stream that nobody has begun to iterate in the same turn is read to its end for it.
   *
   * - An artifact's chunks are put together in the order they came; an append to one that was never started, or whose last chunk has come, is
   *   refused (`agent.artifact_append`).
   * - What an earlier status said is in the history.
   * - A message becomes a completed task with the message in its history.
   */
  get result(): Promise<Task> {
    if (this.#source === undefined && !this.#isOver && !this.#isRead) {
      setImmediate(() => {
        if (this.#source === undefined && !this.#isOver) void this.#readAll();
      });
    }
    return this.#outcome.promise;
  }

  /** The next event. May be called again before the last call has settled: answers come in order. */
  next(): Promise<IteratorResult<StreamItem, undefined>> {
    return this.#isRead ? Promise.reject(new Failure('agent.stream_read', { delivery: 'not_sent' })) : this.#pull();
  }

  /** Ends the stream; idempotent. */
  async return(): Promise<IteratorResult<StreamItem, undefined>> {
    this.#end();
    this.#stop.abort();
    try {
      const source = await this.#source;
      await source?.return(undefined);
    } catch {
      // It never came to a stream; what was in the way has been told to whoever waited.
    }
    return DONE;
  }

  /** The stream itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** As `return()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #readAll(): Promise<void> {
    this.#isRead = true;
    try {
      while ((await this.#pull()).done !== true);
    } catch {
      // The result has it.
    }
  }

  async #pull(): Promise<IteratorResult<StreamItem, undefined>> {
    if (this.#isOver) return DONE;
    this.#source ??= this.#open(this.#stop.signal);
    try {
      const source = await this.#source;
      // The consumer left before anything was sent.
      if (this.#hasEnded()) return DONE;
      const step = await source.next();
      if (this.#hasEnded()) return DONE;
      if (step.done === true) this.#end();
      else this.#assembly.apply(step.value);
      return step;
    } catch (error) {
      if (this.#hasEnded()) return DONE;
      this.#isOver = true;
      const failure = error instanceof Refusal ? new Failure(error.rule, { delivery: 'answered' }) : error;
      this.#outcome.reject(failure);
      void this.return();
      throw failure;
    }
  }

  /** Behind an `await`, what was looked at before it may have changed. */
  #hasEnded(): boolean {
    return this.#isOver;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { task } = this.#assembly;
    if (task !== undefined) this.#outcome.resolve(task);
    else this.#outcome.reject(new Failure('stream.incomplete', { delivery: this.#source === undefined ? 'not_sent' : 'unknown' }));
  }
}
