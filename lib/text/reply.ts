/** What an agent's answer says, as text. */
import { Role, TaskState, type Message, type Part, type Task } from '@a2a-js/sdk';
import type { SendMessageResult } from '../dialect/dialect.js';
import { Failure } from '../failure.js';
import type { Reply } from '../unary.js';

/** An agent's answer. Its text and ids are the agent's own words. */
export interface TextReply {
  /**
   * - Of a message, its text parts.
   * - Of a completed task, the text of its artifacts; where there is none, of its status message; else of the agent's last message in its
   *   history.
   * - Of a task in any other state, which has no result yet, the text of its status message first: what it asks for, if it waits for input.
   *
   * Text parts stand one after the other with nothing between; parts that are no text have none. Empty where there is no text at all.
   */
  readonly text: string;
  /** The task; absent where the agent answered with a message that belongs to none. */
  readonly taskId?: string;
  /** The task's state; absent where the agent answered with a message. */
  readonly state?: TaskState;
  /** Absent where the agent named none. */
  readonly contextId?: string;
  /** The exact bytes of the JSON-RPC result, in a buffer of their own. */
  readonly raw: Uint8Array;
}

/** What `unwrap()` of a `text.failed` gives: why the task failed or was rejected, in the agent's own words. */
export class FailedTask {
  /**
   * The text of its status message; else, where the agent sent the whole task, of its artifacts or of its last message. May be empty.
   * Untrusted.
   */
  readonly text: string;
  /** `TASK_STATE_FAILED` or `TASK_STATE_REJECTED`. */
  readonly state: TaskState;
  readonly taskId: string;
  /** The exact bytes of the JSON-RPC result that said so. */
  readonly raw: Uint8Array;

  constructor(text: string, state: TaskState, taskId: string, raw: Uint8Array) {
    this.text = text;
    this.state = state;
    this.taskId = taskId;
    this.raw = raw;
  }
}

/** The failure of a call whose task failed or was rejected. */
export function failureOfTask(failed: FailedTask): Failure {
  return new Failure('text.failed', { delivery: 'answered', cause: failed });
}

/** The text of a whole answer. @throws {Failure} `text.failed` */
export function replyOf({ result, raw }: Reply<SendMessageResult>): TextReply {
  if (result.$case === 'message') {
    const { taskId, contextId } = result.value;
    return { text: textOfParts(result.value), ...ids(taskId, contextId), raw };
  }
  const { id, contextId } = result.value;
  const state = stateOf(result.value);
  const text = textOfTask(result.value);
  if (hasFailed(state)) throw failureOfTask(new FailedTask(text, state, id, raw));
  return { text, ...ids(id, contextId), state, raw };
}

function ids(taskId: string, contextId: string): Pick<TextReply, 'taskId' | 'contextId'> {
  return { ...(taskId !== '' && { taskId }), ...(contextId !== '' && { contextId }) };
}

export function hasFailed(state: TaskState): boolean {
  return state === TaskState.TASK_STATE_FAILED || state === TaskState.TASK_STATE_REJECTED;
}

export function stateOf({ status }: Pick<Task, 'status'>): TaskState {
  return status?.state ?? TaskState.TASK_STATE_UNSPECIFIED;
}

/** See {@link TextReply.text}. */
export function textOfTask(task: Task): string {
  const ofArtifacts = task.artifacts.map(textOfParts).join('');
  const ofStatus = textOfStatus(task);
  const isCompleted = stateOf(task) === TaskState.TASK_STATE_COMPLETED;
  return (isCompleted ? ofArtifacts || ofStatus : ofStatus || ofArtifacts) || textOfHistory(task);
}

export function textOfStatus({ status }: Pick<Task, 'status'>): string {
  return status?.message === undefined ? '' : textOfParts(status.message);
}

/** Of the agent's last message: what the user said is not its text. */
export function textOfHistory({ history }: Pick<Task, 'history'>): string {
  const last: Message | undefined = history.findLast(({ role }) => role === Role.ROLE_AGENT);
  return last === undefined ? '' : textOfParts(last);
}

export function textOfParts({ parts }: { readonly parts: readonly Part[] }): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}
