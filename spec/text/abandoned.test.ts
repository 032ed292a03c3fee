/** A text stream that nobody holds any more. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { textPeer, type TextPeer } from '../../lib/text/index.js';
import { Peer, closePeers, type PeerCall } from '../stream/peer.js';
import { artifact, task } from '../stream/results.js';

after(closePeers);

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

async function readOne(agent: Peer, peer: TextPeer, signal: AbortSignal): Promise<PeerCall> {
  const read = peer.stream('hi', { signal }).getReader().read();
  const call = (await agent.call()).head().event(task('1.0', 'working')).event(artifact('1.0', 'one'));
  assert.equal((await read).value, 'one');
  return call;
}

test('A text stream that was dropped in the middle keeps neither its connection nor its listeners', async () => {
  await using agent = await Peer.listen();
  const peer = textPeer(agent.endpoint, { dispatcher: agent.dispatcher });
  const { signal } = new AbortController();
  const call = await readOne(agent, peer, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  const isKept = (): boolean => !call.socket.destroyed || getEventListeners(signal, 'abort').length > 0;
  for (let i = 0; i < 100 && isKept(); i++) {
    collect();
    await sleep(20);
  }
  assert.ok(!isKept());
});
