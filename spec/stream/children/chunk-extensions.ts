/** What two thousand bytes of a stream hold, where each is a chunk of its own behind a long chunk extension. Needs `--expose-gc`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Peer } from '../peer.js';
import { task } from '../results.js';

const CHUNKS = 2000;
const piece = Buffer.from(`1;${'x'.repeat(60_000)}\r\n:\r\n`);

/** What is really held: buffers are swept behind the collection, in their own time. */
async function held(): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < 10; i++) {
    globalThis.gc?.();
    await sleep(20);
    least = Math.min(least, process.memoryUsage().arrayBuffers);
  }
  return least;
}

const peer = await Peer.listen();
const stream = peer.stream('1.0');
const first = stream.next();
const call = await peer.call();
call.head().event(task('1.0', 'working'));
await first;
await sleep(20);
const before = await held();
for (let i = 0; i < CHUNKS; i++) {
  if (!call.socket.write(piece)) await new Promise((resolve) => call.socket.once('drain', resolve));
}
await sleep(100);
const grown = (await held()) - before;
await stream.return();
console.log(JSON.stringify({ grown }));
await peer[Symbol.asyncDispose]();
