/** A stream of text: an async iterable of chunks, and a web `ReadableStream`. */
import type { TaskState } from '@a2a-js/sdk';
import { Failure, Refusal } from '../failure.js';
import type { StreamItem } from '../stream.js';
import { notSent } from './not_sent.js';
import { TextProgress } from './progress.js';
import { failureOfTask } from './reply.js';

/** A streaming call that was begun. */
export interface OpenedStream {
  readonly items: AsyncIterator<StreamItem, unknown>;
  /** The call is over: it listens to no signal any more. */
  readonly release: () => void;
}

/** What a stream that nobody read to its end has listened to. */
const abandoned = new FinalizationRegistry<() => void>((release) => {
  release();
});

/**
 * The text of a peer's answer in chunks, none of them empty, as it arrives: of messages, of status updates and of artifact updates, in
 * order, each once.
 *
 * - A text that takes the place of an earlier one (an artifact that is sent again, the task as a whole) gives what it adds to it, or all of
 *   it where it says something else: what was delivered cannot be taken back.
 * - Why a task failed or was rejected is no chunk: the stream ends by throwing `text.failed`, and its `unwrap()` has it.
 * - Where a task is completed and has said nothing at all, the text is the agent's last message in its history.
 *
 * Lazy: nothing is sent, and nothing is refused, before it is first read. It reads one event at a time, and no more than is asked for. It ends
 * where the peer ends its stream as the protocol says, or by throwing one `Failure`, after the chunks that came before it. Leaving a
 * loop early, or `cancel()`, closes the peer's stream; the task goes on.
 */
export class TextStream extends ReadableStream<string> {
  readonly #progress: TextProgress;

  /** @internal */
  constructor(open: () => OpenedStream) {
    const source = new TextSource(open);
    // Without a queue: a failure would discard what is in it, and nothing is read that nobody asked for.
    super(source, { highWaterMark: 0 });
    this.#progress = source.progress;
  }

  /** The task that the answer belongs to, once an event has named it. */
  get taskId(): string | undefined {
    return this.#progress.taskId;
  }

  /** The task's latest state; `undefined` before the first, and where the answer is a message. */
  get state(): TaskState | undefined {
    return this.#progress.state;
  }

  /** The context that the answer belongs to, once an event has named it. */
  get contextId(): string | undefined {
    return this.#progress.contextId;
  }
}

class TextSource {
  readonly progress = new TextProgress();
  readonly #open: () => OpenedStream;
  #opened: OpenedStream | undefined;

  constructor(open: () => OpenedStream) {
    this.#open = open;
  }

  async pull(controller: ReadableStreamDefaultController<string>): Promise<void> {
    const { items, release } = (this.#opened ??= this.#begin());
    try {
      for (;;) {
        const { done, value } = await items.next();
        if (done === true) break;
        const text = this.progress.accept(value);
        if (text !== '') {
          controller.enqueue(text);
          return;
        }
      }
    } catch (error) {
      release();
      if (!(error instanceof Refusal)) throw error;
      await items.return?.();
      throw new Failure(error.rule, { delivery: 'answered' });
    }
    release();
    const { failed } = this.progress;
    if (failed !== undefined) throw failureOfTask(failed);
    controller.close();
  }

  /** A `pull` that is under way comes to nothing: the stream is closed already. */
  async cancel(): Promise<void> {
    this.#opened?.release();
    await this.#opened?.items.return?.();
  }

  #begin(): OpenedStream {
    try {
      const opened = this.#open();
      abandoned.register(this, opened.release);
      return opened;
    } catch (error) {
      throw error instanceof Refusal ? notSent(error) : error;
    }
  }
}
