/** Work that several callers wait for at once, each with a signal and a clock of its own: one that leaves takes nothing from the others. */
import { Failure, Refusal } from '../failure.js';
import { isAborted, signalRefusal, unwatch, watch } from '../wire/signal.js';

/** What goes on while callers wait. */
export interface Work {
  /** What a refusal makes of it, which knows how far it has come. */
  failure(refusal: Refusal): Failure;
  /** Nobody waits any more. */
  stop(): void;
}

/** The failure of a call that has sent nothing. */
export function notSent({ rule, path, reason }: Refusal): Failure {
  return new Failure(rule, { delivery: 'not_sent', path, cause: reason });
}

/** Work under way, and how many wait for it. */
export class Flight<T> {
  readonly work: Work;
  readonly result: Promise<T>;
  readonly #left: () => void;
  #waiting = 0;
  #isOver = false;

  /** @param left called when nobody waits any more, or is still busy with the result; the work is stopped then, if it goes on */
  constructor(work: Work, result: Promise<T>, left: () => void = () => undefined) {
    this.work = work;
    this.#left = left;
    const over = (): void => {
      this.#isOver = true;
    };
    // Whoever waits learns of a failure; that nobody does is no error.
    result.then(over, over);
    this.result = result;
  }

  enter(): void {
    this.#waiting++;
  }

  leave(): void {
    this.#waiting--;
    if (this.#waiting > 0) return;
    if (!this.#isOver) this.work.stop();
    this.#left();
  }
}

/** How long a caller waits. */
export interface Patience {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
}

/** One caller, from its call to its outcome. */
export class Waiter {
  #flight: Flight<unknown> | undefined;
  /** What the caller waits for, or has waited for last. */
  #work: Pick<Work, 'failure'> = { failure: notSent };
  #hasLeft = false;

  /**
   * Settles as `act` does, or as soon as the caller's patience is at an end.
   * @throws {Failure}
   */
  run<T>({ signal, timeoutMs }: Patience, act: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        if (signal !== undefined) unwatch(signal, onAbort);
        this.#hasLeft = true;
        this.#leave();
      };
      const interrupt = (refusal: Refusal): void => {
        reject(this.#work.failure(refusal));
        end();
      };
      const onAbort = (): void => {
        if (signal !== undefined) interrupt(signalRefusal(signal));
      };
      let timer: NodeJS.Timeout | undefined;
      if (timeoutMs !== undefined) {
        timer = setTimeout(() => {
          interrupt(new Refusal('deadline.total'));
        }, timeoutMs);
      }
      if (signal !== undefined) {
        if (isAborted(signal) === true) {
          onAbort();
          return;
        }
        watch(signal, onAbort);
      }
      act().then(
        (value) => {
          end();
          resolve(value);
        },
        (error: unknown) => {
          end();
          // Its own: callers that wait for the same work are not to share an object.
          reject(error instanceof Refusal ? this.#work.failure(error) : error instanceof Failure ? copyOf(error) : (error as Error));
        },
      );
    });
  }

  /** Waits for a flight, and stays with it until the caller has its outcome or waits for another. */
  async join<T>(flight: Flight<T>): Promise<T> {
    this.#leave();
    if (!this.#hasLeft) {
      this.#flight = flight;
      this.#work = flight.work;
      flight.enter();
    }
    const result = await flight.result;
    // The caller has its outcome already: nobody sees this, and nothing more is done for it.
    if (this.#hasLeft) throw new Refusal('canceled.signal');
    return result;
  }

  #leave(): void {
    const flight = this.#flight;
    this.#flight = undefined;
    flight?.leave();
  }
}

function copyOf(failure: Failure): Failure {
  const { rule, delivery, status, code, path, retryAfterMs } = failure;
  return new Failure(rule, { delivery, status, code, path, retryAfterMs, cause: failure.unwrap() });
}
