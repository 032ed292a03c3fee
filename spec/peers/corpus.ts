/**
 * What clients make of the corpus: `npm run corpus -- [--client sdk] [--client strict] [--json]`. Prints the table of the README; with
 * `--json` the counts, and what came of each answer.
 */
import { parseArgs } from 'node:util';
import { A2A_SDK_VERSION } from '../../lib/index.js';
import { PEERS, type PeerName } from './clients.js';
import { replay, type Played } from './replay.js';
import { markdown, reportOf } from './report.js';
import { RUNS, judgementOf } from './runs.js';

const { values } = parseArgs({ options: { client: { type: 'string', multiple: true }, json: { type: 'boolean' } } });
const names = (values.client ?? ['sdk', 'strict']).map(peerName);

function peerName(name: string): PeerName {
  if (name === 'sdk' || name === 'strict') return name;
  throw new Error(`There is no client ${name}: sdk or strict`);
}

const runs = RUNS.map(({ run }) => run);
const played: Played[][] = [];
for (const name of names) played.push(await replay(name, runs));
const titles = names.map((name) => PEERS[name].title);
const report = reportOf(titles, RUNS, played);
if (values.json === true) {
  const answers = RUNS.map(({ group, run }, position) => ({
    group,
    name: run.name,
    dialect: run.dialect,
    judgement: judgementOf(run.case),
    rule: run.case.expect.ok ? undefined : run.case.expect.rule,
    clients: Object.fromEntries(names.map((name, at) => [name, played[at]?.[position]])),
  }));
  console.log(JSON.stringify({ ...report, answers }, undefined, 2));
} else {
  const date = new Date().toISOString().slice(0, 10);
  const fetch = `the fetch of Node ${process.version} (undici ${process.versions['undici'] ?? 'unknown'})`;
  const versions = `@a2a-js/sdk ${A2A_SDK_VERSION} on ${fetch}`;
  console.log(markdown(report, `${RUNS.length} answers of the corpus, ${date}, ${versions}; again with \`npm run corpus\`.`));
}
