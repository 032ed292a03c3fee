import { Role, TaskState } from '@a2a-js/sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StreamItem } from '../../lib/index.js';
import { TextProgress } from '../../lib/text/progress.js';
import { FailedTask } from '../../lib/text/reply.js';
import { DATA_PART, RAW, artifact, artifactItem, message, messageItem, statusItem, taskItem } from './said.js';

const { TASK_STATE_COMPLETED, TASK_STATE_FAILED, TASK_STATE_INPUT_REQUIRED, TASK_STATE_REJECTED, TASK_STATE_WORKING } = TaskState;

/** What each event gives. */
function textsOf(...items: readonly StreamItem[]): string[] {
  const progress = new TextProgress();
  return items.map((item) => progress.accept(item));
}

const user = message(['a question of ours'], { messageId: 'message-u', role: Role.ROLE_USER });

describe('The text of a stream', () => {
  test('Messages, status updates and artifact updates give theirs, in order; what has none gives none', () => {
    assert.deepEqual(
      textsOf(
        taskItem(TASK_STATE_WORKING, { history: [user] }),
        statusItem(TASK_STATE_WORKING),
        statusItem(TASK_STATE_WORKING, message(['Thinking…'], { messageId: 'm-1' })),
        artifactItem(false, artifact('a', 'one ', DATA_PART, 'and ')),
        artifactItem(true, artifact('a', 'two\r\n')),
        artifactItem(true, artifact('a', DATA_PART)),
        artifactItem(false, artifact('b', 'three')),
        statusItem(TASK_STATE_COMPLETED, message(['Done.'], { messageId: 'm-2' })),
      ),
      ['', '', 'Thinking…', 'one and ', 'two\r\n', '', 'three', 'Done.'],
    );
    assert.deepEqual(textsOf(messageItem(message(['all ', 'of it']))), ['all of it']);
  });

  test('A chunk that is appended is new, also where it repeats the one before', () => {
    assert.deepEqual(
      textsOf(artifactItem(false, artifact('a', 'ha')), artifactItem(true, artifact('a', 'ha')), artifactItem(true, artifact('a', 'ha'))),
      ['ha', 'ha', 'ha'],
    );
    assert.deepEqual(textsOf(artifactItem(true, artifact('never started', 'ha'))), ['ha']);
  });

  test('An artifact that is sent again gives what it adds', () => {
    assert.deepEqual(
      textsOf(
        artifactItem(false, artifact('a', 'one')),
        artifactItem(false, artifact('a', 'one', ' two')),
        artifactItem(true, artifact('a', ' three')),
        artifactItem(false, artifact('a', 'one two three')),
        artifactItem(false, artifact('a', 'one two three', '!')),
      ),
      ['one', ' two', ' three', '', '!'],
    );
  });

  test('An artifact that is replaced by something else gives all of it', () => {
    assert.deepEqual(
      textsOf(
        artifactItem(false, artifact('a', 'draft one')),
        artifactItem(false, artifact('a', 'draft')),
        artifactItem(false, artifact('a', 'final text')),
        artifactItem(true, artifact('a', '.')),
        artifactItem(false, artifact('a', 'final text.')),
      ),
      ['draft one', 'draft', 'final text', '.', ''],
    );
  });

  test('A status message that is said again gives what it adds', () => {
    const thinking = message(['Thinking'], { messageId: 'm-1' });
    assert.deepEqual(
      textsOf(
        statusItem(TASK_STATE_WORKING, thinking),
        statusItem(TASK_STATE_WORKING, thinking),
        statusItem(TASK_STATE_WORKING, { ...thinking, parts: message(['Thinking', '…']).parts }),
        statusItem(TASK_STATE_WORKING, { ...thinking, messageId: 'm-2' }),
      ),
      ['Thinking', '', '…', 'Thinking'],
    );
  });

  test('A task as a whole gives what of its artifacts and its status nothing has said before', () => {
    const asks = message(['Which city?'], { messageId: 'm-1' });
    assert.deepEqual(
      textsOf(
        taskItem(TASK_STATE_WORKING, { artifacts: [artifact('a', 'one '), artifact('b', 'two ')], history: [user] }),
        artifactItem(true, artifact('b', 'three ')),
        statusItem(TASK_STATE_INPUT_REQUIRED, asks),
        taskItem(TASK_STATE_INPUT_REQUIRED, {
          artifacts: [artifact('a', 'one '), artifact('b', 'two three '), artifact('c', 'four ')],
          said: asks,
        }),
      ),
      ['one two ', 'three ', 'Which city?', 'four '],
    );
  });

  test('An artifact and a message of one id are two', () => {
    assert.deepEqual(
      textsOf(artifactItem(false, artifact('same', 'hi')), statusItem(TASK_STATE_WORKING, message(['hi'], { messageId: 'same' }))),
      ['hi', 'hi'],
    );
  });

  test('The history counts for a completed task that has said nothing else, and for no other', () => {
    const history = [message(['an older answer'], { messageId: 'm-1' }), message(['the answer'], { messageId: 'm-2' }), user];
    assert.deepEqual(textsOf(taskItem(TASK_STATE_COMPLETED, { history })), ['the answer']);
    assert.deepEqual(textsOf(taskItem(TASK_STATE_WORKING, { history }), statusItem(TASK_STATE_COMPLETED)), ['', '']);
    assert.deepEqual(
      textsOf(statusItem(TASK_STATE_WORKING, message(['the answer'], { messageId: 'm-2' })), taskItem(TASK_STATE_COMPLETED, { history })),
      ['the answer', ''],
    );
  });

  test('Task, context and state are known as soon as an event names them', () => {
    const progress = new TextProgress();
    const known = (): unknown[] => [progress.taskId, progress.contextId, progress.state];
    assert.deepEqual(known(), [undefined, undefined, undefined]);
    progress.accept(taskItem(TASK_STATE_WORKING, { contextId: '' }));
    assert.deepEqual(known(), ['task-1', undefined, TASK_STATE_WORKING]);
    progress.accept(artifactItem(false, artifact('a', 'one')));
    assert.deepEqual(known(), ['task-1', 'context-1', TASK_STATE_WORKING]);
    progress.accept(statusItem(TASK_STATE_COMPLETED));
    assert.deepEqual(known(), ['task-1', 'context-1', TASK_STATE_COMPLETED]);

    const ofMessage = new TextProgress();
    ofMessage.accept(messageItem(message(['hi'], { contextId: 'context-9' })));
    assert.deepEqual([ofMessage.taskId, ofMessage.contextId, ofMessage.state], [undefined, 'context-9', undefined]);
  });

  for (const state of [TASK_STATE_FAILED, TASK_STATE_REJECTED]) {
    test(`${TaskState[state]}: why is no part of the text, what came before it is`, () => {
      const progress = new TextProgress();
      const why = message(['out of luck'], { messageId: 'm-1' });
      assert.equal(progress.accept(artifactItem(false, artifact('a', 'half'))), 'half');
      assert.equal(progress.failed, undefined);
      assert.equal(progress.accept(statusItem(state, why)), '');
      // Restated, as a stream may.
      assert.equal(progress.accept(taskItem(state, { artifacts: [artifact('a', 'half')] })), '');
      assert.deepEqual(progress.failed, new FailedTask('out of luck', state, 'task-1', RAW));
    });
  }

  test('A task that comes as a whole and has failed still gives its artifacts', () => {
    const progress = new TextProgress();
    assert.equal(progress.accept(taskItem(TASK_STATE_FAILED, { artifacts: [artifact('a', 'half')], said: message(['out of luck']) })), 'half');
    assert.equal(progress.failed?.text, 'out of luck');
  });
});
