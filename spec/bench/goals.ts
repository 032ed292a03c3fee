/** What is asked of `StrictClient`, every check on, against peers in the same run; and below which the guard fails. */
import type { PeerName } from './peers.js';

/** The guard's floor, in parts of the goal, unless a reason is given for a lower one. */
const FLOOR = 0.8;

interface RatioGoal {
  /** The name of a workload. Its first figure is what counts. */
  readonly workload: string;
  /** Medians. */
  readonly against: Extract<PeerName, 'sdk' | 'undici'>;
  /** So many times as good as that peer at least. */
  readonly goal: number;
  /** A floor below 80 % of the goal, and why. */
  readonly lower?: { readonly floor: number; readonly reason: string };
}

export const RATIO_GOALS: readonly RatioGoal[] = [
  { workload: 'unary, 1 at a time', against: 'sdk', goal: 1.8 },
  { workload: 'unary, 1 at a time', against: 'undici', goal: 1.05 },
  { workload: 'unary, 32 at a time', against: 'sdk', goal: 4.5 },
  { workload: 'unary, 32 at a time', against: 'undici', goal: 1.4 },
  { workload: 'token stream, 1 an HTTP chunk', against: 'sdk', goal: 3.3 },
  { workload: 'token stream, 1 an HTTP chunk', against: 'undici', goal: 1.75 },
  { workload: 'token stream, 20 an HTTP chunk', against: 'sdk', goal: 4 },
  { workload: 'token stream, 20 an HTTP chunk', against: 'undici', goal: 2.25 },
  { workload: 'mixed stream', against: 'sdk', goal: 1.4 },
  // No later than undici by more than 10 %.
  { workload: 'first event', against: 'undici', goal: 1 / 1.1 },
];

export function floorOf({ goal, lower }: RatioGoal): number {
  return lower?.floor ?? FLOOR * goal;
}

/** What a slow stream may take of memory beyond what `bytes` takes for the same: the socket's own. Judged by the resident set. */
export const MAX_KIB_A_STREAM = 40;

/** A cost that grows linearly is the same a unit at each size; this much more at the largest than at the smallest is noise. */
export const MAX_GROWTH = 1.5;
