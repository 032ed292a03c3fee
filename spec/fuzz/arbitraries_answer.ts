/** Whole answers to every operation: right ones, right ones to another question, and what becomes of them when bytes go wrong. */
import fc from 'fast-check';
import type { ProtocolVersion } from '../../lib/index.js';
import { OBJECTS } from './arbitraries_a2a.js';
import { anyBytes, chunkSizes, mutated } from './arbitraries_bytes.js';
import { jsonValueText } from './arbitraries_json.js';
import { eventStream } from './arbitraries_sse.js';
import {
  DIALECTS,
  EVENT_HEADERS,
  ID,
  JSON_HEADERS,
  STREAM_OPERATIONS,
  UNARY_OPERATIONS,
  type Policy,
  type StreamOperation,
  type UnaryOperation,
} from './memory_agent.js';
import { WIRE, spelled } from './wire.js';

export interface AnswerCase {
  readonly operation: UnaryOperation | StreamOperation;
  readonly policy: Policy;
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** The chunks that it comes in, but for those of whoever chooses others. */
  readonly sizes: readonly number[];
  readonly ending: 'end' | 'reset';
}

const choices = fc.array(fc.nat({ max: 999 }), { minLength: 1, maxLength: 20 });
const spelt = <T>(values: fc.Arbitrary<T>, write: (value: T) => unknown): fc.Arbitrary<string> =>
  fc.tuple(values, choices).map(([value, each]) => spelled(write(value), each));

/** A result of any operation, for any: what is right for one is wrong for another. */
function resultText(dialect: ProtocolVersion): fc.Arbitrary<string> {
  const { task, event, pushConfig, card } = OBJECTS[dialect];
  const wire = WIRE[dialect];
  return fc.oneof(
    { weight: 3, arbitrary: spelt(task, wire.task) },
    { weight: 3, arbitrary: spelt(event, wire.event) },
    { weight: 1, arbitrary: spelt(pushConfig, wire.pushConfig) },
    { weight: 1, arbitrary: spelt(pushConfig, (config) => wire.pushConfigs([config], '')) },
    { weight: 1, arbitrary: spelt(card, wire.card) },
    { weight: 1, arbitrary: jsonValueText },
    { weight: 1, arbitrary: fc.constant('null') },
  );
}

const errorText = fc.tuple(fc.integer({ min: -33000, max: 0 }), jsonValueText).map(
  ([code, data]) => `{"code":${code},"message":"no","data":${data}}`,
);

const envelope = (member: string): string => `{"jsonrpc":"2.0","id":"${ID}",${member}}`;

function answerText(dialect: ProtocolVersion): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: resultText(dialect).map((text) => envelope(`"result":${text}`)) },
    { weight: 1, arbitrary: errorText.map((text) => envelope(`"error":${text}`)) },
    { weight: 1, arbitrary: jsonValueText },
  );
}

const STATES: Readonly<Record<ProtocolVersion, readonly string[]>> = {
  '1.0': ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED', 'TASK_STATE_INPUT_REQUIRED'],
  '0.3': ['working', 'completed', 'input-required'],
};

/** Small events of one task, mostly: a stream of them comes far. */
function smallEvent(dialect: ProtocolVersion): fc.Arbitrary<string> {
  const state = fc.constantFrom(...STATES[dialect], STATES[dialect][0]!);
  const id = fc.oneof({ weight: 15, arbitrary: fc.constant('task-1') }, { weight: 1, arbitrary: fc.constant('task-2') });
  const said = (name: string, kind: string, members: string): string =>
    dialect === '1.0' ? `{"${name}":{${members}}}` : `{"kind":"${kind}",${members}}`;
  const part = (text: string): string => (dialect === '1.0' ? `{"text":"${text}"}` : `{"kind":"text","text":"${text}"}`);
  const word = fc.constantFrom('word', '', 'é', '\\n', '\u{1F600}');
  return fc.oneof(
    {
      weight: 2,
      arbitrary: fc.tuple(id, state).map(([task, at]) => said('task', 'task', `"id":"${task}","contextId":"c","status":{"state":"${at}"}`)),
    },
    {
      weight: 3,
      arbitrary: fc.tuple(id, state).map(
        ([task, at]) => said('statusUpdate', 'status-update', `"taskId":"${task}","contextId":"c","status":{"state":"${at}"}`),
      ),
    },
    {
      weight: 8,
      arbitrary: fc
        .tuple(id, word, fc.boolean())
        .map(([task, text, append]) =>
          said(
            'artifactUpdate',
            'artifact-update',
            `"taskId":"${task}","contextId":"c","artifact":{"artifactId":"a","parts":[${part(text)}]},"append":${append}`,
          ),
        ),
    },
    {
      weight: 1,
      arbitrary: fc.constant(
        said('message', 'message', `"messageId":"m","role":"${dialect === '1.0' ? 'ROLE_AGENT' : 'agent'}","parts":[${part('x')}]`),
      ),
    },
  );
}

