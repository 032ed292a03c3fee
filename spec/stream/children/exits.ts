/** Ends streams in several ways, and then has nothing to do. */
import { Failure, type StreamOptions } from '../../../lib/index.js';
import { Peer, type PeerCall } from '../peer.js';
import { task } from '../results.js';

const ended: string[] = [];

async function end(answer: (call: PeerCall) => unknown, more: Partial<StreamOptions> = {}, leave = false): Promise<void> {
  const peer = await Peer.listen((call) => {
    call.head();
    answer(call);
  });
  // The hour never comes: a clock that was left would keep the process.
  const stream = peer.stream('1.0', { timeoutMs: 3_600_000, ...more });
  try {
    for await (const _ of stream) if (leave) break;
    ended.push('done');
  } catch (error) {
    ended.push(error instanceof Failure ? error.rule : String(error));
  }
  await peer[Symbol.asyncDispose]();
}

await end((call) => call.event(task('1.0', 'completed')).end());
await end((call) => call.event(task('1.0', 'working')), {}, true);
const controller = new AbortController();
await end(
  () => {
    controller.abort();
  },
  { signal: controller.signal },
);
await end(() => undefined, { idleTimeoutMs: 30 });
await end((call) => call.end());
console.log(JSON.stringify({ ended }));
