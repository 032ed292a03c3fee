/**
 * What is asked of every agent, step by step. A step ends well, or in the rule that it was refused by: which of both is right is the
 * business of `expectations.ts`.
 *
 * The agents obey the first word of a message: `echo` and `say` give back what follows, in a task or as a message; `stream` and `parts`
 * bring artifacts, `ask` wants input, `slow` works until it is canceled, `quiet` says nothing for so many milliseconds, `fail` fails,
 * `throw` breaks.
 */
import { failureOf } from '../../lib/index.js';
import type { Peer } from './peer.js';
import type { Silence, Step } from './step.js';
import { ERRORS } from './steps_errors.js';
import { PUSH } from './steps_push.js';
import { WORK } from './steps_work.js';

/** The SSE library of the Python SDK comments every 15 s. */
export const LONG_SILENCE: Silence = { quietMs: 21_000, idleMs: 18_000 };

export const STEPS: readonly Step[] = [...WORK, ...PUSH, ...ERRORS];

/** How a step ended that ended well. */
export const AS_ASKED = 'as asked';

export interface Outcome {
  readonly step: string;
  /** `as asked`, a rule with what belongs to it, or `wrong: ` and what was not as it should be. */
  readonly outcome: string;
}

export function stepsFor(peer: Pick<Peer, 'dialect' | 'isOnlyDialect'>): readonly Step[] {
  return STEPS.filter(
    ({ dialect, onlyOfOneDialect }) =>
      (dialect === undefined || dialect === peer.dialect) && (onlyOfOneDialect === undefined || peer.isOnlyDialect),
  );
}

/** Plays the steps one after the other, those that take long beside them. */
export async function play(peer: Peer, silence: Silence): Promise<Outcome[]> {
  const steps = stepsFor(peer);
  const outcomes = new Map<Step, string>();
  const take = async (step: Step): Promise<void> => {
    outcomes.set(step, await outcomeOf(step.run(peer, silence)));
  };
  const inTurn = (turn: Step['turn']): Step[] => steps.filter((step) => step.turn === turn);
  for (const step of inTurn('first')) await take(step);
  const beside = inTurn('beside').map(take);
  for (const step of inTurn(undefined)) await take(step);
  await Promise.all(beside);
  return steps.map((step) => ({ step: step.name, outcome: outcomes.get(step) ?? 'not played' }));
}

async function outcomeOf(run: Promise<void>): Promise<string> {
  try {
    await run;
    return AS_ASKED;
  } catch (error) {
    const failure = failureOf(error);
    if (failure === undefined) return error instanceof Error ? `wrong: ${error.message.split('\n')[0] ?? ''}` : 'wrong';
    const { rule, code, status, path } = failure;
    const details = [code, rule === 'http.status' ? status : undefined, path].filter((detail) => detail !== undefined);
    return [rule, ...details].join(' ');
  }
}

