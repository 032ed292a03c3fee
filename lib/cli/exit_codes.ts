/** What the process's exit code says. */
import type { FailureKind } from '../failure.js';
import type { StopSignal } from './io.js';

export const EXIT = { ok: 0, broken: 1, usage: 2, internal: 70 } as const;

/** By the kind of the failure that a command ended with. */
export const EXIT_OF_KIND: Readonly<Record<FailureKind, number>> = {
  invalid_argument: 3,
  protocol: 4,
  remote_agent: 5,
  unavailable: 6,
  deadline_exceeded: 7,
  response_too_large: 8,
  canceled: 130,
};

/** As shells count them: 128 and the signal's number. */
export const EXIT_OF_SIGNAL: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** For people, in the order of the numbers. */
export const EXIT_CODES: readonly (readonly [code: number, means: string])[] = [
  [EXIT.ok, 'done; also where the reader of the output left early'],
  [EXIT.broken, 'check: the agent broke a rule; demo: something was not proven'],
  [EXIT.usage, 'the command line is wrong; nothing was sent'],
  [EXIT_OF_KIND.invalid_argument, 'invalid_argument: an option or a parameter was refused, nothing was sent'],
  [EXIT_OF_KIND.protocol, 'protocol: the agent broke a rule'],
  [EXIT_OF_KIND.remote_agent, "remote_agent: the agent's own error, or a task that failed or was rejected"],
  [EXIT_OF_KIND.unavailable, 'unavailable: no connection, no good status, or a stream that was cut'],
  [EXIT_OF_KIND.deadline_exceeded, 'deadline_exceeded: a clock ran out'],
  [EXIT_OF_KIND.response_too_large, 'response_too_large: a bound was exceeded'],
  [EXIT.internal, 'an error of a2a-strict itself'],
  [EXIT_OF_SIGNAL.SIGINT, 'ended by Ctrl-C'],
  [EXIT_OF_SIGNAL.SIGTERM, 'ended by SIGTERM'],
];
