/**
 * What a property is, and how it is run for a time: in batches of cases, each batch from a seed of its own, so that a run is
 * the beginning of every longer run with the same seed, and a failure is found again by its seed and path alone.
 */
import fc from 'fast-check';
import { inspect } from 'node:util';

/** A case that breaks a property, shrunk. */
export interface Finding {
  readonly property: string;
  /** Of the batch: with `path`, it gives the shrunk case again. */
  readonly seed: number;
  readonly path: string;
  readonly counterexample: string;
  readonly error: unknown;
}

export interface Batch {
  readonly seed: number;
  readonly runs: number;
  /** Where in the batch the one case to be run again is. */
  readonly path?: string;
  /** A failing case is taken as it is. */
  readonly unshrunk?: true;
}

/** A sentence that holds for every case, and what its cases have to have met for that to mean anything. */
export interface Property {
  readonly name: string;
  /** Cases that are run at least, however slow the machine. */
  readonly batch: number;
  /** What a case may turn out to be; each has to turn up in every run. */
  readonly outcomes: readonly string[];
  runBatch(batch: Batch, met: Map<string, number>): Promise<Finding | undefined>;
}

interface Definition<Case, Outcome extends string> {
  readonly name: string;
  readonly batch: number;
  readonly outcomes: readonly Outcome[];
  readonly cases: fc.Arbitrary<Case>;
  /** Throws where the property does not hold; else says what the case turned out to be. */
  readonly check: (value: Case) => Outcome | readonly Outcome[] | Promise<Outcome | readonly Outcome[]>;
}

export function property<Case, Outcome extends string>({ name, batch, outcomes, cases, check }: Definition<Case, Outcome>): Property {
  return {
    name,
    batch,
    outcomes,
    async runBatch({ seed, runs, path, unshrunk }, met) {
      const note = (outcome: Outcome): void => {
        met.set(outcome, (met.get(outcome) ?? 0) + 1);
      };
      const run = fc.asyncProperty(cases, async (value) => {
        const outcome = await check(value);
        if (typeof outcome === 'string') note(outcome);
        else outcome.forEach(note);
      });
      const details = await fc.check(run, { seed, numRuns: runs, endOnFailure: unshrunk === true, ...(path !== undefined && { path }) });
      if (!details.failed) return undefined;
      const { counterexample, counterexamplePath, errorInstance } = details;
      return { property: name, seed, path: counterexamplePath ?? '', counterexample: shown(counterexample), error: errorInstance };
    },
  };
}

/** Bytes as text, so that a counterexample can be read and copied. */
function shown(value: unknown): string {
  return inspect(value, { depth: 12, maxStringLength: 4000, maxArrayLength: 400, breakLength: 140 });
}

/** What a run of one property came to. */
export interface Report {
  readonly property: string;
  readonly runs: number;
  readonly met: ReadonlyMap<string, number>;
  /** Outcomes that never turned up. */
  readonly missed: readonly string[];
  readonly finding: Finding | undefined;
}

/** So many batches are run at most to meet an outcome that has not turned up in time. */
const MOST_BATCHES_OVER = 60;

/**
 * Runs a property for a time, and beyond it until each outcome has turned up, up to its first counterexample.
 * @param seed of the first batch; those of the others follow from it
 */
export async function runFor(milliseconds: number, seed: number, property: Property): Promise<Report> {
  const until = performance.now() + milliseconds;
  const met = new Map<string, number>();
  const missed = (): string[] => property.outcomes.filter((outcome) => !met.has(outcome));
  let runs = 0;
  let finding: Finding | undefined;
  do {
    finding = await property.runBatch({ seed: batchSeed(seed, runs), runs: property.batch }, met);
    runs += property.batch;
  } while (finding === undefined && (performance.now() < until || (missed().length > 0 && runs < property.batch * MOST_BATCHES_OVER)));
  return { property: property.name, runs, met, missed: missed(), finding };
}

/** fast-check takes seeds of 32 bits. The first batch has the seed itself. */
function batchSeed(seed: number, runsBefore: number): number {
  return (seed + Math.imul(runsBefore, 0x9e3779b1)) | 0;
}

/** How to see a finding again. */
export function described({ property: name, seed, path, counterexample, error }: Finding): string {
  return [
    `"${name}" does not hold.`,
    `Again: npm run fuzz -- --property ${JSON.stringify(name)} --seed=${seed} --path ${path}`,
    `Counterexample: ${counterexample}`,
    error instanceof Error ? (error.stack ?? error.message) : inspect(error),
  ].join('\n');
}
