/**
 * Mutation testing of what judges bytes: `npm run mutation`, or `npm run mutation -- lib/wire/json.ts` for a file or several.
 *
 * Each mutant runs against the tests of its file, up to the first that fails. One that survives has to be in `survivors.json` with a reason,
 * or the run fails. `--verbose` says what became of each; `--write` notes the scores in the list.
 */
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutantsOf, type Mutant } from './mutants.js';
import { Survivors, percent, shareOf, type Score } from './survivors.js';
import { TARGETS, type Target } from './targets.js';
import type { Job } from './worker.js';
import { WorkerProcess, type Patience } from './worker_process.js';

const ROOT = new URL('../../', import.meta.url);
const LEAST_SHARE = 0.9;
const AT_ONCE = 2;
/** A mutant may take so many times as long as the code does, and then some: else it hangs. */
const PATIENCE = 3;
const CPU_MS = 2000;
const WALL_MS = 20_000;

function jobOf({ file, tests, skip }: Target, text: string): Job {
  const path = (name: string): string => fileURLToPath(new URL(name, ROOT));
  return { path: path(file), text, tests: tests.map(path), skip: skip?.source };
}

/** By what the tests take where nothing is wrong, which has to be so. */
async function patienceFor(target: Target, text: string): Promise<Patience> {
  const worker = new WorkerProcess();
  const startedAt = performance.now();
  const sound = await worker.run(jobOf(target, text), { cpuMs: Infinity, wallMs: 600_000 });
  worker.stop();
  if (sound === undefined || sound.killedBy !== undefined) throw new Error(
    `${target.file}: without a mutant, ${sound?.killedBy ?? 'no end'}`,
  );
  return { cpuMs: worker.cpuMs * PATIENCE + CPU_MS, wallMs: (performance.now() - startedAt) * PATIENCE + WALL_MS };
}

/** The mutants of a file that no test notices. */
async function survivorsOf(target: Target, mutants: readonly Mutant[], text: string): Promise<string[]> {
  const survived: string[] = [];
  const patience = await patienceFor(target, text);
  const waiting = [...mutants];
  const work = async (): Promise<void> => {
    const worker = new WorkerProcess();
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const outcome = await worker.run(jobOf(target, text.slice(0, mutant.start) + mutant.replacement + text.slice(mutant.end)), patience);
      const verdict = outcome === undefined ? 'hung' : (outcome.killedBy ?? 'SURVIVED');
      if (verbose) console.log(`${target.file}:${mutant.line} ${mutant.key}: ${verdict}`);
      if (verdict === 'SURVIVED') survived.push(mutant.key);
    }
    worker.stop();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return survived;
}

async function scoreOf(target: Target, survivors: Survivors): Promise<Score> {
  const { file } = target;
  const text = readFileSync(new URL(file, ROOT), 'utf8');
  const mutants = mutantsOf(text);
  const startedAt = performance.now();
  const survived = await survivorsOf(target, mutants, text);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const listed = survivors.of(file);
  const unlisted = survived.filter((key) => !listed.has(key));
  const stale = [...listed.keys()].filter((key) => !survived.includes(key));
  const equivalent = survived.filter((key) => listed.get(key) === 'equivalent').length;
  const score = { mutants: mutants.length, killed: mutants.length - survived.length, equivalent };
  console.log(`${file}: ${score.killed} of ${score.mutants} killed, ${equivalent} are no faults, ${percent([score])} (${seconds} s)`);
  for (const key of unlisted) console.log(`  survives, and is not listed: ${key}`);
  // By chance, or because a test was added: nothing to fail for.
  for (const key of stale) console.log(`  is listed, and does not survive: ${key}`);
  if (unlisted.length > 0) process.exitCode = 1;
  return score;
}

const { values, positionals } = parseArgs({
  options: { write: { type: 'boolean' }, verbose: { type: 'boolean' } },
  allowPositionals: true,
});
const verbose = values.verbose === true;
const targets = TARGETS.filter(({ file }) => positionals.length === 0 || positionals.includes(file));
if (targets.length === 0) throw new RangeError(`none of the files is mutated: ${positionals.join(', ')}`);
setPriority(10);

const survivors = new Survivors();
const scores: Score[] = [];
for (const target of targets) {
  const score = await scoreOf(target, survivors);
  scores.push(score);
  survivors.note(target.file, score);
}
console.log(`score ${percent(scores)}`);
if (!(shareOf(scores) >= LEAST_SHARE)) process.exitCode = 1;
if (values.write === true) survivors.write();
