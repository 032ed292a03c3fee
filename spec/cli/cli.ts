/** Runs the command line in this process, with outputs of its own. */
import { Readable, Writable } from 'node:stream';
import type { Io, StopSignal } from '../../lib/cli/io.js';
import { run } from '../../lib/cli/run.js';

export interface Setting {
  readonly stdin?: string | Readable;
  readonly env?: Readonly<Record<string, string>>;
  /** Both outputs are the same terminal. */
  readonly terminal?: boolean;
  /** Called with all of stdout so far, after each write. */
  readonly onOutput?: (stdout: string) => void;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** All writes in the order in which they were made, as a terminal gets them. */
  readonly both: string;
}

/** A command under way. */
export class Running {
  readonly ended: Promise<Ended>;
  /** Those who want to hear of an interruption. */
  readonly #listeners = new Set<(signal: StopSignal) => void>();
  #stdout = '';
  #stderr = '';
  #both = '';

  constructor(argv: readonly string[], { stdin = '', env = {}, terminal = false, onOutput }: Setting = {}) {
    const sink = (write: (text: string) => void): Writable & { isTTY: boolean; columns: number } =>
      Object.assign(
        new Writable({
          decodeStrings: false,
          write: (chunk: string, _encoding, done) => {
            write(chunk);
            this.#both += chunk;
            done();
          },
        }),
        { isTTY: terminal, columns: 80 },
      );
    const stdout = sink((text) => {
      this.#stdout += text;
      onOutput?.(this.#stdout);
    });
    const stderr = sink((text) => (this.#stderr += text));
    const io: Io = {
      stdin: typeof stdin === 'string' ? Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]) : stdin,
      stdout,
      stderr,
      env,
      onInterrupt: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    };
    this.ended = run(argv, io).then((code) => ({ code, stdout: this.#stdout, stderr: this.#stderr, both: this.#both }));
  }

  interrupt(signal: StopSignal = 'SIGINT'): void {
    for (const listener of this.#listeners) listener(signal);
  }
}

export function cli(argv: readonly string[], setting?: Setting): Promise<Ended> {
  return new Running(argv, setting).ended;
}

/** The JSON values of an output, one a line. */
export function values(stdout: string): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
