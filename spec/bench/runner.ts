/** Runs one peer, in a process of its own: what another compiles, allocates or leaves behind is none of its business. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { median, type Job } from './job.js';
import { nothing, PEERS, type Peer, type PeerName } from './peers.js';

async function run(peer: Peer, job: Job): Promise<number[]> {
  switch (job.kind) {
    case 'unary':
      return calls(peer, job);
    case 'stream':
      return stream(peer, job);
    case 'first event':
      return [await firstEvent(peer, job)];
    case 'slow':
      return slowStreams(peer, job);
  }
}

/** Microseconds of CPU that this process has used so far. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function calls(peer: Peer, { concurrency, milliseconds, atLeast }: Job & { kind: 'unary' }): Promise<number[]> {
  const cpu = cpuTime();
  const startedAt = performance.now();
  let done = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < startedAt + milliseconds || done < atLeast) {
      if ((await peer.getTask()) === 0) throw new Error('not the task that was sent');
      done++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  return [(done * 1000) / (performance.now() - startedAt), (cpuTime() - cpu) / done];
}

/** Between the first event and the last the agent has nothing to do but to send: neither its thinking nor the call count. */
async function stream(peer: Peer, job: Job & { kind: 'stream' }): Promise<number[]> {
  const seen = await peer.stream(job.events, job.perChunk, job.stream);
  const milliseconds = performance.now() - seen.firstAt;
  const cpu = cpuTime() - seen.firstCpu;
  if (seen.events !== job.events || seen.characters === 0) throw new Error('not the events that were sent');
  return [((job.events - 1) * 1000) / milliseconds, cpu / (job.events - 1)];
}

async function firstEvent(peer: Peer, { streams }: Job & { kind: 'first event' }): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < streams; i++) {
    const startedAt = performance.now();
    const { firstAt } = await peer.stream(3, 1);
    times.push(firstAt - startedAt);
  }
  return median(times);
}

const PER_SECOND = 50;
/** From the first event of the last stream until they are looked at: what opening them has left behind is gone by then. */
const SETTLE_MS = 500;
const SAMPLE_MS = 100;

async function slowStreams(peer: Peer, { streams, milliseconds }: Job & { kind: 'slow' }): Promise<number[]> {
  // Whatever is made once, however many streams there are, is made before.
  await Promise.all(Array.from({ length: 10 }, () => peer.stream(200, 1)));
  collectGarbage();
  const before = process.memoryUsage();

  // Longer than they are looked at, however slow all of this is: who has seen enough kills this process.
  const all = Array.from({ length: streams }, nothing);
  for (const seen of all) {
    peer.slow(120 * PER_SECOND, PER_SECOND, seen).then(() => {
      fail(new Error('a slow stream that has ended'));
    }, fail);
  }
  while (all.some(({ events }) => events === 0)) await sleep(20);
  await sleep(SETTLE_MS);

  const eventsOf = (): number => all.reduce((sum, { events }) => sum + events, 0);
  const startedAt = performance.now();
  const cpu = cpuTime();
  const events = eventsOf();
  const counts = all.map((seen) => seen.events);
  const sizes: number[] = [];
  while (performance.now() < startedAt + milliseconds) {
    await sleep(SAMPLE_MS);
    sizes.push(process.memoryUsage.rss());
  }
  const perEvent = (cpuTime() - cpu) / (eventsOf() - events);
  if (all.some((seen, i) => seen.events === counts[i])) throw new Error('a slow stream that stands still');
  collectGarbage();
  const after = process.memoryUsage();
  const heap = after.heapUsed + after.external - before.heapUsed - before.external;
  return [perEvent, (median(sizes) - before.rss) / 1024 / streams, heap / 1024 / streams];
}

/** Ends this process, and with it the benchmark. */
function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const [name, url = '', tlsUrl = ''] = process.argv.slice(2);
const create = PEERS[name as PeerName];
const peer = await create(url);
let tlsPeer: Peer | undefined;
process.on('message', (job: Job) => {
  const answer = async (): Promise<void> => {
    collectGarbage();
    const figures = await run('tls' in job ? (tlsPeer ??= await create(tlsUrl)) : peer, job);
    process.send?.(figures);
  };
  answer().catch(fail);
});
process.once('disconnect', () => process.exit());
