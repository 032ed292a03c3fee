/**
 * The order and identity of a stream's events, and what counts as its end: the `stream.` rules.
 */
import { TaskState, type StreamResponse } from '@a2a-js/sdk';
import { Refusal } from '../failure.js';

/** One decoded event of a stream: `$case` says which, `value` is the SDK's 1.x object. */
export type StreamEvent = NonNullable<StreamResponse['payload']>;

/** What a stream was asked for. */
export interface StreamRequest {
  /** The task that the request named, or empty. */
  readonly taskId: string;
  /** The context that the request named, or empty. */
  readonly contextId: string;
  /**
   * What the first event has to be. `task`: the task asked for (1.0 `subscribeToTask`). `task-or-message`: either, or
   * any event of the task that the request named (1.0). `any`: 0.3 says nothing of it.
   */
  readonly firstEvent: 'task' | 'task-or-message' | 'any';
}

const TERMINAL: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
]);

const INTERRUPTED: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_INPUT_REQUIRED,
  TaskState.TASK_STATE_AUTH_REQUIRED,
]);

export class Lifecycle {
  readonly #firstEvent: StreamRequest['firstEvent'];
  #taskId: string;
  #contextId: string;
  #events = 0;
  #sawMessage = false;
  #state: TaskState | undefined;
  #ended = false;

  constructor(asked: StreamRequest) {
    this.#firstEvent = asked.firstEvent;
    this.#taskId = asked.taskId;
    this.#contextId = asked.contextId;
  }

  /** The end event has been seen: a terminal state, a message, or in 0.3 `final: true`. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Judges the next event.
   * @param isFinal 0.3: the event says `final: true`
   * @throws {Refusal} `stream.first_event`, `stream.message_only`, `stream.identity`, `stream.after_end`
   */
  accept(event: StreamEvent, isFinal: boolean): void {
    if (this.#events === 0) this.#checkFirst(event);
    if (this.#sawMessage || (event.$case === 'message' && this.#events > 0)) throw new Refusal('stream.message_only');
    const isTask = event.$case === 'task';
    this.#checkIdentity(isTask ? event.value.id : event.value.taskId, event.value.contextId);
    const state = isTask || event.$case === 'statusUpdate' ? event.value.status?.state : undefined;
    // A task or status that restates how the stream ended says nothing new.
    if (this.#ended && (state === undefined || state !== this.#state)) throw new Refusal('stream.after_end');
    this.#events++;
    if (state !== undefined) this.#state = state;
    if (event.$case === 'message') this.#sawMessage = true;
    if (isFinal || this.#sawMessage || (state !== undefined && TERMINAL.has(state))) this.#ended = true;
  }

  /** The response has ended cleanly. @throws {Refusal} `stream.incomplete` where that is no end of the stream */
  close(): void {
    if (this.#ended) return;
    if (this.#state === undefined || !INTERRUPTED.has(this.#state)) throw new Refusal('stream.incomplete');
  }

  #checkFirst(event: StreamEvent): void {
    if (this.#firstEvent === 'task') {
      if (event.$case !== 'task' || event.value.id !== this.#taskId) throw new Refusal('stream.first_event');
    } else if (this.#firstEvent === 'task-or-message' && event.$case !== 'task' && event.$case !== 'message') {
      if (this.#taskId === '' || event.value.taskId !== this.#taskId) throw new Refusal('stream.first_event');
    }
  }

  /** The first event that names a task or a context settles it for all that follow. */
  #checkIdentity(taskId: string, contextId: string): void {
    // A message may come without a task, and any event without a context.
    if (taskId !== '' && taskId !== this.#taskId) {
      if (this.#taskId !== '') throw new Refusal('stream.identity');
      this.#taskId = taskId;
    }
    if (contextId !== '' && contextId !== this.#contextId) {
      if (this.#contextId !== '') throw new Refusal('stream.identity');
      this.#contextId = contextId;
    }
  }
}
