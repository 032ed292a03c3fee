/** The user's wish that a command ends. */
import type { StopSignal } from './io.js';

export class Interruption {
  readonly #controller = new AbortController();
  #stopping: Promise<void> | undefined;
  /** What it was asked for by. */
  received: StopSignal | undefined;
  /** Done before what goes on is ended; does not throw. */
  beforeEnd: (() => Promise<void>) | undefined;

  /** Ends what goes on. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  interrupt(by: StopSignal): void {
    if (this.received !== undefined) return;
    this.received = by;
    this.#stopping = this.#stop();
  }

  /** What is done before the end, if it was begun. */
  async settled(): Promise<void> {
    await this.#stopping;
  }

  async #stop(): Promise<void> {
    await this.beforeEnd?.();
    this.#controller.abort();
  }
}
