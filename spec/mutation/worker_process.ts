/** A process that mutants are run in, from outside. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Job, Outcome } from './worker.js';

/** A process is let go after so many mutants: each leaves its modules behind. */
const MUTANTS_A_PROCESS = 60;
const POLL_MS = 250;

/** How long a job may take: a machine that is busy with other things makes it no longer of the processor. */
export interface Patience {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** What a process has had of the processor; 0 where the system does not say. In Linux it is counted in hundredths of a second. */
function cpuMsOf({ pid }: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return 0;
  }
}

export class WorkerProcess {
  #child: ChildProcess | undefined;
  #used = 0;
  /** What the last job took of the processor. */
  cpuMs = 0;

  /** What the job comes to; `undefined` where it takes too long or the process dies of it. */
  async run(job: Job, patience: Patience): Promise<Outcome | undefined> {
    if (this.#used >= MUTANTS_A_PROCESS) this.stop();
    this.#child ??= fork(fileURLToPath(new URL('worker.ts', import.meta.url)), {
      execArgv: ['--max-old-space-size=1024', '--expose-gc'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#used++;
    const child = this.#child;
    const cpuBefore = cpuMsOf(child);
    let spent = 0;
    child.send(job);
    const timer = setInterval(() => {
      spent += POLL_MS;
      if (spent > patience.wallMs || cpuMsOf(child) - cpuBefore > patience.cpuMs) child.kill('SIGKILL');
    }, POLL_MS);
    const over = new AbortController();
    const { signal } = over;
    const answered = once(child, 'message', { signal }).then(([outcome]) => outcome as Outcome);
    const died = once(child, 'exit', { signal }).then(() => undefined);
    const outcome = await Promise.race([answered, died]);
    over.abort();
    clearInterval(timer);
    this.cpuMs = cpuMsOf(child) - cpuBefore;
    if (outcome?.isClean !== true) this.stop();
    return outcome;
  }

  stop(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
    this.#used = 0;
  }
}
