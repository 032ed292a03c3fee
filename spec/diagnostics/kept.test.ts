import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { StrictClient, type OperationName } from '../../lib/index.js';
import { failureFrom } from '../hostile/calls.js';
import { Peer, closePeers } from '../stream/peer.js';
import { DONE, SECRET, TASK, drain, message, optionsOf, story, task } from './peer_calls.js';
import { CHANNELS, only, witness } from './witness.js';

after(closePeers);

const sha256 = (...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

describe('What the channel keeps only when asked, while the call starts', () => {
  const bytes = (result: object): string => JSON.stringify(result);

  test('are the digests of the request and of the result, as sent and as received', async (t) => {
    const bodies: Buffer[] = [];
    await using peer = await Peer.listen(task);
    const dispatcher = peer.dispatcher.compose((dispatch) => (options, handler) => {
      if (Buffer.isBuffer(options.body)) bodies.push(options.body);
      return dispatch(options, handler);
    });
    const seen = witness(t, 'start', (told) => {
      told.keepDigests();
      told.keepDigests();
    });
    const { raw } = await new StrictClient(dispatcher).sendMessage(optionsOf(peer), message);
    const { requestSha256, resultSha256 } = only(seen);
    assert.deepEqual([requestSha256, resultSha256], [sha256(bodies[0]!), sha256(raw)]);
    assert.ok(bodies[0]!.includes(SECRET));
    assert.equal(only(seen).requestBytes, bodies[0]!.length);
  });

  test('are the digests of a stream: the bytes of each event that was delivered, in order', async (t) => {
    await using peer = await Peer.listen((call) => {
      call.head().event({ task: TASK }).event(DONE).end();
    });
    const seen = witness(t, 'start', (told) => {
      told.keepDigests();
    });
    const stream = peer.client.sendStreamingMessage(optionsOf(peer), message);
    await drain(stream);
    assert.equal(only(seen).resultSha256, sha256(bytes({ task: TASK }), bytes(DONE)));

    seen.length = 0;
    const left = peer.client.sendStreamingMessage(optionsOf(peer), message);
    await left.next();
    await left.return();
    assert.equal(only(seen).resultSha256, sha256(bytes({ task: TASK })));
  });

  test('are the ids of the task and the context that a result is about, and nothing of a method that is not known here', async (t) => {
    const about: Partial<Record<OperationName, readonly [result: object | null, task: string | undefined, context: string | undefined]>> = {
      sendMessage: [{ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }], contextId: 'context-1' } }, undefined, 'context-1'],
      getTask: [TASK, 'task-1', 'context-1'],
      getTaskPushNotificationConfig: [{ taskId: 'task-1', id: 'config-1', url: 'https://caller.test/' }, 'task-1', undefined],
      listTasks: [{ tasks: [TASK] }, undefined, undefined],
      deleteTaskPushNotificationConfig: [null, undefined, undefined],
      call: [TASK, undefined, undefined],
    };
    let result: unknown;
    await using peer = await Peer.listen((call) => void call.json({ result }));
    const seen = witness(t, 'start', (told) => {
      told.keepIds();
    });
    const options = optionsOf(peer);
    const config = { taskId: 'task-1', id: 'config-1' };
    const made: Partial<Record<OperationName, () => Promise<unknown>>> = {
      sendMessage: () => peer.client.sendMessage(options, message),
      getTask: () => peer.client.getTask(options, { id: 'task-1' }),
      getTaskPushNotificationConfig: () => peer.client.getTaskPushNotificationConfig(options, config),
      listTasks: () => peer.client.listTasks(options),
      deleteTaskPushNotificationConfig: () => peer.client.deleteTaskPushNotificationConfig(options, config),
      call: () => peer.client.call(options, 'GetTask', { id: 'task-1' }),
    };
    assert.deepEqual(Object.keys(made), Object.keys(about));
    for (const [name, [answer, taskId, contextId]] of Object.entries(about)) {
      seen.length = 0;
      result = answer;
      await made[name as OperationName]?.();
      assert.deepEqual([only(seen).taskId, only(seen).contextId], [taskId, contextId], name);
    }
  });

  test('are the ids of a stream', async (t) => {
    await using peer = await Peer.listen(story);
    const seen = witness(t, 'start', (told) => {
      told.keepIds();
    });
    await drain(peer.client.sendStreamingMessage(optionsOf(peer), message));
    assert.deepEqual([only(seen).taskId, only(seen).contextId], ['task-1', 'context-1']);
  });

  test('is nothing that is asked for later, and nothing of a call that was refused', async (t) => {
    await using peer = await Peer.listen((call) => void call.json({ result: TASK }));
    for (const channel of CHANNELS) {
      await t.test(channel, async (subtest) => {
        const seen = witness(subtest, channel, (told) => {
          told.keepDigests();
          told.keepIds();
        });
        // Only `start` is early enough, and of a call that was refused there is nothing to keep.
        if (channel === 'start') await failureFrom(peer.client.getTask(optionsOf(peer, { maxResponseBytes: 0 }), { id: 'task-1' }));
        else if (channel === 'error') await failureFrom(peer.client.getTask(optionsOf(peer), { id: 'another' }));
        else await peer.client.getTask(optionsOf(peer), { id: 'task-1' });
        const last = seen.at(-1);
        assert.equal(last?.channel, 'asyncEnd');
        assert.deepEqual(
          Object.keys(last.members).filter((name) => /Sha256$|^(task|context)Id$/.test(name)),
          [],
        );
      });
    }
  });
});
