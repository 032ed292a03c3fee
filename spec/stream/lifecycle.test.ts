/** The order and identity of a stream's events, section 7 of the profile, without a socket. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Dialect } from '../../lib/dialect/dialect.js';
import { v0_3 } from '../../lib/dialect/v0_3.js';
import { v1_0 } from '../../lib/dialect/v1_0.js';
import { Refusal, type FailureRule } from '../../lib/failure.js';
import type { ProtocolVersion } from '../../lib/index.js';
import { Lifecycle } from '../../lib/wire/lifecycle.js';
import { DIALECTS, artifact, message, status, task, type State } from './results.js';

const TABLES: Readonly<Record<ProtocolVersion, Dialect>> = { '1.0': v1_0, '0.3': v0_3 };

type Operation = 'sendStreamingMessage' | 'subscribeToTask';

interface Case {
  readonly name: string;
  readonly dialects?: readonly ProtocolVersion[];
  readonly operation?: Operation;
  /** What the request named. */
  readonly asked?: { readonly taskId?: string; readonly contextId?: string };
  readonly events: (dialect: ProtocolVersion) => readonly object[];
  /** The rule that the last event breaks, or the close behind it (`stream.incomplete`); none where all is well. */
  readonly rule?: FailureRule;
  /** Whether the end has been seen; by default, that a stream which is well has. */
  readonly ended?: boolean;
}

function play(
  dialect: ProtocolVersion,
  { operation = 'sendStreamingMessage', asked = {}, events }: Case,
): [number, FailureRule | undefined, boolean] {
  const table = TABLES[dialect];
  const lifecycle = new Lifecycle({
    taskId: asked.taskId ?? '',
    contextId: asked.contextId ?? '',
    firstEvent: table.firstEvent[operation],
  });
  let accepted = 0;
  try {
    for (const result of events(dialect)) {
      lifecycle.accept(table.decodeEvent(result), table.isFinal(result));
      accepted++;
    }
    lifecycle.close();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [accepted, error.rule, lifecycle.ended];
  }
  return [accepted, undefined, lifecycle.ended];
}

const OTHER = { taskId: 'task-2' };
const ELSEWHERE = { contextId: 'ctx-2' };
const NOWHERE = { contextId: '' };
const TERMINAL: readonly State[] = ['completed', 'failed', 'canceled', 'rejected'];
const INTERRUPTED: readonly State[] = ['input-required', 'auth-required'];
const OPEN: readonly State[] = ['submitted', 'working', 'unknown'];

const begun = (d: ProtocolVersion): object => task(d, 'working');
const done = (d: ProtocolVersion): object => status(d, 'completed', { final: true });

