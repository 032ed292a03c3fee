/** What a check has found out about one rule. */
import { failureOf, type Failure, type FailureRule } from '../../failure.js';
import { wordsOf } from '../failure_report.js';

/** `not_exercised`: nothing that happened says whether it is kept. */
export type State = 'kept' | 'broken' | 'not_exercised';

export interface Finding {
  /** A stable name, for programs. */
  readonly check: string;
  /** The same, for people. */
  readonly title: string;
  readonly state: State;
  /** The rule of this package that a call of it would end with. */
  readonly rule?: FailureRule | undefined;
  /** What was seen. Safe to print. */
  readonly says: string;
  /** What to tell the agent's owner, or what the caller has to do. */
  readonly advice?: string | undefined;
}

/** What a finding is about. */
export interface Topic {
  readonly check: string;
  readonly title: string;
}

export const kept = ({ check, title }: Topic, says: string, advice?: string): Finding => ({ check, title, state: 'kept', says, advice });

export const notExercised = ({ check, title }: Topic, says: string): Finding => ({ check, title, state: 'not_exercised', says });

export function broken({ check, title }: Topic, says: string, advice: string, rule?: FailureRule): Finding {
  return { check, title, state: 'broken', rule, says, advice };
}

/** By a failure that is the agent's fault. */
export const brokenBy = (topic: Topic, failure: Failure, advice: string): Finding => broken(topic, wordsOf(failure), advice, failure.rule);

/** Statuses that say that the caller, or the moment, is the wrong one: of what was asked they say nothing. */
const TURNED_AWAY = new Set([401, 403, 407, 429, 503]);

export const isTurnedAway = ({ rule, status }: Failure): boolean => rule === 'http.status' && TURNED_AWAY.has(status ?? 0);

export const turnedAway = (topic: Topic, { status }: Failure): Finding => notExercised(topic, `the agent turns the caller away: status ${String(status)}`);

/** The failure that a call ended with; whatever else it threw, is thrown. */
export function failureFrom(error: unknown): Failure {
  const failure = failureOf(error);
  if (failure === undefined) throw error;
  return failure;
}
