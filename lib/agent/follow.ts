/** Following a task over connections that break: never by sending a message again. */
import { TaskState, type Task } from '@a2a-js/sdk';
import timers from 'node:timers/promises';
import { Failure, failureOf, type Delivery } from '../failure.js';
import type { EventStream, StreamItem } from '../stream.js';
import type { Reply } from '../unary.js';
import { signalRefusal } from '../wire/signal.js';

/** How patient `follow` is. */
export interface Patience {
  /** How often in a row, without an event between, the agent may be out of reach. */
  readonly maxAttempts: number;
  /** The longest wait after the first of them, in milliseconds; it doubles with each that follows. */
  readonly firstDelayMs: number;
  /** The longest wait of all, in milliseconds; a `retry-after` may ask for more. */
  readonly maxDelayMs: number;
}

/** The two calls that following takes; both are free of effects. */
export interface Following {
  readonly subscribe: () => Promise<EventStream>;
  readonly getTask: () => Promise<Reply<Task>>;
  /** What is left of the whole call's time, in milliseconds. @throws {Failure} `deadline.total` */
  readonly timeLeft: () => number | undefined;
}

const ENDED: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
]);

/** Client errors that another attempt may not meet again (RFC 9110 section 15.5.9, RFC 8470, RFC 6585). */
const PASSING = new Set([408, 425, 429]);

/**
 * The events of a task until it ends, or until the agent closes the stream of one that waits for input or authorization. Where the stream fails as `unavailable`, the task is looked at
 * and subscribed to again, after a while.
 * @param signal ends it: the caller's, or that of a consumer that left
 */
export async function* follow(following: Following, patience: Patience, signal: AbortSignal): AsyncGenerator<StreamItem, undefined> {
  let attempts = 0;
  /** What the last attempt ended with. */
  let lost: Failure | undefined;
  for (;;) {
    try {
      let known: StreamItem | undefined;
      if (lost !== undefined) {
        known = await current(following);
        if (hasEnded(known)) {
          yield known;
          return undefined;
        }
        if (lost.rule === 'remote.error') throw lost;
      }
      let events = 0;
      let isPartial = false;
      for await (const item of await following.subscribe()) {
        // The first only says where the task stands; 0.3 agents may leave it out.
        if (++events > 1) attempts = 0;
        else if (item.event.$case !== 'task' && item.event.$case !== 'message') {
          isPartial = true;
          yield known ?? (await current(following));
        }
        yield item;
      }
      // What was said while nobody listened, or twice, is put right by the task itself.
      if (isPartial) yield await current(following);
      return undefined;
    } catch (error) {
      const failure = failureOf(error);
      if (failure === undefined) throw error;
      if (failure.rule === 'remote.error') {
        // An agent lets nobody subscribe to a task that has ended: whether it has, the task itself says.
        if (lost?.rule === 'remote.error') throw error;
      } else {
        attempts++;
        if (!mayPass(failure) || attempts >= patience.maxAttempts) throw error;
        const wait = Math.max(delay(attempts, patience), failure.retryAfterMs ?? 0);
        // What is left is too short to ask again: whoever asks is told so.
        await rest(Math.min(wait, following.timeLeft() ?? wait), signal, failure.delivery);
      }
      lost = failure;
    }
  }
}

async function current({ getTask }: Following): Promise<StreamItem> {
  const { result, raw } = await getTask();
  return { event: { $case: 'task', value: result }, raw, id: undefined };
}

function hasEnded({ event }: StreamItem): boolean {
  return event.$case === 'task' && event.value.status !== undefined && ENDED.has(event.value.status.state);
}

/** What another attempt may not meet again: an answer that refuses the caller, or sends it elsewhere, it would. */
function mayPass({ kind, rule, status = 0 }: Failure): boolean {
  if (kind !== 'unavailable' || rule === 'http.redirect') return false;
  return status < 400 || status >= 500 || PASSING.has(status);
}

/** The wait after so many failures in a row. Full jitter, so that those whom one agent lost at once do not come back at once. */
export function delay(attempts: number, { firstDelayMs, maxDelayMs }: Patience): number {
  return Math.random() * Math.min(maxDelayMs, firstDelayMs * 2 ** (attempts - 1));
}

async function rest(ms: number, signal: AbortSignal, delivery: Delivery): Promise<void> {
  try {
    await timers.setTimeout(ms, undefined, { signal });
  } catch {
    const { rule, reason } = signalRefusal(signal);
    throw new Failure(rule, { delivery, cause: reason });
  }
}
