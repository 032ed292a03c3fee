/** Replays runs against a client in a process of its own, many at a time, and finds out who it was that crashed or hung. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { RawAgent } from '../conformance/agent.js';
import type { Run } from '../conformance/corpus.js';
import { PEERS, type PeerName } from './clients.js';
import { playingTime, withNumericId } from './runs.js';

export interface Job {
  readonly position: number;
  readonly run: Run;
  readonly endpoint: string;
  /** How long until the call counts as hanging. */
  readonly deadlineMs: number;
}

/** What came of a call. `leaked`: words of the agent's that the error shows. */
export type Played =
  | { readonly end: 'taken' | 'hangs' | 'not offered' | 'crashes' }
  | { readonly end: 'refused'; readonly leaked?: string | undefined };

/** How long after the agent's last byte a client may think, in ms. */
export interface Patience {
  readonly first: number;
  /** With few others under way: who takes this long hangs. */
  readonly last: number;
}

const PATIENCE: Patience = { first: 1500, last: 3000 };
const AT_ONCE = 32;
const FEW_AT_ONCE = 16;
/** Where a start of the client's process fails for no reason of its own. */
const START_MS = 30_000;

/** What came of each run, in their order. */
export async function replay(name: PeerName, runs: readonly Run[], patience = PATIENCE): Promise<Played[]> {
  const all = runs.map((run) => (PEERS[name].numericIds ? withNumericId(run) : run));
  const played = all.map((): Played => ({ end: 'hangs' }));
  const clients = new Clients(name);
  const playThose = async (end: Played['end'], atOnce: number, patienceMs: number): Promise<void> => {
    const waiting = [...all.entries()].filter(([position]) => played[position]?.end === end);
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [position, run] = next;
        played[position] = await playOne(await clients.current(), position, run, patienceMs);
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, waiting.length) }, worker));
  };
  try {
    await playThose('hangs', AT_ONCE, patience.first);
    // On a machine that is busy, some only seem to.
    await playThose('hangs', FEW_AT_ONCE, patience.last);
    // A crash takes all with it that were under way: who it was shows alone.
    await playThose('crashes', 1, patience.last);
  } finally {
    await clients.close();
  }
  return played;
}

/** A server of its own for each run: no connection is shared. */
async function playOne(client: Client, position: number, run: Run, patienceMs: number): Promise<Played> {
  await using agent = await RawAgent.listen();
  const { endpoint, requests } = agent.prepare(run, 'as written');
  const played = await client.play({ position, run, endpoint, deadlineMs: playingTime(run) + patienceMs });
  if (played.end !== 'not offered' && played.end !== 'crashes' && requests.length === 0) throw new Error(`Nothing was asked: ${run.name}`);
  return played;
}

/** The client's process, or the next one where it has ended. */
class Clients {
  readonly #name: PeerName;
  #current: Promise<Client> | undefined;

  constructor(name: PeerName) {
    this.#name = name;
  }

  current(): Promise<Client> {
    this.#current ??= Client.start(this.#name, () => {
      this.#current = undefined;
    });
    return this.#current;
  }

  async close(): Promise<void> {
    await (await this.#current)?.close();
  }
}

class Client {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (played: Played) => void>();

  private constructor(process: ChildProcess, ended: () => void) {
    this.#process = process;
    process.on('message', (message: Played & { position: number }) => {
      const { position, ...played } = message;
      this.#settle(position, played);
    });
    process.once('exit', () => {
      ended();
      for (const position of [...this.#waiting.keys()]) this.#settle(position, { end: 'crashes' });
    });
  }

  static async start(name: PeerName, ended: () => void): Promise<Client> {
    // What it prints as it crashes is the peer's, and no part of the report.
    const child = fork(fileURLToPath(new URL('./player.ts', import.meta.url)), [name], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    await once(child, 'spawn', { signal: AbortSignal.timeout(START_MS) });
    return new Client(child, ended);
  }

  play(job: Job): Promise<Played> {
    if (this.#process.exitCode !== null || !this.#process.connected) return Promise.resolve({ end: 'crashes' });
    return new Promise((resolve) => {
      this.#waiting.set(job.position, resolve);
      this.#process.send(job, (error) => {
        if (error !== null) this.#settle(job.position, { end: 'crashes' });
      });
    });
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const exit = once(this.#process, 'exit');
    if (this.#process.connected) this.#process.disconnect();
    await exit;
  }

  #settle(position: number, played: Played): void {
    this.#waiting.get(position)?.(played);
    this.#waiting.delete(position);
  }
}