function streamBody(dialect: ProtocolVersion): fc.Arbitrary<Buffer> {
  const opening =
    dialect === '1.0'
      ? '{"task":{"id":"task-1","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED"}}}'
      : '{"kind":"task","id":"task-1","contextId":"c","status":{"state":"submitted"}}';
  const data = fc.oneof(
    { weight: 20, arbitrary: smallEvent(dialect).map((text) => envelope(`"result":${text}`)) },
    { weight: 1, arbitrary: answerText(dialect).map((text) => text.replace(/[\r\n]/g, ' ')) },
  );
  const frames = fc
    .tuple(fc.array(data, { maxLength: 7 }), fc.constantFrom('\n', '\r\n'), fc.nat({ max: 19 }))
    .map(
      ([all, end, odd]) => [...(odd === 0 ? [] : [envelope(`"result":${opening}`)]), ...all].map(
        (text, position) => `id: ${position}${end}data: ${text}${end}${end}`,
      ).join(''),
    )
    .map((text) => Buffer.from(text));
  return fc.oneof({ weight: 8, arbitrary: frames }, { weight: 1, arbitrary: eventStream });
}

const status = fc.oneof(
  { weight: 20, arbitrary: fc.constant(200) },
  { weight: 1, arbitrary: fc.constantFrom(201, 204, 302, 400, 404, 500, 503, 599, 600, 999) },
);
const headers = (usual: readonly string[]): fc.Arbitrary<readonly string[]> =>
  fc.oneof(
    { weight: 24, arbitrary: fc.constant(usual) },
    {
      weight: 2,
      arbitrary: fc.constantFrom<readonly string[]>(
        JSON_HEADERS,
        EVENT_HEADERS,
        [],
        ['Content-Type', 'text/plain'],
        ['content-type', 'application/json; charset=utf-16'],
        [...usual, 'content-encoding', 'gzip'],
        [...usual, 'content-length', '400'],
        [...usual, 'transfer-encoding', 'gzip, chunked'],
      ),
    },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.oneof(fc.constantFrom('content-type', 'retry-after', 'content-length'), fc.string({ unit: 'binary-ascii', maxLength: 8 })),
        { maxLength: 6 },
      ),
    },
  );
const bound = (least: number): fc.Arbitrary<number> => fc.oneof(
  { weight: 14, arbitrary: fc.constant(2 ** 20) },
  { weight: 1, arbitrary: fc.integer({ min: least, max: 600 }) },
);

function casesOf(dialect: ProtocolVersion): fc.Arbitrary<AnswerCase> {
  const policy: fc.Arbitrary<Policy> = fc.record(
    {
      protocolVersion: fc.constant(dialect),
      maxResponseBytes: bound(1),
      maxEventBytes: bound(1),
      maxStreamBytes: bound(1),
      maxStreamEvents: fc.integer({ min: 1, max: 12 }),
      eventIds: fc.constantFrom('required', 'optional', 'optional', 'sequential'),
    },
    { requiredKeys: ['protocolVersion', 'maxResponseBytes', 'maxEventBytes'], noNullPrototype: true },
  );
  const others = { policy, status, sizes: chunkSizes, ending: fc.constantFrom('end', 'end', 'end', 'reset') } as const;
  const unaryBody = mutated(answerText(dialect).map((text) => Buffer.from(text)), 5);
  const either = (usual: fc.Arbitrary<Buffer>, unusual: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
    fc.oneof({ weight: 20, arbitrary: usual }, { weight: 1, arbitrary: unusual }, { weight: 1, arbitrary: anyBytes });
  const stream = mutated(streamBody(dialect), 5);
  const operations = UNARY_OPERATIONS.filter((operation) => dialect === '1.0' || operation !== 'listTasks');
  return fc.oneof(
    fc.record({ operation: fc.constantFrom(...operations), ...others, headers: headers(JSON_HEADERS), body: either(unaryBody, stream) }),
    fc.record(
      { operation: fc.constantFrom(...STREAM_OPERATIONS), ...others, headers: headers(EVENT_HEADERS), body: either(stream, unaryBody) },
    ),
  );
}

export const answerCases = fc.oneof(...DIALECTS.map(casesOf));
