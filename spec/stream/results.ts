/** What agents say, in the words of both dialects. */
import type { ProtocolVersion } from '../../lib/index.js';

export const DIALECTS: readonly ProtocolVersion[] = ['1.0', '0.3'];

/** A task's state in 0.3 spelling. */
export type State =
  'unknown' | 'submitted' | 'working' | 'completed' | 'failed' | 'canceled' | 'input-required' | 'rejected' | 'auth-required';

export interface Subject {
  readonly taskId?: string;
  readonly contextId?: string;
}

function stateName(dialect: ProtocolVersion, state: State): string {
  if (dialect === '0.3') return state;
  if (state === 'unknown') return 'TASK_STATE_UNSPECIFIED';
  return `TASK_STATE_${state.toUpperCase().replace('-', '_')}`;
}

export function task(dialect: ProtocolVersion, state: State, { taskId = 'task-1', contextId = 'ctx-1' }: Subject = {}): object {
  const value = { id: taskId, contextId, status: { state: stateName(dialect, state) } };
  return dialect === '1.0' ? { task: value } : { kind: 'task', ...value };
}

/** @param final 0.3 alone: what `final` says; absent where it is undefined */
export function status(
  dialect: ProtocolVersion,
  state: State,
  { taskId = 'task-1', contextId = 'ctx-1', final }: Subject & { readonly final?: boolean } = {},
): object {
  const value = { taskId, contextId, status: { state: stateName(dialect, state) } };
  if (dialect === '1.0') return { statusUpdate: value };
  return { kind: 'status-update', ...value, ...(final !== undefined && { final }) };
}

export function artifact(dialect: ProtocolVersion, text: string, { taskId = 'task-1', contextId = 'ctx-1' }: Subject = {}): object {
  const part = dialect === '1.0' ? { text } : { kind: 'text', text };
  const value = { taskId, contextId, artifact: { artifactId: 'artifact-1', parts: [part] } };
  return dialect === '1.0' ? { artifactUpdate: value } : { kind: 'artifact-update', ...value };
}

export function message(dialect: ProtocolVersion, { taskId = '', contextId = 'ctx-1' }: Subject = {}): object {
  const ids = { messageId: 'message-2', contextId, ...(taskId !== '' && { taskId }) };
  return dialect === '1.0'
    ? { message: { ...ids, role: 'ROLE_AGENT', parts: [{ text: 'hello' }] } }
    : { kind: 'message', ...ids, role: 'agent', parts: [{ kind: 'text', text: 'hello' }] };
}
