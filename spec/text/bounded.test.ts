import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { TextProgress } from '../../lib/text/progress.js';
import { Refusal } from '../../lib/failure.js';
import { textPeer } from '../../lib/text/index.js';
import { TaskState, type Artifact } from '@a2a-js/sdk';

test('What is kept of a text is bounded, also where an agent of the caller\'s has no bound', () => {
  const progress = new TextProgress();
  const status = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined };
  const artifact = (artifactId: string): Artifact => ({ artifactId, name: '', description: '', parts: [], extensions: [], metadata: undefined });
  const restate = (at: number): string =>
    progress.accept({
      event: { $case: 'task', value: { id: 't', contextId: 'c', status, artifacts: [artifact(`${at}`.padEnd(1024 * 1024))], history: [], metadata: undefined } },
      raw: new Uint8Array(1),
      id: undefined,
    });
  for (let at = 0; at < 64; at++) assert.equal(restate(at), '');
  assert.throws(() => restate(64), (error) => error instanceof Refusal && error.rule === 'limit.stream_bytes');
});

test('An agent of the caller\'s that throws at once leaves no listener on the caller\'s signal', async () => {
  const { signal } = new AbortController();
  const peer = textPeer({
    sendMessage: () => Promise.reject(new Error('unused')),
    stream: () => {
      throw new TypeError('at once');
    },
  });
  await assert.rejects(peer.stream('x', { signal }).getReader().read(), TypeError);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});