const CASES: Readonly<Record<string, readonly Case[]>> = {
  'stream.first_event': [
    { name: 'a new stream that begins with a status update', dialects: ['1.0'], events: (d) => [done(d)], rule: 'stream.first_event' },
    { name: 'a new stream that begins with an artifact', dialects: ['1.0'], events: (d) => [artifact(d, 'x')], rule: 'stream.first_event' },
    {
      name: 'a stream in a named context that begins with a status update',
      dialects: ['1.0'],
      asked: { contextId: 'ctx-1' },
      events: (d) => [done(d)],
      rule: 'stream.first_event',
    },
    {
      name: 'a stream in a named task that begins with a status update of another',
      dialects: ['1.0'],
      asked: { taskId: 'task-1' },
      events: (d) => [status(d, 'working', OTHER)],
      rule: 'stream.first_event',
    },
    {
      name: 'a stream in a named task that begins with an artifact of another',
      dialects: ['1.0'],
      asked: { taskId: 'task-1' },
      events: (d) => [artifact(d, 'x', OTHER)],
      rule: 'stream.first_event',
    },
    ...(
      [
        ['a status update', (d) => [status(d, 'working')]],
        ['an artifact', (d) => [artifact(d, 'x')]],
        ['a message', (d) => [message(d)]],
        ['another task', (d) => [task(d, 'working', OTHER)]],
        ['a status update of another task', (d) => [status(d, 'working', OTHER)]],
      ] satisfies [string, Case['events']][]
    ).map(([name, events]): Case => ({
      name: `a subscription that begins with ${name}`,
      dialects: ['1.0'],
      operation: 'subscribeToTask',
      asked: { taskId: 'task-1' },
      events,
      rule: 'stream.first_event',
    })),
    { name: 'nothing, where a new stream begins with a task', events: (d) => [begun(d), done(d)] },
    { name: 'nothing, where a new stream is a message', events: (d) => [message(d)] },
    {
      name: 'nothing, where a stream in a named task begins with its status update',
      asked: { taskId: 'task-1' },
      events: (d) => [status(d, 'working'), done(d)],
    },
    {
      name: 'nothing, where a stream in a named task begins with its artifact',
      asked: { taskId: 'task-1' },
      events: (d) => [artifact(d, 'x'), done(d)],
    },
    { name: 'nothing, where a stream in a named task is a message', asked: { taskId: 'task-1' }, events: (d) => [message(d)] },
    {
      name: 'nothing, where a subscription begins with its task',
      operation: 'subscribeToTask',
      asked: { taskId: 'task-1' },
      events: (d) => [begun(d), done(d)],
    },
    { name: 'nothing in 0.3, where a new stream begins with a status update', dialects: ['0.3'], events: (d) => [done(d)] },
    { name: 'nothing in 0.3, where a new stream begins with an artifact', dialects: ['0.3'], events: (d) => [artifact(d, 'x'), done(d)] },
    {
      name: 'nothing in 0.3, where a subscription begins with a status update',
      dialects: ['0.3'],
      operation: 'subscribeToTask',
      asked: { taskId: 'task-1' },
      events: (d) => [done(d)],
    },
  ],

  'stream.message_only': [
    { name: 'a message after a task', events: (d) => [begun(d), message(d)], rule: 'stream.message_only' },
    { name: 'a message after an artifact', events: (d) => [begun(d), artifact(d, 'x'), message(d)], rule: 'stream.message_only' },
    { name: 'a message after the end', events: (d) => [begun(d), done(d), message(d)], rule: 'stream.message_only', ended: true },
    { name: 'a message of another task after a task', events: (d) => [begun(d), message(d, OTHER)], rule: 'stream.message_only' },
    { name: 'a second message', events: (d) => [message(d), message(d)], rule: 'stream.message_only', ended: true },
    { name: 'a task after a message', events: (d) => [message(d), begun(d)], rule: 'stream.message_only', ended: true },
    { name: 'a status update after a message', events: (d) => [message(d), done(d)], rule: 'stream.message_only', ended: true },
    { name: 'an artifact after a message', events: (d) => [message(d), artifact(d, 'x', OTHER)], rule: 'stream.message_only', ended: true },
    { name: 'nothing, where a message is alone', events: (d) => [message(d)] },
    {
      name: 'nothing, where a message names the task asked for',
      asked: { taskId: 'task-1' },
      events: (d) => [message(d, { taskId: 'task-1' })],
    },
  ],

  'stream.identity': [
    { name: 'a status update of another task', events: (d) => [begun(d), status(d, 'working', OTHER)], rule: 'stream.identity' },
    { name: 'an artifact of another task', events: (d) => [begun(d), artifact(d, 'x', OTHER)], rule: 'stream.identity' },
    { name: 'another task', events: (d) => [begun(d), task(d, 'working', OTHER)], rule: 'stream.identity' },
    { name: 'a status update of another context', events: (d) => [begun(d), status(d, 'working', ELSEWHERE)], rule: 'stream.identity' },
    { name: 'an artifact of another context', events: (d) => [begun(d), artifact(d, 'x', ELSEWHERE)], rule: 'stream.identity' },
    { name: 'the task in another context', events: (d) => [begun(d), task(d, 'working', ELSEWHERE)], rule: 'stream.identity' },
    {
      name: 'another context than the one that a later event settled',
      dialects: ['1.0'],
      events: (d) => [task(d, 'working', NOWHERE), status(d, 'working', ELSEWHERE), artifact(d, 'x')],
      rule: 'stream.identity',
    },
    {
      name: 'another context than the one that a later event settled, in 0.3',
      dialects: ['0.3'],
      events: (d) => [status(d, 'working', NOWHERE), status(d, 'working', ELSEWHERE), artifact(d, 'x')],
      rule: 'stream.identity',
    },
    { name: 'the task in another context than asked', asked: ELSEWHERE, events: (d) => [begun(d)], rule: 'stream.identity' },
    { name: 'a message in another context than asked', asked: ELSEWHERE, events: (d) => [message(d)], rule: 'stream.identity' },
    {
      name: 'a message of another task than asked',
      asked: { taskId: 'task-1' },
      events: (d) => [message(d, OTHER)],
      rule: 'stream.identity',
    },
    { name: 'another task than asked', asked: { taskId: 'task-1' }, events: (d) => [task(d, 'working', OTHER)], rule: 'stream.identity' },
    {
      name: 'a later event of another context than asked',
      asked: { contextId: 'ctx-1' },
      events: (d) => [begun(d), status(d, 'working', ELSEWHERE)],
      rule: 'stream.identity',
    },
    {
      name: 'a status update of another task than asked, in 0.3',
      dialects: ['0.3'],
      asked: { taskId: 'task-1' },
      events: (d) => [status(d, 'working', OTHER)],
      rule: 'stream.identity',
    },
    {
      name: 'another task than subscribed to, in 0.3',
      dialects: ['0.3'],
      operation: 'subscribeToTask',
      asked: { taskId: 'task-1' },
      events: (d) => [task(d, 'working', OTHER)],
      rule: 'stream.identity',
    },
    {
      name: 'another task after the end',
      events: (d) => [begun(d), done(d), status(d, 'completed', OTHER)],
      rule: 'stream.identity',
      ended: true,
    },
    {
      name: 'another context after the end',
      events: (d) => [begun(d), done(d), status(d, 'completed', ELSEWHERE)],
      rule: 'stream.identity',
      ended: true,
    },
    {
      name: 'nothing, where events have no context',
      events: (d) => [
        begun(d),
        status(d, 'working', NOWHERE),
        artifact(d, 'x', NOWHERE),
        status(d, 'completed', { ...NOWHERE, final: true }),
      ],
    },
    { name: 'nothing, where the context asked for comes back', asked: { contextId: 'ctx-1' }, events: (d) => [begun(d), done(d)] },
    {
      name: 'nothing, where the answer names a task and the request did not',
      asked: { contextId: 'ctx-1' },
      events: (d) => [message(d, OTHER)],
    },
  ],

  'stream.after_end': [
    ...TERMINAL.map((state): Case => ({
      name: `an artifact after ${state}`,
      events: (d) => [begun(d), status(d, state), artifact(d, 'x')],
      rule: 'stream.after_end',
      ended: true,
    })),
    ...TERMINAL.map((state): Case => ({
      name: `work after ${state}`,
      events: (d) => [task(d, state), status(d, 'working')],
      rule: 'stream.after_end',
      ended: true,
    })),
    { name: 'another end', events: (d) => [begun(d), done(d), status(d, 'failed')], rule: 'stream.after_end', ended: true },
    { name: 'the task in another state', events: (d) => [task(d, 'failed'), task(d, 'canceled')], rule: 'stream.after_end', ended: true },
    {
      name: 'an artifact after a restated end',
      events: (d) => [begun(d), done(d), task(d, 'completed'), artifact(d, 'x')],
      rule: 'stream.after_end',
      ended: true,
    },
    {
      name: 'an artifact after a final status of a working task',
      dialects: ['0.3'],
      events: (d) => [begun(d), status(d, 'working', { final: true }), artifact(d, 'x')],
      rule: 'stream.after_end',
      ended: true,
    },
    {
      name: 'the end of the task after a final status of another state',
      dialects: ['0.3'],
      events: (d) => [begun(d), status(d, 'input-required', { final: true }), status(d, 'completed', { final: true })],
      rule: 'stream.after_end',
      ended: true,
    },
    ...TERMINAL.map((state): Case => ({
      name: `nothing, where a status restates ${state}`,
      events: (d) => [begun(d), status(d, state), status(d, state)],
    })),
    ...TERMINAL.map((state): Case => ({
      name: `nothing, where a task restates ${state}`,
      events: (d) => [task(d, state), task(d, state), task(d, state)],
    })),
    {
      name: 'nothing, where a final status of a working task is restated',
      dialects: ['0.3'],
      events: (d) => [begun(d), status(d, 'working', { final: true }), status(d, 'working'), task(d, 'working')],
    },
    {
      name: 'nothing after input-required, which is no end',
      events: (d) => [begun(d), status(d, 'input-required'), artifact(d, 'x'), done(d)],
    },
  ],

  'stream.incomplete': [
    { name: 'no event at all', events: () => [], rule: 'stream.incomplete' },
    ...OPEN.map((state): Case => ({
      name: `the close of a task that is ${state}`,
      events: (d) => [task(d, state)],
      rule: 'stream.incomplete',
    })),
    ...OPEN.map((state): Case => ({
      name: `the close after a status update that says ${state}`,
      events: (d) => [begun(d), status(d, state, { final: false })],
      rule: 'stream.incomplete',
    })),
    { name: 'the close after an artifact', events: (d) => [begun(d), artifact(d, 'x')], rule: 'stream.incomplete' },
    {
      name: 'the close after work that input-required interrupted',
      events: (d) => [begun(d), status(d, 'input-required'), status(d, 'working')],
      rule: 'stream.incomplete',
    },
    { name: 'the close after artifacts alone', asked: { taskId: 'task-1' }, events: (d) => [artifact(d, 'x')], rule: 'stream.incomplete' },
    ...TERMINAL.map((state): Case => ({ name: `nothing, where the task is ${state}`, events: (d) => [begun(d), status(d, state)] })),
    ...INTERRUPTED.map((state): Case => ({ name: `nothing, where the task is ${state}`, events: (d) => [task(d, state)], ended: false })),
    ...INTERRUPTED.map((state): Case => ({
      name: `nothing, where an artifact follows ${state}`,
      events: (d) => [begun(d), status(d, state), artifact(d, 'x')],
      ended: false,
    })),
    ...([...OPEN, ...INTERRUPTED] as const).map((state): Case => ({
      name: `nothing, where ${state} is final`,
      dialects: ['0.3'],
      events: (d) => [begun(d), status(d, state, { final: true })],
    })),
    { name: 'nothing, where a message is the answer', events: (d) => [message(d)] },
  ],
};

for (const [rule, cases] of Object.entries(CASES)) {
  describe(`${rule} refuses`, () => {
    for (const item of cases) {
      const { name, dialects = DIALECTS, rule: expected, ended = expected === undefined } = item;
      for (const dialect of dialects) {
        test(`${name} (${dialect})`, () => {
          const events = item.events(dialect).length;
          const isRefused = expected !== undefined && expected !== 'stream.incomplete';
          assert.deepEqual(play(dialect, item), [isRefused ? events - 1 : events, expected, ended]);
        });
      }
    }
  });
}

test('1.0 has no final status: a member of that name means nothing', () => {
  const lifecycle = new Lifecycle({ taskId: '', contextId: '', firstEvent: 'task-or-message' });
  for (const result of [
    begun('1.0'),
    { statusUpdate: { ...(status('1.0', 'working') as { statusUpdate: object }).statusUpdate, final: true } },
  ]) {
    lifecycle.accept(v1_0.decodeEvent(result), v1_0.isFinal(result));
  }
  assert.equal(lifecycle.ended, false);
});
