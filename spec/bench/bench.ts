/**
 * `npm run bench`: `StrictClient` against the official SDK's JSON-RPC client, and against undici without any A2A client, on one
 * machine in one run. `-- --rounds N`, `-- --quick` (some seconds, rough), `-- --json` (for tools).
 *
 * The server and each peer have a process of their own. The peers take turns within each round, so that whatever else the machine
 * does befalls them alike; reported are the medians of the rounds, and the ratios of these medians.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { A2A_SDK_VERSION, UNDICI_VERSION } from '../../lib/index.js';
import { median, type Job } from './job.js';
import type { PeerName } from './peers.js';
import { event } from './wire.js';

function readFlags(): { rounds: number; quick: boolean; json: boolean } {
  try {
    const { quick = false, json = false, rounds = quick ? '1' : '5' } = parseArgs({
      options: { rounds: { type: 'string' }, quick: { type: 'boolean' }, json: { type: 'boolean' } },
    }).values;
    if (!/^[1-9]\d{0,2}$/.test(rounds)) throw new RangeError('--rounds takes a number from 1 to 999');
    return { rounds: Number(rounds), quick, json };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

const { rounds, quick, json } = readFlags();
const EVENTS = quick ? 20_000 : 100_000;
const UNARY = quick ? { milliseconds: 200, atLeast: 300 } : { milliseconds: 600, atLeast: 1_000 };

// ---- What is measured ----

interface Figure {
  readonly unit: string;
  readonly better: 'more' | 'less';
  /** What `StrictClient` is to be, in times of another peer. */
  readonly target?: Readonly<Partial<Record<'sdk' | 'undici', number>>>;
}

interface Measure {
  readonly name: string;
  readonly job: Job;
  /** What the job's numbers are. */
  readonly figures: readonly Figure[];
}

const MEASURES: readonly Measure[] = [
  {
    name: 'getTask, 1 at a time',
    job: { kind: 'unary', concurrency: 1, ...UNARY },
    figures: [
      { unit: 'calls/s', better: 'more' },
      { unit: 'CPU µs/call', better: 'less' },
    ],
  },
  {
    name: 'getTask, 32 at a time',
    job: { kind: 'unary', concurrency: 32, ...UNARY },
    figures: [
      { unit: 'calls/s', better: 'more', target: { sdk: 4, undici: 1 } },
      { unit: 'CPU µs/call', better: 'less' },
    ],
  },
  {
    name: 'stream, 20 events an HTTP chunk',
    job: { kind: 'stream', events: EVENTS, perChunk: 20 },
    figures: [
      { unit: 'events/s', better: 'more', target: { sdk: 1 } },
      { unit: 'CPU µs/event', better: 'less' },
    ],
  },
  {
    name: 'stream, 1 event an HTTP chunk',
    job: { kind: 'stream', events: EVENTS, perChunk: 1 },
    figures: [
      { unit: 'events/s', better: 'more', target: { sdk: 1 } },
      { unit: 'CPU µs/event', better: 'less' },
    ],
  },
  {
    name: 'stream, from the call to the first event',
    job: { kind: 'first event', streams: quick ? 50 : 200 },
    figures: [{ unit: 'ms', better: 'less' }],
  },
];

// ---- Running it ----

/** A child that is gone before its time, or that fails, takes the benchmark with it. */
function start(module: URL, ...args: string[]): ChildProcess {
  const child = fork(module, args);
  child.once('exit', (code) => {
    if (!ended) throw new Error(`${module.pathname} ended with code ${String(code)}`);
  });
  return child;
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const [answer] = (await once(child, 'message')) as [T];
  return answer;
}

let ended = false;
const server = start(new URL('./server.ts', import.meta.url));
const url = `http://127.0.0.1:${String(await answerOf<number>(server))}/`;
const PEER_NAMES: readonly PeerName[] = ['strict', 'sdk', 'undici'];
const peers = PEER_NAMES.map((name) => start(new URL('./runner.ts', import.meta.url), name, url));

