/** What has become of the task that an answer belongs to. */
import { TaskState } from '@a2a-js/sdk';
import type { Output } from './output.js';
import { safeLine } from './sanitize.js';
import { stateName } from './task_view.js';

export interface Whereabouts {
  readonly state?: TaskState | undefined;
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
}

/** Told to a person; told to everybody where the answer is not the end of it: the task waits for something, or was canceled. */
export function sayState(output: Output, { state, taskId, contextId }: Whereabouts): void {
  const words = [
    ...(state === undefined ? [] : [stateName(state)]),
    ...(taskId === undefined ? [] : [`task ${safeLine(taskId)}`]),
    ...(contextId === undefined ? [] : [`context ${safeLine(contextId)}`]),
  ].join(', ');
  if (words === '') return;
  if (state === undefined || state === TaskState.TASK_STATE_COMPLETED) output.remark(words);
  else output.note(words);
}
