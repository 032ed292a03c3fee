/**
 * Fuzzing for as long as one likes: `npm run fuzz -- --minutes 10`. Each property has an equal share of the time, from a random seed that
 * is printed, or from `--seed`. `--property` names one, whole or by its beginning; with `--seed` and `--path` it runs a single case again.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { PROPERTIES } from './properties.js';
import { described, runFor, type Finding, type Property } from './runner.js';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' }, property: { type: 'string' }, path: { type: 'string' } },
});

const chosen = PROPERTIES.filter(({ name }) => name.startsWith(values.property ?? ''));
if (chosen.length === 0) throw new RangeError(`no property is named ${values.property}`);
const minutes = Number(values.minutes);
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
if (!(minutes > 0) || !Number.isInteger(seed)) throw new RangeError('--minutes takes a positive number, --seed an integer');

function report(finding: Finding | undefined): void {
  if (finding === undefined) return;
  process.exitCode = 1;
  console.log(described(finding));
}

async function again(property: Property, path: string): Promise<void> {
  const finding = await property.runBatch({ seed, runs: property.batch, path }, new Map());
  if (finding === undefined) console.log(`"${property.name}" holds for this case.`);
  report(finding);
}

async function fuzz(): Promise<void> {
  for (const property of chosen) {
    const { runs, met, missed, finding } = await runFor((minutes * 60_000) / chosen.length, seed, property);
    const outcomes = [...met].sort(([a], [b]) => a.localeCompare(b)).map(([outcome, times]) => `${outcome} ${times}`);
    console.log(`${property.name}\n  ${runs} cases: ${outcomes.join(', ')}`);
    if (missed.length > 0 && finding === undefined) {
      process.exitCode = 1;
      console.log(`  never met: ${missed.join(', ')}`);
    }
    report(finding);
  }
}

console.log(`seed ${seed}`);
const [first] = chosen;
if (values.path === undefined) await fuzz();
else if (first !== undefined) await again(first, values.path);
