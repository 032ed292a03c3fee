/** What may go wrong with a stream of the soak, and what it may then end with. The server plays it, or the consumer does. */
import type { FailureRule } from '../../lib/index.js';

/** `left`: the consumer went by itself. */
export type SoakOutcome = 'ok' | 'left' | FailureRule;

/** A reset drops what the client has not read yet, the head perhaps. */
const RESET: readonly SoakOutcome[] = ['http.truncated', 'http.connection_lost'];
const NOT_JSON: readonly SoakOutcome[] = ['json.utf8', 'json.syntax'];

export const SOAK_FAULTS = {
  none: ['ok'],
  'the response stays open behind the end event': ['ok'],
  'reset before the head': ['http.connection_lost'],
  'reset inside the stream': RESET,
  'closed before the head': ['http.connection_lost'],
  'closed inside the stream': ['http.truncated'],
  'ended before the task': ['stream.incomplete'],
  'ended inside an event': ['sse.truncated'],
  'stalled before the head': ['deadline.idle', 'deadline.total'],
  'stalled inside the stream': ['deadline.idle', 'deadline.total'],
  'not HTTP': ['http.malformed'],
  'a chunk size that is none': ['http.malformed'],
  'a head without end': ['limit.head_bytes'],
  'random bytes for data': NOT_JSON,
  'random bytes for a line': ['sse.field', 'sse.line_ending'],
  'an event over the bound': ['limit.event_bytes'],
  'an id twice': ['sse.id_duplicate'],
  'an event behind the end': ['stream.after_end'],
  'an error status': ['http.status'],
  "the agent's error": ['remote.error'],
  'canceled at some time': ['canceled.signal', 'ok'],
  'a signal that times out': ['deadline.signal', 'ok'],
  'left at some event': ['left'],
  'left while it waits': ['left', 'ok'],
  'a slow consumer': ['ok'],
} as const satisfies Record<string, readonly SoakOutcome[]>;

export type SoakFault = keyof typeof SOAK_FAULTS;

export function isAllowed(fault: SoakFault, outcome: SoakOutcome): boolean {
  const allowed: readonly SoakOutcome[] = SOAK_FAULTS[fault];
  return allowed.includes(outcome);
}

/** What the consumer sets as `maxEventBytes`. */
export const MAX_EVENT_BYTES = 16 * 1024;

/** What the server tells of itself. */
export interface SoakServerReport {
  /** Connections that are open. */
  readonly sockets: number;
  /** Requests that came whole. */
  readonly requests: number;
  /** Of those, with an id that had come before. */
  readonly repeated: number;
}
