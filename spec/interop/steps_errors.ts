/** Steps that a server should answer with an error, and agents that break. */
import assert from 'node:assert/strict';
import { TaskState, userText } from '../../lib/index.js';
import { drain, endOf } from './peer.js';
import type { Step } from './step.js';

export const ERRORS: readonly Step[] = [
  {
    name: 'a finished task cannot be canceled',
    async run(peer) {
      const { id } = await peer.finished('echo x');
      await peer.client.cancelTask(peer.options(), { id });
    },
  },
  {
    name: 'an unknown task, got',
    async run(peer) {
      await peer.client.getTask(peer.options(), { id: 'no-such-task' });
    },
  },
  {
    name: 'an unknown task, canceled',
    async run(peer) {
      await peer.client.cancelTask(peer.options(), { id: 'no-such-task' });
    },
  },
  {
    name: 'an unknown task, subscribed to',
    async run(peer) {
      await drain(peer.client.subscribeToTask(peer.options(), { id: 'no-such-task' }));
    },
  },
  {
    name: 'an unknown method',
    async run(peer) {
      await peer.client.call(peer.options(), 'NoSuchMethod', {});
    },
  },
  {
    name: 'parameters of the wrong type',
    async run(peer) {
      await peer.client.call(peer.options(), peer.dialect === '1.0' ? 'GetTask' : 'tasks/get', { id: 5 });
    },
  },
  {
    name: 'a protocol version that does not exist',
    dialect: '1.0',
    async run(peer) {
      await peer.clientOfVersion('9.9').getTask(peer.options(), { id: 'no-such-task' });
    },
  },
  {
    name: 'the dialect that it does not speak',
    onlyOfOneDialect: true,
    async run(peer) {
      const protocolVersion = peer.dialect === '1.0' ? '0.3' : '1.0';
      await peer.client.getTask(peer.options({ protocolVersion }), { id: 'no-such-task' });
    },
  },
  {
    name: 'an extended card that there is none of',
    async run(peer) {
      await peer.client.getExtendedAgentCard(peer.options());
    },
  },
  {
    name: 'an agent that breaks, sent',
    async run(peer) {
      const { result } = await peer.client.sendMessage(peer.options(), { message: userText('throw') });
      assert.ok(result.$case === 'task');
      assert.equal(result.value.status?.state, TaskState.TASK_STATE_FAILED);
    },
  },
  {
    name: 'an agent that breaks, streamed',
    async run(peer) {
      const items = await drain(peer.stream('throw'));
      assert.equal(endOf(items), TaskState.TASK_STATE_FAILED);
    },
  },
];
