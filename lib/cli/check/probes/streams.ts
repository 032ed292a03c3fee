/** With `--send`: one stream from its first event to its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { userText } from '../../../dialect/request.js';
import type { Failure } from '../../../failure.js';
import type { StreamItem } from '../../../stream.js';
import { stateOf } from '../../../text/reply.js';
import { EventIds, type EventIdMode } from '../../../wire/event_ids.js';
import { LINGER_MS } from '../../../wire/exchange.js';
import { stateName } from '../../task_view.js';
import type { Connections } from '../connections.js';
import { broken, brokenBy, isTurnedAway, kept, notExercised, turnedAway, type Finding } from '../finding.js';
import { isOfLayer } from '../layers.js';
import type { Subject } from '../subject.js';

const LIFECYCLE = { check: 'stream.lifecycle', title: 'stream lifecycle' };
const IDS = { check: 'stream.event_ids', title: 'event ids' };
const END = { check: 'stream.end', title: 'stream end' };
const TOPICS = [LIFECYCLE, IDS, END];

const UNSUPPORTED_OPERATION = -32004;

export interface StreamCheck {
  /** Absent: nothing may be sent. */
  readonly text: string | undefined;
  /** What the card says of it; `undefined` where there is no card. */
  readonly hasStreaming: boolean | undefined;
  /** What callers are going to ask of event ids. */
  readonly eventIds: EventIdMode;
  readonly connections: Connections;
}

export async function streams(subject: Subject, { text, hasStreaming, eventIds, connections }: StreamCheck): Promise<Finding[]> {
  const none = (why: string): Finding[] => TOPICS.map((topic) => notExercised(topic, why));
  if (hasStreaming === false) return none('the card says that the agent has no streams');
  if (text === undefined) return none('sends a message: only with --send');
  const options = { ...subject.messageOptions, eventIds: 'optional' } as const;
  const closedBefore = closedByCaller(subject, connections);
  const source = subject.client.sendStreamingMessage(options, { message: userText(text) });
  const { items, endedAfterMs, failure } = await subject.follow('a stream', source);
  if (failure?.code === UNSUPPORTED_OPERATION) return none('the agent has no streams');
  return [
    judgeLifecycle(items, failure),
    items.length === 0 ? notExercised(IDS, 'no event came') : judgeIds(items, eventIds),
    failure === undefined
      ? await judgeEnd(endedAfterMs, () => closedByCaller(subject, connections) > closedBefore)
      : notExercised(END, 'the stream did not come to its end'),
  ];
}

function judgeLifecycle(items: readonly StreamItem[], failure: Failure | undefined): Finding {
  const count = `${String(items.length)} event${items.length === 1 ? '' : 's'}`;
  if (failure === undefined) return kept(LIFECYCLE, `${count}, ended by ${endOf(items.at(-1))}`);
  if (failure.code !== undefined) return notExercised(LIFECYCLE, `the agent says no: error ${String(failure.code)}, after ${count}`);
  if (isTurnedAway(failure)) return turnedAway(LIFECYCLE, failure);
  if (isOfLayer(failure.rule)) return notExercised(LIFECYCLE, `the stream breaks another rule: ${failure.rule}, after ${count}`);
  const advice = 'begin with the task or a message, tell every change of it, and close after its last state and not before';
  return brokenBy(LIFECYCLE, failure, advice);
}

function endOf(last: StreamItem | undefined): string {
  if (last?.event.$case === 'task' || last?.event.$case === 'statusUpdate') return `the state ${stateName(stateOf(last.event.value))}`;
  return 'a message';
}

const STRENGTH: Readonly<Record<EventIdMode, number>> = { optional: 0, required: 1, sequential: 2 };
const MODE_WORDS: Readonly<Record<EventIdMode, string>> = {
  optional: 'not every event has an id',
  required: 'every event has an id',
  sequential: 'the ids count up by one',
};

function judgeIds(items: readonly StreamItem[], asked: EventIdMode): Finding {
  const mode = modeOf(items);
  const needs = `callers need eventIds: '${mode}'`;
  if (STRENGTH[mode] >= STRENGTH[asked]) {
    return kept(IDS, MODE_WORDS[mode], mode === 'optional' ? needs : `callers may ask for eventIds: '${mode}'`);
  }
  const advice = `give each event an id${asked === 'sequential' ? ' that is one more than that before' : ''}; as it is, ${needs}`;
  return broken(IDS, MODE_WORDS[mode], advice, mode === 'optional' ? 'sse.id_missing' : 'sse.id_gap');
}

/** The strictest mode that a stream keeps. */
function modeOf(items: readonly StreamItem[]): EventIdMode {
  const ids = new EventIds('sequential');
  if (items.some(({ id }) => id === undefined)) return 'optional';
  try {
    for (const { id = '' } of items) ids.add(id);
    return 'sequential';
  } catch {
    return 'required';
  }
}

/** Long enough for the close of a connection to be heard of. */
const CLOSED_MS = 50;

/** That it took the caller's patience says little on a busy machine; that the caller then closed the connection says the rest. */
async function judgeEnd(endedAfterMs: number, hasCallerClosed: () => boolean): Promise<Finding> {
  await sleep(CLOSED_MS);
  if (endedAfterMs < LINGER_MS || !hasCallerClosed()) return kept(END, 'the response is closed after the last event');
  return broken(
    END,
    `the response is not closed within ${String(LINGER_MS)} ms of the last event`,
    'close the response after the last event: callers close the connection otherwise',
  );
}

function closedByCaller(subject: Subject, connections: Connections): number {
  return connections.to(subject.options.endpoint).filter(({ closedBy }) => closedBy === 'caller').length;
}
