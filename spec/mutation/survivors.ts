/** The list of mutants that survive, and why: `survivors.json`. */
import { readFileSync, writeFileSync } from 'node:fs';
import ts from 'typescript';

const LIST = new URL('survivors.json', import.meta.url);

/** Mutants of one file that survive for one reason. */
interface Group {
  readonly file: string;
  /**
   * `equivalent`: it does what the code does, whatever it is given. `speed`, `memory`: it only costs more. `chance`: it differs in what no test
   * can bring about. `gap`: a test is wanting.
   */
  readonly kind: 'equivalent' | 'speed' | 'memory' | 'chance' | 'gap';
  readonly reason: string;
  readonly mutants: readonly string[];
}

export interface Score {
  readonly mutants: number;
  readonly killed: number;
  /** Of those that survive, how many are no faults. */
  readonly equivalent: number;
}

interface List {
  readonly about: string;
  date: string;
  versions: Readonly<Record<string, string>>;
  score: string;
  scores: Record<string, Score>;
  readonly survivors: readonly Group[];
}

export class Survivors {
  readonly #list = JSON.parse(readFileSync(LIST, 'utf8')) as List;

  /** The mutants of a file that are listed, each with its kind. */
  of(file: string): ReadonlyMap<string, Group['kind']> {
    const groups = this.#list.survivors.filter((group) => group.file === file && group.reason !== '');
    return new Map(groups.flatMap(({ mutants, kind }) => mutants.map((mutant) => [mutant, kind])));
  }

  note(file: string, score: Score): void {
    this.#list.scores[file] = score;
  }

  write(): void {
    this.#list.date = new Date().toISOString().slice(0, 10);
    this.#list.versions = { node: process.version, typescript: ts.version };
    this.#list.score = percent(Object.values(this.#list.scores));
    writeFileSync(LIST, `${JSON.stringify(this.#list, null, 2)}\n`);
  }
}

/** Of all that are faults, how many were noticed. */
export function shareOf(scores: readonly Score[]): number {
  const sum = (part: (score: Score) => number): number => scores.reduce((total, score) => total + part(score), 0);
  return sum(({ killed }) => killed) / sum(({ mutants, equivalent }) => mutants - equivalent);
}

export function percent(scores: readonly Score[]): string {
  return `${(100 * shareOf(scores)).toFixed(1)} %`;
}
