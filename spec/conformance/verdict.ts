/**
 * What came of a run, and how it differs from what its case expects.
 */
import {
  AgentCard,
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  SendMessageResponse,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { isDeepStrictEqual } from 'node:util';
import type { Delivery, FailureKind, FailureRule } from '../../lib/index.js';
import { resultsOf } from './bytes.js';
import { isRaw, type Accepted, type Operation, type Refused, type Run } from './corpus.js';

/** One result: that of a unary call, or an event of a stream. */
export interface Item {
  readonly value: unknown;
  readonly raw: Uint8Array;
  readonly id?: string | undefined;
}

export interface ObservedFailure {
  readonly kind: FailureKind;
  readonly rule: FailureRule;
  readonly path?: string | undefined;
  readonly code?: number | undefined;
  /** Known where an exchange was made. */
  readonly exchange?: {
    readonly delivery: Delivery;
    readonly status?: number | undefined;
    readonly retryAfterMs?: number | undefined;
  };
}

export interface Observed {
  readonly items: readonly Item[];
  readonly failure?: ObservedFailure;
}

/** How the observed differs from the expected, one line each; empty where it does not. */
export function differences(run: Run, observed: Observed): string[] {
  const { expect } = run.case;
  return expect.ok ? againstAccepted(run, expect, observed) : againstRefused(run, expect, observed);
}

function againstRefused(run: Run, expect: Refused, { items, failure }: Observed): string[] {
  if (failure === undefined) return [`expected ${expect.rule}, but it was accepted`];
  const { exchange } = failure;
  const differ = [
    ...compare('rule', failure.rule, expect.rule),
    ...compare('kind', failure.kind, expect.kind),
    ...compare('code', failure.code, expect.code),
    ...(expect.path === undefined ? [] : compare('path', failure.path, expect.path)),
    ...(run.isStream ? compare('events before', items.length, expect.eventsBefore ?? 0) : []),
  ];
  if (exchange !== undefined) {
    differ.push(
      ...compare('status', exchange.status, expect.status),
      ...compare('retryAfterMs', exchange.retryAfterMs, expect.retryAfterMs),
      ...(expect.delivery === null ? [] : compare('delivery', exchange.delivery, expect.delivery ?? 'answered')),
    );
  }
  return differ;
}

function againstAccepted(run: Run, expect: Accepted, { items, failure }: Observed): string[] {
  if (failure !== undefined) {
    const place = failure.path === undefined ? '' : ` at ${failure.path}`;
    return [`expected no failure, got ${failure.rule}${place} after ${items.length} events`];
  }
  const raws = items.map(({ raw }) => Buffer.from(raw).toString('utf8'));
  const { response, operation } = run.case;
  const written = isRaw(response) ? undefined : resultsOf(response);
  const values = items.map(({ value }) => wireForm(operation, value));
  return [
    ...(run.isStream ? compare('events', items.length, expect.events) : []),
    ...(written === undefined ? [] : compare('raw', raws, written)),
    ...(expect.raw === undefined ? [] : compare('raw', raws, [expect.raw])),
    ...(expect.rawEvents === undefined ? [] : compare('raw events', raws, expect.rawEvents)),
    ...(expect.ids === undefined ? [] : compare('ids', items.map(({ id }) => id ?? null), expect.ids)),
    ...(Object.hasOwn(expect, 'result') ? compare('result', run.isStream ? values : values[0], expect.result) : []),
    ...items.flatMap(({ value }, position) => strayShape(operation, value, values[position])),
  ];
}

function compare(what: string, observed: unknown, expected: unknown): string[] {
  return isDeepStrictEqual(observed, expected) ? [] : [`${what}: expected ${text(expected)}, got ${text(observed)}`];
}

function text(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value);
}

interface Codec {
  readonly encode: (value: unknown) => unknown;
  readonly decode: (json: unknown) => unknown;
}

/** The SDK's own reading and writing of ProtoJSON. It trusts its input, and so takes `unknown` from here. */
const codec = <T>(functions: { toJSON: (value: T) => unknown; fromJSON: (json: never) => T }): Codec => ({
  encode: (value) => functions.toJSON(value as T),
  decode: (json) => functions.fromJSON(json as never),
});

/** A payload is carried by the message that has it as its oneof. */
const payload = <T extends { payload?: unknown }>(functions: { toJSON: (value: T) => unknown; fromJSON: (json: never) => T }): Codec => ({
  encode: (value) => functions.toJSON({ payload: value } as T),
  decode: (json) => functions.fromJSON(json as never).payload,
});

const CODECS: Readonly<Record<Operation, Codec | undefined>> = {
  sendMessage: payload(SendMessageResponse),
  sendStreamingMessage: payload(StreamResponse),
  subscribeToTask: payload(StreamResponse),
  getTask: codec(Task),
  cancelTask: codec(Task),
  listTasks: codec(ListTasksResponse),
  createTaskPushNotificationConfig: codec(TaskPushNotificationConfig),
  getTaskPushNotificationConfig: codec(TaskPushNotificationConfig),
  listTaskPushNotificationConfigs: codec(ListTaskPushNotificationConfigsResponse),
  getExtendedAgentCard: codec(AgentCard),
  deleteTaskPushNotificationConfig: undefined,
  call: undefined,
};

/** A decoded value as ProtoJSON of 1.0, which is how cases say it: the same whatever the language, and whatever the dialect was. */
function wireForm(operation: Operation, value: unknown): unknown {
  return CODECS[operation]?.encode(value) ?? value;
}

/** A decoded value has just the members of the SDK's type: what the SDK makes of its ProtoJSON is equal to it. */
function strayShape(operation: Operation, value: unknown, json: unknown): string[] {
  const rule = CODECS[operation];
  // The SDK reads `"data":null` as no content at all, though it writes it so.
  if (rule === undefined || JSON.stringify(json).includes('"data":null')) return [];
  return isDeepStrictEqual(value, rule.decode(json)) ? [] : [`the decoded value is not in the shape of the SDK: ${text(value)}`];
}
