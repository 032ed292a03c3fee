/** Plays runs with one client, in a process of its own, which the client may bring down. */
import dns from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';
import { PEERS, type PeerName } from './clients.js';
import { leakedWords, textsOf } from './leak.js';
import type { Job, Played } from './replay.js';
import { wordsOf } from './runs.js';

// A client that follows a redirect may look up the name in it. No such name is anybody's.
dns.lookup = Object.assign(
  (host: string, ...rest: unknown[]) => {
    const callback = rest.at(-1) as (error: Error) => void;
    setImmediate(callback, Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND', hostname: host }));
  },
  { __promisify__: dns.lookup.__promisify__ },
);

const client = PEERS[process.argv[2] as PeerName];

async function play({ run, endpoint, deadlineMs }: Job): Promise<Played> {
  const call = client.call(run, endpoint);
  if (call === undefined) return { end: 'not offered' };
  const waiting = new AbortController();
  const hangs = sleep(deadlineMs, { end: 'hangs' } as const, { signal: waiting.signal });
  const ends = call.then(
    (): Played => ({ end: 'taken' }),
    (error: unknown): Played => ({ end: 'refused', leaked: leakedWords(wordsOf(run), textsOf(error)) }),
  );
  try {
    return await Promise.race([ends, hangs]);
  } finally {
    waiting.abort();
    hangs.catch(() => undefined);
  }
}

process.on('message', (job: Job) => {
  void play(job).then((played) => process.send?.({ ...played, position: job.position }));
});
process.once('disconnect', () => process.exit());
