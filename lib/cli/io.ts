/** What a command has of the world outside: a process gives its own, a test others. */
import type { Readable, Writable } from 'node:stream';

/** An output that may be a terminal. */
export interface Sink extends Writable {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface Io {
  readonly stdin: Readable;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Has `listener` called when the user wants the command to end.
   * @returns ends that
   */
  readonly onInterrupt: (listener: (signal: StopSignal) => void) => () => void;
}

export type StopSignal = 'SIGINT' | 'SIGTERM';
