/** The processes of a benchmark: the servers, and each peer in one of its own. They take turns, so that what befalls one befalls all. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { FIGURES, median, type Job } from './job.js';
import type { PeerName } from './peers.js';

/** Everybody trusts the server of the TLS workloads by Node's own means. */
const NODE_EXTRA_CA_CERTS = fileURLToPath(new URL('../../fixtures/certificates/localhost.pem', import.meta.url));

const SERVER = new URL('./server.ts', import.meta.url);
const RUNNER = new URL('./runner.ts', import.meta.url);

interface Answer {
  readonly numbers: readonly number[];
  /** The part of a core that the server was busy: how far it was from being the bottleneck. */
  readonly server: number;
}

/** How the rounds of a peer become one: their median; or the best, as what else the machine does can only make a round worse. */
type Summary = 'median' | 'best';

export interface Measured {
  /** One number a figure of the job. */
  readonly numbers: Readonly<Partial<Record<PeerName, readonly number[]>>>;
  readonly server: Readonly<Partial<Record<PeerName, number>>>;
}

export class Crew {
  readonly #children = new Set<ChildProcess>();
  readonly #peers = new Map<PeerName, ChildProcess>();
  #plain: ChildProcess | undefined;
  #tls: ChildProcess | undefined;
  #urls: string[] = [];

  async start(): Promise<void> {
    const servers = [this.#fork(SERVER), this.#fork(SERVER, 'tls')];
    const ports = await Promise.all(servers.map((server) => answerOf<number>(server)));
    [this.#plain, this.#tls] = servers;
    this.#urls = ports.map((port, i) => `${i === 0 ? 'http' : 'https'}://127.0.0.1:${String(port)}/`);
  }

  /** So many rounds; the peers of a round run one after the other, and each goes first in turn. */
  async measure(job: Job, peers: readonly PeerName[], rounds: number, summary: Summary): Promise<Measured> {
    // The first run of each only warms it up. Those that run in a fresh process have nothing to warm.
    if (job.kind !== 'slow') for (const peer of peers) await this.#ask(peer, job);
    const answers = new Map(peers.map((peer): [PeerName, Answer[]] => [peer, []]));
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < peers.length; turn++) {
        const peer = peers[(round + turn) % peers.length]!;
        answers.get(peer)!.push(await this.#ask(peer, job));
      }
    }
    const one = (values: readonly number[], better: 'more' | 'less'): number =>
      summary === 'median' ? median(values) : better === 'more' ? Math.max(...values) : Math.min(...values);
    const of = <T>(value: (all: Answer[]) => T): Partial<Record<PeerName, T>> =>
      Object.fromEntries([...answers].map(([peer, all]) => [peer, value(all)]));
    return {
      numbers: of((all) => FIGURES[job.kind].map(({ better }, i) => one(all.map(({ numbers }) => numbers[i]!), better))),
      server: of((all) => median(all.map(({ server }) => server))),
    };
  }

  /** Ends all processes. */
  stop(): void {
    for (const child of this.#children) this.#end(child);
  }

  async #ask(name: PeerName, job: Job): Promise<Answer> {
    const server = 'tls' in job ? this.#tls! : this.#plain!;
    const fresh = job.kind === 'slow';
    let peer = fresh ? undefined : this.#peers.get(name);
    if (peer === undefined) {
      peer = this.#fork(RUNNER, name, ...this.#urls);
      if (!fresh) this.#peers.set(name, peer);
    }
    const cpu = await ask<number>(server, 'cpu');
    const startedAt = performance.now();
    const numbers = await ask<number[]>(peer, job);
    const milliseconds = performance.now() - startedAt;
    const busy = ((await ask<number>(server, 'cpu')) - cpu) / 1000 / milliseconds;
    if (fresh) this.#end(peer);
    return { numbers, server: busy };
  }

  /** A child that is gone before its time, or that fails, takes the benchmark with it. */
  #fork(module: URL, ...args: string[]): ChildProcess {
    const child = fork(module, args, { env: { ...process.env, NODE_EXTRA_CA_CERTS } });
    this.#children.add(child);
    child.once('exit', (code) => {
      if (this.#children.has(child)) throw new Error(`${module.pathname} ${args[0] ?? ''} ended with code ${String(code)}`);
    });
    return child;
  }

  #end(child: ChildProcess): void {
    this.#children.delete(child);
    child.kill('SIGKILL');
  }
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const [answer] = (await once(child, 'message')) as [T];
  return answer;
}

function ask<T>(child: ChildProcess, question: Job | 'cpu'): Promise<T> {
  const answer = answerOf<T>(child);
  child.send(question);
  return answer;
}
