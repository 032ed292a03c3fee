/** A task, as a person reads it. */
import { Role, TaskState, type Message, type Task } from '@a2a-js/sdk';
import { stateOf, textOfParts, textOfStatus } from '../text/reply.js';
import type { Output } from './output.js';
import { safeLine, safeText } from './sanitize.js';

/** The states as they are called here, and as `--state` takes them. */
export const STATES: ReadonlyMap<string, TaskState> = new Map([
  ['submitted', TaskState.TASK_STATE_SUBMITTED],
  ['working', TaskState.TASK_STATE_WORKING],
  ['completed', TaskState.TASK_STATE_COMPLETED],
  ['failed', TaskState.TASK_STATE_FAILED],
  ['canceled', TaskState.TASK_STATE_CANCELED],
  ['input-required', TaskState.TASK_STATE_INPUT_REQUIRED],
  ['rejected', TaskState.TASK_STATE_REJECTED],
  ['auth-required', TaskState.TASK_STATE_AUTH_REQUIRED],
]);
const NAMES = new Map([...STATES].map(([name, state]) => [state, name]));

export function stateName(state: TaskState): string {
  return NAMES.get(state) ?? 'unspecified';
}

export async function printTask(output: Output, task: Task): Promise<void> {
  const field = (name: string, value: string): Promise<void> =>
    value === '' ? Promise.resolve() : output.line(`${output.style('bold', name.padEnd(9))}${safeLine(value)}`);
  await field('task', task.id);
  await field('context', task.contextId);
  await field('state', stateName(stateOf(task)));
  await field('updated', task.status?.timestamp ?? '');
  await printBlock(output, 'says', textOfStatus(task));
  for (const artifact of task.artifacts) {
    await printBlock(output, 'artifact', describe(artifact.parts, textOfParts(artifact)), artifact.name || artifact.artifactId);
  }
  for (const message of task.history) await printBlock(output, message.role === Role.ROLE_AGENT ? 'agent' : 'user', spoken(message));
}

function spoken(message: Message): string {
  return describe(message.parts, textOfParts(message));
}

function describe(parts: Message['parts'], text: string): string {
  const others = parts.filter(({ content }) => content?.$case !== 'text').length;
  if (others === 0) return text;
  return `${text}${text === '' ? '' : '\n'}[${others === 1 ? '1 part that is' : `${String(others)} parts that are`} no text]`;
}

/** A text of several lines is set in: none of its lines is taken for one of ours. */
async function printBlock(output: Output, name: string, text: string, title = ''): Promise<void> {
  if (text === '' && title === '') return;
  const lines = text === '' ? [] : safeText(text).replace(/\n$/, '').split('\n');
  const head = output.style('bold', name.padEnd(9));
  const [first = '', ...others] = title === '' ? lines : [safeLine(title), ...lines];
  await output.line(`${head}${first}`);
  for (const line of others) await output.line(`         ${line}`);
}
