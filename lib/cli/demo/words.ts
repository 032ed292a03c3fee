/** What is shown of texts and events. */
import type { Task } from '@a2a-js/sdk';
import type { StreamEvent } from '../../wire/lifecycle.js';
import { stateOf, textOfParts } from '../../text/reply.js';
import { safeLine } from '../sanitize.js';
import { stateName } from '../task_view.js';

/** The beginning of a text on one line, whatever is in it. */
export function shown(text: string): string {
  return safeLine(JSON.stringify(text), 72);
}

export function short(chunk: string): string {
  return safeLine(chunk.replace(/^(sha256 .{16}).*$/, '$1…'));
}

/** What an event says, in a few words. */
export function describe(event: StreamEvent): string {
  if (event.$case === 'artifactUpdate' && event.value.artifact !== undefined) return `chunk   ${short(textOfParts(event.value.artifact))}`;
  if (event.$case === 'task') return [`task    ${nameOfState(event.value)}`, ...chunksOf(event.value).map(short)].join(', ');
  if (event.$case === 'statusUpdate') return `status  ${nameOfState(event.value)}`;
  return event.$case;
}

export function nameOfState(of: Pick<Task, 'status'>): string {
  return stateName(stateOf(of));
}

export function chunksOf({ artifacts }: Task): string[] {
  return artifacts.flatMap(({ parts }) => parts.map((part) => textOfParts({ parts: [part] })));
}
