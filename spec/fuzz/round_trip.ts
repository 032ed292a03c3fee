/** What an agent says rightly arrives as it was said. */
import { TaskState } from '@a2a-js/sdk';
import fc from 'fast-check';
import assert from 'node:assert/strict';
import type { ProtocolVersion } from '../../lib/index.js';
import { OBJECTS, type Event } from './arbitraries_a2a.js';
import { chunkSizes, chunksOf } from './arbitraries_bytes.js';
import { anyText, openObject, record } from './arbitraries_values.js';
import {
  DIALECTS,
  EVENT_HEADERS,
  ID,
  JSON_HEADERS,
  verdictOfAnswer,
  type Answer,
  type Policy,
  type UnaryOperation,
  type Verdict,
} from './memory_agent.js';
import { property, type Property } from './runner.js';
import { WIRE, spelled, tasksOnWire } from './wire.js';

const policyOf = (protocolVersion: ProtocolVersion): Policy => ({
  protocolVersion,
  maxResponseBytes: 2 ** 20,
  maxEventBytes: 2 ** 20,
  eventIds: 'optional',
});

/** An answer that is right: what it says, and how that is written before it is spelled. */
interface Said {
  readonly operation: UnaryOperation;
  readonly dialect: ProtocolVersion;
  readonly value: unknown;
  readonly wire: unknown;
}

function saidIn(dialect: ProtocolVersion): fc.Arbitrary<Said> {
  const { task, event, pushConfig, card } = OBJECTS[dialect];
  const wire = WIRE[dialect];
  const said = <T>(operations: readonly UnaryOperation[], values: fc.Arbitrary<T>, write: (value: T) => unknown): fc.Arbitrary<Said> =>
    fc.tuple(fc.constantFrom(...operations), values).map(([operation, value]) => ({ operation, dialect, value, wire: write(value) }));
  const isAnswer = (each: Event): each is Extract<Event, { $case: 'task' | 'message' }> =>
    each.$case === 'task' || each.$case === 'message';
  const page = record({ tasks: fc.array(task, { maxLength: 2 }), nextPageToken: anyText, pageSize: fc.nat(), totalSize: fc.nat() });
  const configs = record({ configs: fc.array(pushConfig, { maxLength: 3 }), nextPageToken: dialect === '1.0' ? anyText : fc.constant('') });
  return fc.oneof(
    said(['sendMessage'], event.filter(isAnswer), wire.sendMessage),
    said(['getTask', 'cancelTask'], task, wire.task),
    said(['createTaskPushNotificationConfig', 'getTaskPushNotificationConfig'], pushConfig, wire.pushConfig),
    said(['listTaskPushNotificationConfigs'], configs, (value) => wire.pushConfigs(value.configs, value.nextPageToken)),
    said(['getExtendedAgentCard'], card, wire.card),
    said(['call'], openObject, (value) => ({ data: value })),
    ...(dialect === '1.0' ? [said(['listTasks'], page, tasksOnWire)] : []),
  );
}

const spelling = fc.array(fc.nat({ max: 999 }), { minLength: 1, maxLength: 60 });

/** @param through what stands between the agent and what is compared */
export function answersRoundTrip(through: (verdict: Verdict) => Verdict = (verdict) => verdict): Property {
  return property({
    name: 'A valid answer in either dialect, however it is spelled, is decoded to the very value that it says, with its exact bytes',
    batch: 80,
    outcomes: DIALECTS.flatMap(
      (dialect) => ['sendMessage', 'getTask', 'getTaskPushNotificationConfig', 'getExtendedAgentCard'].map((name) => `${name} ${dialect}`),
    ),
    cases: fc.tuple(fc.oneof(...DIALECTS.map(saidIn)), spelling, chunkSizes),
    check: async ([{ operation, dialect, value, wire }, choices, sizes]) => {
      const result = spelled(wire, choices);
      const body = Buffer.from(`{"jsonrpc":"2.0","id":"${ID}","result":${result}}`);
      const answer: Answer = { status: 200, headers: JSON_HEADERS, body, cut: (bytes) => chunksOf(bytes, sizes), ending: 'end', pace: 0 };
      const { items, failure } = through(await verdictOfAnswer(operation, policyOf(dialect), answer));
      assert.equal(failure, undefined);
      // `call` is told nothing of what it calls: unknown members are members.
      if (operation === 'call') assert.deepStrictEqual((items[0]?.value as { data: unknown }).data, value);
      else assert.deepStrictEqual(items[0]?.value, value);
      assert.equal(items[0]?.raw, Buffer.from(result).toString('latin1'));
      return `${operation} ${dialect}`;
    },
  });
}

