/** What a stream's events say, as text: each text once, in the order in which it comes. */
import { TaskState, type Artifact, type Message, type Task } from '@a2a-js/sdk';
import { Refusal } from '../failure.js';
import type { StreamItem } from '../stream.js';
import { FailedTask, hasFailed, stateOf, textOfHistory, textOfParts, textOfStatus, textOfTask } from './reply.js';

export class TextProgress {
  readonly #maxKept: number;
  #taskId: string | undefined;
  #contextId: string | undefined;
  #state: TaskState | undefined;
  #failed: FailedTask | undefined;
  #hasSpoken = false;
  /** Of the ids and texts that are kept. */
  #kept = 0;
  /** The text so far of each artifact and of each message, by its id. */
  readonly #artifacts = new Map<string, string>();
  readonly #messages = new Map<string, string>();

  /** @param maxKept of the ids and texts that are kept, in UTF-16 code units */
  constructor(maxKept = MAX_KEPT) {
    this.#maxKept = maxKept;
  }

  get taskId(): string | undefined {
    return this.#taskId;
  }

  get contextId(): string | undefined {
    return this.#contextId;
  }

  get state(): TaskState | undefined {
    return this.#state;
  }

  /** The task has failed or was rejected. Why is not part of its text. */
  get failed(): FailedTask | undefined {
    return this.#failed;
  }

  /** What an event says that none before it has said; empty where that is nothing. */
  accept({ event, raw }: StreamItem): string {
    this.#taskId ??= (event.$case === 'task' ? event.value.id : event.value.taskId) || undefined;
    this.#contextId ??= event.value.contextId || undefined;
    if (event.$case === 'task' || event.$case === 'statusUpdate') {
      const state = stateOf(event.value);
      this.#state = state;
      if (hasFailed(state)) {
        const why = event.$case === 'task' ? textOfTask(event.value) : textOfStatus(event.value);
        this.#failed ??= new FailedTask(why, state, this.#taskId ?? '', raw);
      }
    }
    const text = this.#textOf(event);
    if (text !== '') this.#hasSpoken = true;
    return text;
  }

  #textOf(event: StreamItem['event']): string {
    switch (event.$case) {
      case 'message':
        return this.#ofMessage(event.value);
      case 'statusUpdate':
        return this.#ofStatus(event.value);
      case 'artifactUpdate': {
        const { artifact, append } = event.value;
        return artifact === undefined ? '' : this.#ofArtifact(artifact, append);
      }
      case 'task':
        return this.#ofTask(event.value);
    }
  }

  #ofTask(task: Task): string {
    const text = task.artifacts.map((artifact) => this.#ofArtifact(artifact, false)).join('') + this.#ofStatus(task);
    // A history may go back to what was said before this stream: it counts where a completed task has nothing else to say.
    const isSilent = text === '' && !this.#hasSpoken && stateOf(task) === TaskState.TASK_STATE_COMPLETED;
    return isSilent ? textOfHistory(task) : text;
  }

  #ofStatus({ status }: Pick<Task, 'status'>): string {
    return status?.message === undefined || hasFailed(status.state) ? '' : this.#ofMessage(status.message);
  }

  #ofMessage(message: Message): string {
    return this.#fresh(this.#messages, message.messageId, textOfParts(message));
  }

  #ofArtifact(artifact: Artifact, append: boolean): string {
    const text = textOfParts(artifact);
    if (!append) return this.#fresh(this.#artifacts, artifact.artifactId, text);
    this.#keep(this.#artifacts, artifact.artifactId, (this.#artifacts.get(artifact.artifactId) ?? '') + text);
    return text;
  }

  /** What is new in a text that takes the place of an earlier one: what goes beyond it, or all where it says something else. */
  #fresh(said: Map<string, string>, id: string, text: string): string {
    const before = said.get(id) ?? '';
    this.#keep(said, id, text);
    return text.startsWith(before) ? text.slice(before.length) : text;
  }

  /** An agent of another's make may have no bound of its own. */
  #keep(said: Map<string, string>, id: string, text: string): void {
    const before = said.get(id);
    this.#kept += text.length - (before === undefined ? -id.length : before.length);
    if (this.#kept > this.#maxKept) throw new Refusal('limit.stream_bytes');
    said.set(id, text);
  }
}

/** As much as a peer's stream may have by default. */
const MAX_KEPT = 64 * 1024 * 1024;
