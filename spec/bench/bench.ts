/**
 * `npm run bench`: `StrictClient` against the official SDK's JSON-RPC client, and against undici without any A2A client, on one machine in
 * one run, beside what is asked of it. After `--`: `--rounds N`; `--only unary,stream,…`; `--quick` (some seconds, rough); `--json FILE`,
 * for tools such as plot.ts.
 *
 * The server and each peer have a process of their own. The peers take turns within each round, so that whatever else the machine does
 * befalls them alike; reported are the medians of the rounds, and the ratios of these medians.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type as systemName } from 'node:os';
import { parseArgs } from 'node:util';
import { A2A_SDK_VERSION, UNDICI_VERSION } from '../../lib/index.js';
import { Crew, type Measured } from './crew.js';
import { loads, packageSize } from './footprint.js';
import type { Job } from './job.js';
import type { PeerName } from './peers.js';
import { closingText, growthText, headText, loadsText, packageText, rowText } from './report.js';
import { growthOf, rowOf, type GrowthRow, type Results, type Row } from './results.js';
import { FULL, GROUPS, growthsOf, QUICK, workloadsOf, type Group } from './workloads.js';

interface Flags {
  readonly rounds: number;
  readonly quick: boolean;
  readonly json: string | undefined;
  readonly only: readonly string[];
}

function readFlags(): Flags {
  try {
    const { quick = false, json, only = GROUPS.join(','), rounds = quick ? '1' : '9' } = parseArgs({
      options: { rounds: { type: 'string' }, quick: { type: 'boolean' }, json: { type: 'string' }, only: { type: 'string' } },
    }).values;
    if (!/^[1-9]\d{0,2}$/.test(rounds)) throw new RangeError('--rounds takes a number from 1 to 999');
    const groups = only.split(',');
    const known: readonly string[] = GROUPS;
    if (!groups.every((name) => known.includes(name))) throw new RangeError(`--only takes some of ${GROUPS.join(',')}`);
    return { rounds: Number(rounds), quick, json, only: groups };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

const { rounds, quick, json, only } = readFlags();
const wants = (group: Group): boolean => only.includes(group);
const startedAt = performance.now();
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
const head = {
  date: new Date().toISOString(),
  machine: {
    cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${systemName()} ${release()}`,
  },
  versions: { package: version, node: process.versions.node, undici: UNDICI_VERSION, sdk: A2A_SDK_VERSION },
  rounds,
  quick,
};
console.log(headText(head));

const crew = new Crew();
await crew.start();

/** What was measured is not measured again for being a size of a growth too. */
const known = new Map<string, Measured>();

async function measure(job: Job, peers: readonly PeerName[]): Promise<Measured> {
  const key = JSON.stringify(job);
  const measured = known.get(key) ?? (await crew.measure(job, peers, rounds, 'median'));
  known.set(key, measured);
  return measured;
}

const effort = quick ? QUICK : FULL;
const rows: Row[] = [];
for (const workload of workloadsOf(effort).filter(({ group }) => wants(group))) {
  const row = rowOf(workload, await measure(workload.job, workload.peers));
  console.log(rowText(row));
  rows.push(row);
}
const growth: GrowthRow[] = [];
for (const each of wants('growth') ? growthsOf(effort) : []) {
  const measured: Measured[] = [];
  for (const { job } of each.sizes) measured.push(await measure(job, ['strict']));
  const row = growthOf(each, measured);
  console.log(growthText(row));
  growth.push(row);
}
crew.stop();

const loaded = wants('import') ? loads(rounds) : [];
if (loaded.length > 0) console.log(loadsText(loaded));
const size = wants('package') ? packageSize() : undefined;
if (size !== undefined) console.log(packageText(size));

const results: Results = { ...head, seconds: (performance.now() - startedAt) / 1000, rows, growth, loads: loaded, packageSize: size };
console.log(closingText(results));
if (json !== undefined) writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`);