/** Events of one stream: of one task in one context, and nothing after its end. */
function streamOf(dialect: ProtocolVersion): fc.Arbitrary<Event[]> {
  const { event } = OBJECTS[dialect];
  const ended = new Set<unknown>(
    ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'].map((name) => TaskState[`TASK_STATE_${name}` as keyof typeof TaskState]),
  );
  const ofTask = fc.array(event.filter(({ $case }) => $case !== 'message'), { minLength: 1, maxLength: 3 }).map((events) =>
    events.map((each, position): Event => {
      const ids = { contextId: 'ctx-1' };
      switch (each.$case) {
        case 'task':
          return { $case: 'task', value: { ...each.value, ...ids, status: goOn(each.value.status, position === events.length - 1) } };
        case 'statusUpdate':
          return {
            $case: 'statusUpdate',
            value: { ...each.value, ...ids, taskId: 'task-1', status: goOn(each.value.status, position === events.length - 1) },
          };
        case 'artifactUpdate':
          return { $case: 'artifactUpdate', value: { ...each.value, ...ids, taskId: 'task-1' } };
        case 'message':
          return each;
      }
    }),
  );
  /** A task that is not at its end goes on. */
  const goOn = (status: Extract<Event, { $case: 'task' }>['value']['status'], isLast: boolean): typeof status =>
    status && { ...status, state: ended.has(status.state) && !isLast ? TaskState.TASK_STATE_WORKING : status.state };
  const ofMessage = OBJECTS[dialect].message.map((value): Event[] => [{ $case: 'message', value }]);
  return fc.oneof({ weight: 5, arbitrary: ofTask }, { weight: 1, arbitrary: ofMessage });
}

export function eventsRoundTrip(through: (verdict: Verdict) => Verdict = (verdict) => verdict): Property {
  const kinds = ['task', 'message', 'statusUpdate', 'artifactUpdate'] as const;
  return property({
    name: 'A valid event of either dialect, however it is spelled, is decoded to the very value that it says, with its exact bytes',
    batch: 80,
    outcomes: [...DIALECTS.flatMap((dialect) => kinds.map((kind) => `${kind} ${dialect}`)), 'ended', 'not at its end'],
    cases: fc.tuple(
      fc.oneof(...DIALECTS.map((dialect) => streamOf(dialect).map((events) => ({ dialect, events })))),
      spelling,
      chunkSizes,
      fc.boolean(),
    ),
    check: async ([{ dialect, events }, choices, sizes, withTask]) => {
      // 1.0: a stream begins with the task or is a message.
      const [first] = events;
      const mayBegin = dialect === '0.3' || first?.$case === 'task' || first?.$case === 'message';
      const all = mayBegin && !withTask ? events : first?.$case === 'message' ? events : [OPENING, ...events];
      const results = all.map((each, position) => spelled(WIRE[dialect].event(each), choices.slice(position % choices.length)));
      const lines = results.map(
        (result, position) => `id: ${position}\ndata: {"jsonrpc":"2.0","id":"${ID}","result":${result.replaceAll('\n', ' ')}}\n\n`,
      );
      const answer: Answer = {
        status: 200,
        headers: EVENT_HEADERS,
        body: Buffer.from(lines.join('')),
        cut: (bytes) => chunksOf(bytes, sizes),
        ending: 'end',
        pace: 1,
      };
      const { items, failure } = through(await verdictOfAnswer('sendStreamingMessage', policyOf(dialect), answer));
      assert.ok(failure === undefined || failure.rule === 'stream.incomplete', String(failure?.rule));
      assert.deepStrictEqual(items.map(({ value }) => value), all);
      assert.deepStrictEqual(
        items.map(({ raw }) => raw),
        results.map((result) => Buffer.from(result.replaceAll('\n', ' ')).toString('latin1')),
      );
      return [...all.map(({ $case }) => `${$case} ${dialect}`), failure === undefined ? 'ended' : 'not at its end'];
    },
  });
}

const OPENING: Event = {
  $case: 'task',
  value: {
    id: 'task-1',
    contextId: 'ctx-1',
    status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined },
    artifacts: [],
    history: [],
    metadata: undefined,
  },
};
