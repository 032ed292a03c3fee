import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { failureFrom } from '../hostile/calls.js';
import { Peer, closePeers } from '../stream/peer.js';
import { drain, message, optionsOf, story, task } from './peer_calls.js';
import { witness } from './witness.js';

after(closePeers);

/** Every name that the package itself could call its message by, and the prototype. */
const INNER = ['begin', 'accepted', 'settle', 'keepDigests', 'keepIds'];

describe('A subscriber that overwrites more than data', () => {
  for (const [what, act] of Object.entries<(told: object) => void>({
    'its methods': (told) => {
      for (const name of INNER) Object.defineProperty(told, name, { value: 1 });
    },
    'its prototype': (told) => void Object.setPrototypeOf(told, null),
  })) {
    test(`has no effect on calls, streams and refusals: ${what}`, { timeout: 10_000 }, async (t) => {
      witness(t, 'start', act);
      {
        await using peer = await Peer.listen(task);
        assert.equal((await peer.client.sendMessage(optionsOf(peer, { timeoutMs: 2_000 }), message)).result.$case, 'task');
        assert.equal((await failureFrom(peer.client.sendMessage(optionsOf(peer, { maxResponseBytes: 0 }), message))).rule, 'options.limit');
      }
      await using peer = await Peer.listen(story);
      assert.equal(await drain(peer.client.sendStreamingMessage(optionsOf(peer, { timeoutMs: 2_000 }), message)), 2);
    });
  }
});
