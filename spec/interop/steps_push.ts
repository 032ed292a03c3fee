/** Steps with push notification configs: where an agent is to push a task's updates. */
import assert from 'node:assert/strict';
import type { Peer } from './peer.js';
import type { Step } from './step.js';

/** Nobody listens there, and the tasks have come to their ends: nothing is pushed. */
const NOWHERE = 'http://127.0.0.1:9/hook';

export const PUSH: readonly Step[] = [
  {
    name: 'a push config, created',
    async run(peer) {
      const { id } = await peer.finished('echo x');
      const { result } = await peer.client.createTaskPushNotificationConfig(peer.options(), pushConfig(id));
      assert.deepEqual([result.taskId, result.id, result.url, result.token], [id, 'c-1', NOWHERE, 'fake-token']);
    },
  },
  {
    name: 'a push config, got',
    async run(peer) {
      const taskId = await withPushConfig(peer);
      const { result } = await peer.client.getTaskPushNotificationConfig(peer.options(), { taskId, id: 'c-1' });
      assert.deepEqual([result.taskId, result.id, result.url], [taskId, 'c-1', NOWHERE]);
    },
  },
  {
    name: 'push configs, listed',
    async run(peer) {
      const taskId = await withPushConfig(peer);
      const { result } = await peer.client.listTaskPushNotificationConfigs(peer.options(), { taskId });
      assert.deepEqual(
        result.configs.map(({ id, url }) => [id, url]),
        [['c-1', NOWHERE]],
      );
    },
  },
  {
    name: 'no push configs, listed',
    async run(peer) {
      const { id } = await peer.finished('echo x');
      const { result } = await peer.client.listTaskPushNotificationConfigs(peer.options(), { taskId: id });
      assert.deepEqual(result.configs, []);
    },
  },
  {
    name: 'a push config, deleted',
    async run(peer) {
      const taskId = await withPushConfig(peer);
      await peer.client.deleteTaskPushNotificationConfig(peer.options(), { taskId, id: 'c-1' });
      const { result } = await peer.client.listTaskPushNotificationConfigs(peer.options(), { taskId });
      assert.deepEqual(result.configs, []);
    },
  },
];

function pushConfig(taskId: string): { taskId: string; id: string; url: string; token: string } {
  return { taskId, id: 'c-1', url: NOWHERE, token: 'fake-token' };
}

/** A task that has a push config: its id. */
async function withPushConfig(peer: Peer): Promise<string> {
  const { id } = await peer.finished('echo x');
  await peer.regardless(peer.client.createTaskPushNotificationConfig(peer.options(), pushConfig(id)));
  return id;
}
