/** What one run of a command has. */
import type { Given } from './given.js';
import type { Interruption } from './interruption.js';
import type { Io } from './io.js';
import type { Output } from './output.js';

export interface Session {
  readonly io: Io;
  readonly output: Output;
  readonly given: Given;
  /** The arguments that are no options. */
  readonly words: readonly string[];
  readonly interruption: Interruption;
  /** Ends what goes on when the user asks for it. */
  readonly signal: AbortSignal;
}
