/** How the agent says no: to what there is none of, and to what it cannot read. */
import { randomUUID } from 'node:crypto';
import { broken, kept, notExercised, brokenBy, isTurnedAway, turnedAway, type Finding, type Topic } from '../finding.js';
import { isOfLayer } from '../layers.js';
import { rawCall } from '../raw_call.js';
import type { Outcome, Subject } from '../subject.js';

/** A2A 1.0 section 5.4; JSON-RPC 2.0 section 5.1. */
const TASK_NOT_FOUND = -32001;
const UNSUPPORTED_OPERATION = -32004;
const VERSION_NOT_SUPPORTED = -32009;
const METHOD_NOT_FOUND = -32601;
const PARSE_ERROR = -32700;

const UNKNOWN_TASK = { check: 'errors.unknown_task', title: 'unknown task' };
const UNKNOWN_METHOD = { check: 'errors.unknown_method', title: 'unknown method' };
const WRONG_VERSION = { check: 'errors.wrong_version', title: 'wrong version' };
const MALFORMED_JSON = { check: 'errors.malformed_json', title: 'malformed JSON' };
const UNKNOWN_STREAM = { check: 'errors.unknown_task_stream', title: 'unknown stream' };

/** Also the first contact: what it comes to says whether there is an agent. */
export function askUnknownTask(subject: Subject): Promise<Outcome<unknown>> {
  return subject.ask('a task that there is none of', () => subject.client.getTask(subject.options, { id: randomUUID() }));
}

export const judgeUnknownTask = (outcome: Outcome<unknown>): Finding => judgeError(UNKNOWN_TASK, outcome, TASK_NOT_FOUND, 'TaskNotFoundError');

export async function unknownMethod(subject: Subject): Promise<Finding> {
  const outcome = await subject.ask('an unknown method', () => subject.client.call(subject.options, 'NoSuchMethod', {}));
  return judgeError(UNKNOWN_METHOD, outcome, METHOD_NOT_FOUND, 'Method not found');
}

export async function wrongVersion(subject: Subject): Promise<Finding> {
  if (subject.protocolVersion === '0.3') return notExercised(WRONG_VERSION, 'requests of 0.3 name no version');
  const outcome = await subject.ask('a version that there is none of', () =>
    rawCall(subject, {
      version: '99.0',
      body: (id) => JSON.stringify({ jsonrpc: '2.0', id, method: 'GetTask', params: { id: randomUUID() } }),
    }),
  );
  return judgeError(WRONG_VERSION, outcome, VERSION_NOT_SUPPORTED, 'VersionNotSupportedError');
}

export async function malformedJson(subject: Subject): Promise<Finding> {
  const outcome = await subject.ask('malformed JSON', () => rawCall(subject, { body: () => '{"jsonrpc":"2.0",' }));
  return judgeError(MALFORMED_JSON, outcome, PARSE_ERROR, 'Parse error, with the id null');
}

/** @param hasStreaming what the card says of it */
export async function unknownStream(subject: Subject, hasStreaming: boolean | undefined): Promise<Finding> {
  const { items, failure } = await subject.follow(
    'a subscription to a task that there is none of',
    subject.client.subscribeToTask({ ...subject.options, eventIds: 'optional' }, { id: randomUUID() }),
  );
  const isAbsent = failure?.code === UNSUPPORTED_OPERATION || (hasStreaming === false && failure?.code === METHOD_NOT_FOUND);
  if (isAbsent) return notExercised(UNKNOWN_STREAM, 'the agent has no streams');
  return judgeError(UNKNOWN_STREAM, failure === undefined ? { result: items } : { failure }, TASK_NOT_FOUND, 'TaskNotFoundError');
}

function judgeError(topic: Topic, { failure }: Outcome<unknown>, code: number, name: string): Finding {
  const advice = `answer with the JSON-RPC error ${String(code)} (${name})`;
  if (failure === undefined) return broken(topic, 'answered with a result', advice);
  if (failure.code === code) return kept(topic, `error ${String(code)}`);
  if (failure.code !== undefined) return broken(topic, `error ${String(failure.code)}`, advice);
  if (isTurnedAway(failure)) return turnedAway(topic, failure);
  if (failure.rule === 'http.status') return broken(topic, `status ${String(failure.status)} and no JSON-RPC error`, advice, failure.rule);
  if (isOfLayer(failure.rule)) return notExercised(topic, `the answer breaks another rule: ${failure.rule}`);
  return brokenBy(topic, failure, advice);
}
