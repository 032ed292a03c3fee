/** What a run of the benchmark comes to: what `--json` writes. */
import type { Measured } from './crew.js';
import type { Load, PackageSize } from './footprint.js';
import { MAX_GROWTH, MAX_KIB_A_STREAM, RATIO_GOALS } from './goals.js';
import { FIGURES, type Figure } from './job.js';
import type { PeerName } from './peers.js';
import type { Group, Growth, Workload } from './workloads.js';

export interface Results {
  /** Of the run: ISO 8601. */
  readonly date: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly memoryGiB: number; readonly system: string };
  readonly versions: { readonly package: string; readonly node: string; readonly undici: string; readonly sdk: string };
  readonly rounds: number;
  /** Rough: not to be quoted. */
  readonly quick: boolean;
  readonly seconds: number;
  readonly rows: readonly Row[];
  readonly growth: readonly GrowthRow[];
  readonly loads: readonly Load[];
  readonly packageSize: PackageSize | undefined;
}

/** Those whose ratios are shown. */
export type Rival = Extract<PeerName, 'sdk' | 'undici'>;
export const RIVALS: readonly Rival[] = ['sdk', 'undici'];

/** A workload. */
export interface Row {
  readonly name: string;
  readonly group: Group;
  readonly figures: readonly FigureRow[];
  /** The part of a core that the server was busy meanwhile. */
  readonly server: Readonly<Partial<Record<PeerName, number>>>;
  readonly goals: readonly GoalRow[];
}

interface FigureRow extends Figure {
  readonly medians: Readonly<Partial<Record<PeerName, number>>>;
  /** How many times as good as that peer `StrictClient` is. */
  readonly ratios: Readonly<Record<Rival, number>>;
}

interface GoalRow {
  readonly against: Rival | 'bytes';
  readonly goal: number;
  readonly got: number;
  /** Times as good at least; or KiB more at most. */
  readonly as: 'times' | 'KiB more';
  readonly met: boolean;
}

export function rowOf({ name, group, job }: Workload, { numbers, server }: Measured): Row {
  const figures = FIGURES[job.kind].map((figure, i): FigureRow => {
    const medians = Object.fromEntries(Object.entries(numbers).map(([peer, list]) => [peer, list[i]!])) as FigureRow['medians'];
    const { strict = NaN } = medians;
    const ratio = (rival: Rival): number => {
      const other = medians[rival] ?? NaN;
      return figure.better === 'more' ? strict / other : other / strict;
    };
    return { ...figure, medians, ratios: { sdk: ratio('sdk'), undici: ratio('undici') } };
  });
  const goals = RATIO_GOALS.filter(({ workload }) => workload === name).map(({ against, goal }): GoalRow => {
    const got = figures[0]!.ratios[against];
    return { against, goal, got, as: 'times', met: got >= goal };
  });
  // Of fewer, what a process takes once weighs too much.
  if (job.kind === 'slow' && job.streams >= 1_000) goals.push(memoryGoal(figures));
  return { name, group, figures, server, goals };
}

function memoryGoal(figures: readonly FigureRow[]): GoalRow {
  const { strict = NaN, bytes = NaN } = figures.find(({ unit }) => unit.startsWith('RSS'))!.medians;
  const got = strict - bytes;
  return { against: 'bytes', goal: MAX_KIB_A_STREAM, got, as: 'KiB more', met: got <= MAX_KIB_A_STREAM };
}

/** What one unit costs `StrictClient` at each of three sizes. */
export interface GrowthRow {
  readonly what: Growth['what'];
  readonly unit: string;
  readonly sizes: readonly { readonly label: string; readonly size: number; readonly cost: number }[];
  /** The cost of a unit at the largest size, in those at the smallest. */
  readonly growth: number;
  readonly linear: boolean;
}

export function growthOf({ what, unit, sizes, figure }: Growth, measured: readonly Measured[]): GrowthRow {
  const costs = sizes.map(({ label, size, divideBy }, i) => ({ label, size, cost: measured[i]!.numbers.strict![figure]! / divideBy }));
  const growth = costs.at(-1)!.cost / costs[0]!.cost;
  return { what, unit, sizes: costs, growth, linear: growth <= MAX_GROWTH };
}

/** Which goals are missed, one sentence each. */
export function missed({ rows, growth }: Pick<Results, 'rows' | 'growth'>): readonly string[] {
  return [
    ...rows.flatMap(({ name, goals }) => goals.filter(({ met }) => !met).map((goal) => `${name}: ${goalText(goal)}`)),
    ...growth
      .filter(({ linear }) => !linear)
      .map(({ what, growth: times }) => `the cost of ${what} is ${times.toFixed(2)} times as high for each at the largest size`),
  ];
}

export function goalText({ against, goal, got, as }: GoalRow): string {
  return as === 'times'
    ? `${got.toFixed(2)}x ${against}, goal ${goal.toFixed(2)}x`
    : `${got.toFixed(1)} KiB a stream more than ${against}, goal at most ${goal.toFixed(0)}`;
}
