/** A stream of which nothing but a pending `next()` is held. Needs `--expose-gc`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Peer } from '../peer.js';
import { artifact, task } from '../results.js';

const peer = await Peer.listen();

async function begin(): Promise<[Awaited<ReturnType<typeof peer.call>>, Promise<{ value?: { id: string | undefined } | undefined }>]> {
  const stream = peer.stream('1.0');
  const first = stream.next();
  const call = await peer.call();
  call.head().event(task('1.0', 'working'));
  await first;
  return [call, stream.next()];
}

const [call, second] = await begin();
for (let i = 0; i < 40; i++) {
  globalThis.gc?.();
  await sleep(15);
}
const closed = call.socket.destroyed;
if (!closed) call.event(artifact('1.0', 'x'));
const { value } = await second;
console.log(JSON.stringify({ closed, id: value?.id }));
await peer[Symbol.asyncDispose]();
