import { Role, TaskState } from '@a2a-js/sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SendMessageResult } from '../../lib/index.js';
import { Failure } from '../../lib/failure.js';
import { FailedTask, replyOf, type TextReply } from '../../lib/text/reply.js';
import { DATA_PART, RAW, URL_PART, artifact, message, task } from './said.js';

const { TASK_STATE_COMPLETED, TASK_STATE_FAILED, TASK_STATE_INPUT_REQUIRED, TASK_STATE_REJECTED } = TaskState;

const OTHER_STATES = [
  TaskState.TASK_STATE_UNSPECIFIED,
  TaskState.TASK_STATE_SUBMITTED,
  TaskState.TASK_STATE_WORKING,
  TaskState.TASK_STATE_CANCELED,
  TASK_STATE_INPUT_REQUIRED,
  TaskState.TASK_STATE_AUTH_REQUIRED,
];

const reply = (result: SendMessageResult): TextReply => replyOf({ result, raw: RAW });
const ofTask = (...given: Parameters<typeof task>): TextReply => reply({ $case: 'task', value: task(...given) });

function failureOfTask(...given: Parameters<typeof task>): { readonly failure: Failure; readonly failed: FailedTask } {
  try {
    ofTask(...given);
  } catch (failure) {
    assert(failure instanceof Failure);
    const failed = failure.unwrap();
    assert(failed instanceof FailedTask);
    return { failure, failed };
  }
  assert.fail('ended well');
}

const history = [
  message(['an older answer'], { messageId: 'message-2' }),
  message(['the latest answer'], { messageId: 'message-3' }),
  message(['a question of ours'], { messageId: 'message-4', role: Role.ROLE_USER }),
];

describe('The reply of a text peer', () => {
  test('A message gives its text parts, one after the other, and no others', () => {
    assert.deepEqual(reply({ $case: 'message', value: message(['one ', DATA_PART, 'two\r\n', URL_PART, '👩‍👩‍👧']) }), {
      text: 'one two\r\n👩‍👩‍👧',
      raw: RAW,
    });
  });

  test('A message names the task and the context that it belongs to, and has no state', () => {
    assert.deepEqual(reply({ $case: 'message', value: message(['hi'], { taskId: 'task-9', contextId: 'context-9' }) }), {
      text: 'hi',
      taskId: 'task-9',
      contextId: 'context-9',
      raw: RAW,
    });
  });

  test('A completed task gives the text of its artifacts before all else', () => {
    const artifacts = [artifact('a', 'one ', DATA_PART, 'two '), artifact('b', URL_PART), artifact('c', 'three')];
    assert.deepEqual(ofTask(TASK_STATE_COMPLETED, { artifacts, said: message(['done']), history }), {
      text: 'one two three',
      taskId: 'task-1',
      state: TASK_STATE_COMPLETED,
      contextId: 'context-1',
      raw: RAW,
    });
  });

  test('A completed task whose artifacts have no text gives that of its status message', () => {
    const artifacts = [artifact('a', DATA_PART), artifact('b', '')];
    assert.equal(ofTask(TASK_STATE_COMPLETED, { artifacts, said: message(['do', 'ne']), history }).text, 'done');
  });

  test('A completed task without either gives the last message of the agent in its history, not of the user', () => {
    assert.equal(ofTask(TASK_STATE_COMPLETED, { history }).text, 'the latest answer');
    assert.equal(ofTask(TASK_STATE_COMPLETED, { history, said: message([DATA_PART]) }).text, 'the latest answer');
  });

  test('A completed task that says nothing gives an empty text', () => {
    assert.equal(ofTask(TASK_STATE_COMPLETED).text, '');
    assert.equal(ofTask(TASK_STATE_COMPLETED, { history: history.slice(2) }).text, '');
  });

  test('A context that was not named is not there', () => {
    assert.deepEqual(Object.keys(ofTask(TASK_STATE_COMPLETED, { contextId: '' })), ['text', 'taskId', 'state', 'raw']);
  });

  for (const state of [TASK_STATE_FAILED, TASK_STATE_REJECTED]) {
    test(`${TaskState[state]} throws, and unwrap() says why in the agent's words`, () => {
      const { failure, failed } = failureOfTask(state, { said: message(['out of ', 'luck']), artifacts: [artifact('a', 'half')], history });
      assert.deepEqual(JSON.parse(JSON.stringify(failure)), { kind: 'remote_agent', rule: 'text.failed', delivery: 'answered' });
      assert.deepEqual(failed, new FailedTask('out of luck', state, 'task-1', RAW));
      assert.ok(!JSON.stringify(failure).includes('luck') && !String(failure.stack).includes('luck'));
    });
  }

  test('A failed task without a status message says what there is', () => {
    assert.equal(failureOfTask(TASK_STATE_FAILED, { artifacts: [artifact('a', 'half')], history }).failed.text, 'half');
    assert.equal(failureOfTask(TASK_STATE_FAILED, { history }).failed.text, 'the latest answer');
    assert.equal(failureOfTask(TASK_STATE_FAILED).failed.text, '');
  });

  for (const state of OTHER_STATES) {
    test(`${TaskState[state]} gives the state and what text there is, that of its status message first`, () => {
      const artifacts = [artifact('a', 'half')];
      const whole = ofTask(state, { artifacts, said: message(['Which city?']), history });
      assert.deepEqual([whole.text, whole.state], ['Which city?', state]);
      assert.equal(ofTask(state, { artifacts, history }).text, 'half');
      assert.equal(ofTask(state, { history }).text, 'the latest answer');
      assert.equal(ofTask(state).text, '');
    });
  }
});
