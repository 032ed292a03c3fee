/** The runs of the corpus, in one order in every process, and what peers need to know of each. */
import type { FailureRule } from '../../lib/index.js';
import { bodyPieces, bytesOfStep, lengthOf, stepsOf } from '../conformance/bytes.js';
import { FILES, isRaw, readLayer, runsOf, type Body, type Case, type Run, type Step, type Text } from '../conformance/corpus.js';
import { CASE_BASIS, RULE_BASIS, type Basis } from './rules.js';

export interface PeerRun {
  /** The layer that decides the case. */
  readonly group: string;
  readonly run: Run;
}

export const RUNS: readonly PeerRun[] = FILES.map(readLayer).flatMap(({ layer, cases }) =>
  cases.flatMap(runsOf).map((run) => ({ group: layer, run })),
);

/** `good`: the answer is to be taken. `error`: the agent's own error, to be told as one. Else what speaks against the answer. */
export type Judgement = 'good' | 'error' | Basis;

export function judgementOf({ name, expect }: Case): Judgement {
  if (expect.ok) return 'good';
  if (expect.rule === 'remote.error') return 'error';
  return basisOf(name, expect.rule);
}

function basisOf(name: string, rule: FailureRule): Basis {
  const [basis] = CASE_BASIS.get(name) ?? RULE_BASIS[rule] ?? [];
  if (basis === undefined) throw new Error(`No basis for ${rule}`);
  return basis;
}

/** A step's waiting, in ms. */
const delayOf = (step: Step): number => ('delay' in step ? step.delay : 0);

/** How long the server takes to say all it has to say, in ms. */
export function playingTime({ case: { response } }: Run): number {
  return isRaw(response) ? response.raw.reduce((sum, step) => sum + delayOf(step), 0) : 0;
}

/** Every byte that the server sends, as text; the request's id is nobody's secret and left as it is called in the case. */
export function wordsOf(run: Run): string {
  const names = { id: '$ID' };
  const steps = stepsOf(run, names, 'as written');
  const length = lengthOf(steps, names);
  return steps.map((step) => bytesOfStep(step, { ...names, length })?.toString('utf8') ?? '').join('');
}

/**
 * The same for a client whose ids are numbers: the echo of an id is a number, too. Everything else is as it was, but for the two bytes by
 * which a `fill` may be longer.
 */
export function withNumericId(run: Run): Run {
  const { response } = run.case;
  const echoing = isRaw(response)
    ? { raw: unquoteIds(response.raw) as readonly Step[] }
    : { ...response, body: unquoteIds(textOf(response.body)) as Text };
  return { ...run, case: { ...run.case, response: echoing } };
}

/** A body that is said as a value, as text; its ids still to be named. */
function textOf(body: Body): Text {
  if (typeof body === 'string' || Array.isArray(body)) return body;
  return bodyPieces(body, { id: '$ID' }).map(String);
}

function unquoteIds(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('"$ID"', '$ID');
  if (Array.isArray(value)) return value.map(unquoteIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, unquoteIds(member)]));
}