async function ask(peer: ChildProcess, job: Job): Promise<number[]> {
  const figures = answerOf<number[]>(peer);
  peer.send(job);
  return figures;
}

interface Row extends Figure {
  readonly name: string;
  readonly medians: Readonly<Record<PeerName, number>>;
  /** How many times as good as another peer StrictClient is. */
  readonly ratios: { readonly sdk: number; readonly undici: number };
  /** Whether the target is reached; `undefined` where there is none. */
  readonly met: boolean | undefined;
}

async function measure({ name, job, figures }: Measure): Promise<Row[]> {
  // The first run of each only warms it up.
  for (const peer of peers) await ask(peer, job);
  const runs = peers.map((): number[][] => []);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < peers.length; turn++) {
      // Each goes first in turn.
      const at = (round + turn) % peers.length;
      runs[at]!.push(await ask(peers[at]!, job));
    }
  }
  return figures.map((figure, i) => {
    const medianOf = (peer: PeerName): number => median(runs[PEER_NAMES.indexOf(peer)]!.map((numbers) => numbers[i]!));
    const medians = { strict: medianOf('strict'), sdk: medianOf('sdk'), undici: medianOf('undici') };
    const times = (other: number): number => (figure.better === 'more' ? medians.strict / other : other / medians.strict);
    const ratios = { sdk: times(medians.sdk), undici: times(medians.undici) };
    const { target } = figure;
    const met = target && ratios.sdk >= (target.sdk ?? 0) && ratios.undici >= (target.undici ?? 0);
    return { name, ...figure, medians, ratios, met };
  });
}

// ---- Showing it ----

const HEADINGS = ['', 'StrictClient', 'official SDK', 'undici', 'to SDK', 'to undici'];
const WIDTHS = [18, 14, 14, 14, 10, 11];

function columns(cells: readonly string[]): string {
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(WIDTHS[0]!) : cell.padStart(WIDTHS[i]!))).join('');
}

function lineOf({ unit, medians, ratios, target, met }: Row): string {
  const digits = medians.strict < 100 ? 2 : 0;
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const aims = Object.entries(target ?? {}).map(([peer, ratio]) => `${String(ratio)}x ${peer}`);
  return (
    columns([
      `  ${unit}`,
      ...PEER_NAMES.map((peer) => medians[peer].toLocaleString('en', format)),
      `${ratios.sdk.toFixed(2)}x`,
      `${ratios.undici.toFixed(2)}x`,
    ]) + (met === undefined ? '' : `   ${met ? 'reached' : 'MISSED'}: ${aims.join(', ')}`)
  );
}

/** As long as StrictClient's ids are; the SDK counts its requests, and is spared these bytes. */
const ANY_ID = JSON.stringify('0'.repeat(32));
let streamBytes = 0;
for (let number = 1; number <= EVENTS; number++) streamBytes += event(number, EVENTS, ANY_ID).length;
const eventBytes = Math.round(streamBytes / EVENTS);
const versions = { node: process.versions.node, undici: UNDICI_VERSION, sdk: A2A_SDK_VERSION };

if (!json) {
  console.log(`Node ${versions.node}, undici ${versions.undici}, SDK ${versions.sdk}. Medians of ${String(rounds)}.`);
  console.log('undici: undici.request, eventsource-parser and JSON.parse, nothing checked. Ratios: StrictClient is so many times as good.');
  console.log(`A stream has ${EVENTS.toLocaleString('en')} events of ${String(eventBytes)} bytes.\n`);
  console.log(columns(HEADINGS));
}
const rows: Row[] = [];
for (const each of MEASURES) {
  const measured = await measure(each);
  if (!json) console.log([each.name, ...measured.map(lineOf)].join('\n'));
  rows.push(...measured);
}
ended = true;
for (const child of [server, ...peers]) child.disconnect();
if (json) console.log(JSON.stringify({ ...versions, rounds, events: EVENTS, eventBytes, rows }, null, 2));
