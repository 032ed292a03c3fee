/** What is done with tasks: listing them, which changes nothing; with `--send`, making, reading and canceling one. */
import { TaskState, type Task } from '@a2a-js/sdk';
import { userText } from '../../../dialect/request.js';
import type { Failure } from '../../../failure.js';
import { stateOf } from '../../../text/reply.js';
import { stateName } from '../../task_view.js';
import { brokenBy, isTurnedAway, kept, notExercised, turnedAway, type Finding, type Topic } from '../finding.js';
import { isOfLayer } from '../layers.js';
import type { Subject } from '../subject.js';

const LIST = { check: 'tasks.list', title: 'task list' };
const SEND = { check: 'tasks.send', title: 'message' };
const GET = { check: 'tasks.get', title: 'task again' };
const CANCEL = { check: 'tasks.cancel', title: 'cancellation' };

const NEEDS_SEND = 'sends a message: only with --send';

export async function listTasks(subject: Subject): Promise<Finding> {
  if (subject.protocolVersion === '0.3') return notExercised(LIST, '0.3 has no such operation');
  const { failure } = await subject.ask('a page of the list of tasks', () => subject.client.listTasks(subject.options, { pageSize: 1 }));
  return failure === undefined ? kept(LIST, 'a page of it') : judgeFailure(LIST, failure);
}

/** @param text absent: nothing may be sent */
export async function sendAndGet(subject: Subject, text: string | undefined): Promise<Finding[]> {
  if (text === undefined) return [notExercised(SEND, NEEDS_SEND), notExercised(GET, NEEDS_SEND)];
  const sent = await subject.ask('a message', () => subject.client.sendMessage(subject.messageOptions, { message: userText(text) }));
  if (sent.failure !== undefined) return [judgeFailure(SEND, sent.failure), notExercised(GET, 'there is no task')];
  const { result } = sent;
  if (result.$case === 'message') return [kept(SEND, 'answered with a message'), notExercised(GET, 'there is no task')];
  const got = await subject.ask('the task of the message', () => subject.client.getTask(subject.options, { id: result.value.id }));
  const again = got.failure === undefined ? kept(GET, nameOf(got.result)) : judgeFailure(GET, got.failure);
  return [kept(SEND, `a task, ${nameOf(result.value)}`), again];
}

export async function cancel(subject: Subject, text: string | undefined): Promise<Finding> {
  if (text === undefined) return notExercised(CANCEL, NEEDS_SEND);
  const configuration = { returnImmediately: true };
  const sent = await subject.ask('a message to be canceled', () =>
    subject.client.sendMessage(subject.messageOptions, { message: userText(text), configuration }),
  );
  if (sent.failure !== undefined) return judgeFailure(CANCEL, sent.failure);
  const { result } = sent;
  if (result.$case === 'message') return notExercised(CANCEL, 'the agent answers with messages, which cannot be canceled');
  const canceled = await subject.ask('a cancellation', () => subject.client.cancelTask(subject.options, { id: result.value.id }));
  if (canceled.failure === undefined) {
    const isCanceled = stateOf(canceled.result) === TaskState.TASK_STATE_CANCELED;
    if (isCanceled) return kept(CANCEL, 'the task is canceled');
    return notExercised(CANCEL, `the agent took the request, and the task is ${nameOf(canceled.result)}`);
  }
  if (canceled.failure.code === TASK_NOT_CANCELABLE) return notExercised(CANCEL, 'the task had ended, or cannot be canceled (error -32002)');
  return judgeFailure(CANCEL, canceled.failure);
}

const TASK_NOT_CANCELABLE = -32002;

function nameOf(task: Task): string {
  return stateName(stateOf(task));
}

function judgeFailure(topic: Topic, failure: Failure): Finding {
  if (failure.code !== undefined) return notExercised(topic, `the agent says no: error ${String(failure.code)}`);
  if (isTurnedAway(failure)) return turnedAway(topic, failure);
  if (isOfLayer(failure.rule)) return notExercised(topic, `the answer breaks another rule: ${failure.rule}`);
  return brokenBy(topic, failure, 'answer with a result, or with a JSON-RPC error');
}
