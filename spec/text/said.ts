/** Messages, tasks and events as the layers below hand them over. */
import { Role, TaskState, type Artifact, type Message, type Part, type Task, type TaskStatus } from '@a2a-js/sdk';
import type { StreamEvent, StreamItem } from '../../lib/index.js';

export const RAW = new Uint8Array([123, 125]);

export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' };
}

export const DATA_PART: Part = { ...textPart(''), content: { $case: 'data', value: { text: 'no text of anybody' } } };
export const URL_PART: Part = { ...textPart(''), content: { $case: 'url', value: 'https://agent.example/file.txt' }, mediaType: 'text/plain' };

/** @param said texts, or parts that are none */
export function partsOf(said: readonly (string | Part)[]): Part[] {
  return said.map((part) => (typeof part === 'string' ? textPart(part) : part));
}

export function message(said: readonly (string | Part)[], more: Partial<Message> = {}): Message {
  return {
    messageId: 'message-1',
    contextId: '',
    taskId: '',
    role: Role.ROLE_AGENT,
    parts: partsOf(said),
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
}

export function artifact(artifactId: string, ...said: readonly (string | Part)[]): Artifact {
  return { artifactId, name: '', description: '', parts: partsOf(said), metadata: undefined, extensions: [] };
}

export function status(state: TaskState, said?: Message): TaskStatus {
  return { state, message: said, timestamp: undefined };
}

export function task(state: TaskState, more: Partial<Task> & { readonly said?: Message } = {}): Task {
  const { said, ...members } = more;
  return { id: 'task-1', contextId: 'context-1', status: status(state, said), artifacts: [], history: [], metadata: undefined, ...members };
}

export function item(event: StreamEvent): StreamItem {
  return { event, raw: RAW, id: undefined };
}

export function taskItem(state: TaskState, more?: Parameters<typeof task>[1]): StreamItem {
  return item({ $case: 'task', value: task(state, more) });
}

export function statusItem(state: TaskState, said?: Message): StreamItem {
  const value = { taskId: 'task-1', contextId: 'context-1', status: status(state, said), metadata: undefined };
  return item({ $case: 'statusUpdate', value });
}

export function artifactItem(append: boolean, given: Artifact): StreamItem {
  const value = { taskId: 'task-1', contextId: 'context-1', artifact: given, append, lastChunk: false, metadata: undefined };
  return item({ $case: 'artifactUpdate', value });
}

export function messageItem(said: Message): StreamItem {
  return item({ $case: 'message', value: said });
}
