/**
 * The task that a stream's events add up to. A 1.0 stream ends with a status, not with the final task: what was said on the way is put
 * together here.
 */
import { TaskState, type Artifact, type Message, type Task, type TaskArtifactUpdateEvent, type TaskStatus } from '@a2a-js/sdk';
import type { SendMessageResult } from '../dialect/dialect.js';
import { Refusal } from '../failure.js';
import type { StreamItem } from '../stream.js';

/** A message stands for a task that was done at once. */
export function taskOf(result: SendMessageResult): Task {
  if (result.$case === 'task') return result.value;
  const message = result.value;
  return {
    id: message.taskId,
    contextId: message.contextId,
    status: { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined },
    artifacts: [],
    history: [message],
    metadata: undefined,
  };
}

interface Growing {
  /** Ours, its lists too. The parts themselves are those of the events. */
  readonly artifact: Artifact;
  readonly extensions: Set<string>;
  /** Of the events that it came from. */
  bytes: number;
  /** Its last chunk has come. */
  isWhole: boolean;
}

export class TaskAssembly {
  readonly #maxBytes: number;
  /** Of the events that the task is made of, as they came. */
  #bytes = 0;
  #id = '';
  #contextId = '';
  #status: TaskStatus | undefined;
  #statusBytes = 0;
  #history: Message[] = [];
  #messageIds = new Set<string>();
  #metadata: Task['metadata'];
  /** By their ids; where a task has two of one id, the first counts, and the others are kept as they came. */
  #artifacts = new Map<string | symbol, Growing>();
  #isEmpty = true;

  /** @param maxBytes of the events that the task is made of: what a later one replaces does not count */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws {Refusal} `agent.artifact_append`, `agent.task_bytes` */
  apply({ event, raw }: Pick<StreamItem, 'event' | 'raw'>): void {
    this.#isEmpty = false;
    switch (event.$case) {
      case 'task':
        this.#replace(event.value, raw.length);
        break;
      case 'message':
        this.#replace(taskOf(event), raw.length);
        break;
      case 'statusUpdate':
        this.#about(event.value.taskId, event.value.contextId);
        this.#setStatus(event.value.status, raw.length);
        break;
      case 'artifactUpdate':
        this.#about(event.value.taskId, event.value.contextId);
        this.#setArtifact(event.value, raw.length);
        break;
    }
    if (this.#bytes > this.#maxBytes) throw new Refusal('agent.task_bytes');
  }

  /** The task so far; `undefined` before the first event. A copy, but for messages and parts, which the events share with it. */
  get task(): Task | undefined {
    if (this.#isEmpty) return undefined;
    return {
      id: this.#id,
      contextId: this.#contextId,
      status: this.#status,
      artifacts: Array.from(this.#artifacts.values(), ({ artifact, extensions }) => ({
        ...artifact,
        parts: [...artifact.parts],
        extensions: [...extensions],
      })),
      history: [...this.#history],
      metadata: this.#metadata,
    };
  }

  /** A task restates everything. */
  #replace(task: Task, bytes: number): void {
    this.#bytes = bytes;
    this.#statusBytes = 0;
    this.#id = task.id;
    this.#contextId = task.contextId;
    this.#status = task.status;
    this.#history = [...task.history];
    this.#messageIds = new Set(task.history.map(({ messageId }) => messageId));
    this.#metadata = task.metadata;
    // Whether more is to come of an artifact, a task does not say.
    this.#artifacts = new Map();
    for (const artifact of task.artifacts) {
      const key = this.#artifacts.has(artifact.artifactId) ? Symbol() : artifact.artifactId;
      this.#artifacts.set(key, grow(artifact, 0, false));
    }
  }

  #about(taskId: string, contextId: string): void {
    this.#id = taskId;
    if (contextId !== '') this.#contextId = contextId;
  }

  /** What an earlier status said becomes part of the history, unless it is there. */
  #setStatus(status: TaskStatus | undefined, bytes: number): void {
    const said = this.#status?.message;
    if (said !== undefined && said.messageId !== status?.message?.messageId && !this.#messageIds.has(said.messageId)) {
      this.#messageIds.add(said.messageId);
      this.#history.push(said);
    } else {
      this.#bytes -= this.#statusBytes;
    }
    this.#status = status;
    this.#statusBytes = bytes;
    this.#bytes += bytes;
  }

  #setArtifact({ artifact, append, lastChunk }: TaskArtifactUpdateEvent, bytes: number): void {
    // The schema has seen to it that there is one.
    if (artifact === undefined) return;
    const known = this.#artifacts.get(artifact.artifactId);
    if (!append) {
      this.#bytes += bytes - (known?.bytes ?? 0);
      this.#artifacts.set(artifact.artifactId, grow(artifact, bytes, lastChunk));
      return;
    }
    if (known === undefined || known.isWhole) throw new Refusal('agent.artifact_append');
    this.#bytes += bytes;
    known.bytes += bytes;
    known.isWhole = lastChunk;
    for (const part of artifact.parts) known.artifact.parts.push(part);
    for (const uri of artifact.extensions) known.extensions.add(uri);
    if (artifact.name !== '') known.artifact.name = artifact.name;
    if (artifact.description !== '') known.artifact.description = artifact.description;
    if (artifact.metadata !== undefined) known.artifact.metadata = Object.assign(known.artifact.metadata ?? {}, artifact.metadata);
  }
}

function grow(artifact: Artifact, bytes: number, isWhole: boolean): Growing {
  return {
    artifact: { ...artifact, parts: [...artifact.parts], metadata: artifact.metadata && { ...artifact.metadata } },
    extensions: new Set(artifact.extensions),
    bytes,
    isWhole,
  };
}
