/** Runs one peer, in a process of its own: what another compiles, allocates or leaves behind is none of its business. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { median, type Job } from './job.js';
import { PEERS, type Peer, type PeerName } from './peers.js';

async function run(peer: Peer, job: Job): Promise<number[]> {
  switch (job.kind) {
    case 'unary':
      return rate(() => callFor(peer, job));
    case 'stream':
      return rate(async () => {
        const { events, characters } = await peer.stream(job.events, job.perChunk);
        if (events !== job.events || characters === 0) throw new Error('not the events that were sent');
        return events;
      });
    case 'first event': {
      const times: number[] = [];
      for (let i = 0; i < job.streams; i++) {
        const startedAt = performance.now();
        const { firstAt } = await peer.stream(3, 1);
        times.push(firstAt - startedAt);
      }
      return [median(times)];
    }
  }
}

/** Runs `work`, which says how many things it did. */
async function rate(work: () => Promise<number>): Promise<number[]> {
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const count = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return [count / seconds, (user + system) / count];
}

async function callFor(peer: Peer, { concurrency, milliseconds, atLeast }: Job & { kind: 'unary' }): Promise<number> {
  const deadline = performance.now() + milliseconds;
  let calls = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < deadline || calls < atLeast) {
      if ((await peer.getTask()) === 0) throw new Error('not the task that was sent');
      calls++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  return calls;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const [name, url = ''] = process.argv.slice(2);
const peer = await PEERS[name as PeerName](url);
process.on('message', (job: Job) => {
  collectGarbage();
  // A rejection ends this process, and with it the benchmark.
  void run(peer, job).then((figures) => process.send?.(figures));
});
process.once('disconnect', () => process.exit());
