/** A stream that nobody holds any more. Needs `--expose-gc`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Peer } from '../peer.js';
import { task } from '../results.js';

const peer = await Peer.listen();

async function begin(): Promise<void> {
  const first = peer.stream('1.0').next();
  const call = await peer.call();
  call.head().event(task('1.0', 'working'));
  await first;
  calls.push(call);
}

const calls: Awaited<ReturnType<typeof peer.call>>[] = [];
await begin();
let closed = false;
for (let i = 0; i < 100 && !closed; i++) {
  globalThis.gc?.();
  await sleep(20);
  closed = calls[0]?.socket.destroyed === true;
}
console.log(JSON.stringify({ closed }));
await peer[Symbol.asyncDispose]();
