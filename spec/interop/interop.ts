/**
 * Plays the scenario against real agents in other languages, each made with its own official SDK, and prints what each of them does.
 *
 *     npm run interop                        what has no toolchain here is skipped, and said so
 *     npm run interop -- --require python,go a missing toolchain fails
 *     npm run interop -- --bytes             prints what came over the wire, too, as it does where it is not what was expected
 *
 * Ends with 1 if any server did something else than `expectations.ts` says.
 */
import { parseArgs } from 'node:util';
import { AGENTS, LANGUAGES, toolchainOf, type AgentKind, type Language, type RunningAgent } from './agents.js';
import { differences } from './expectations.js';
import { matrix, type Report } from './matrix.js';
import { Peer } from './peer.js';
import { LONG_SILENCE, play } from './scenario.js';
import { traitsOf } from './traits.js';

interface Started {
  readonly kind: AgentKind;
  readonly toolchain: string;
  readonly agent: RunningAgent;
}

/** Packages and programs may have to be fetched and built. */
const MAX_MS = 15 * 60_000;

// The server of the JavaScript SDK, which runs in this process, tells the console what it does.
const print = console.log.bind(console);
for (const name of ['log', 'warn', 'error'] as const) console[name] = () => undefined;

const { values } = parseArgs({ options: { require: { type: 'string', default: '' }, bytes: { type: 'boolean', default: false } } });
const required = values.require.split(',').filter((name) => name !== '');
for (const name of required) {
  if (!LANGUAGES.some((language) => language === name)) throw new Error(`--require: no such language: ${name}`);
}

const problems: string[] = [];
const toolchains = new Map<Language, string>();
for (const language of LANGUAGES) {
  const version = await toolchainOf(language);
  if (version !== undefined) {
    toolchains.set(language, version);
    continue;
  }
  print(`SKIPPED ${language}: its toolchain is not on this machine, or too old; its agents were not tried`);
  if (required.includes(language)) problems.push(`${language}: required, and its toolchain is not here`);
}

// What is started here ends with this process, and this process ends.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
setTimeout(() => {
  print(`UNEXPECTED it is not done after ${MAX_MS / 60_000} minutes`);
  process.exit(1);
}, MAX_MS).unref();

const reports: Report[] = [];
// One after the other: two builds beside each other take longer on a small machine.
const ready: { readonly kind: AgentKind; readonly toolchain: string }[] = [];
for (const kind of AGENTS) {
  const toolchain = toolchains.get(kind.language);
  if (toolchain !== undefined) ready.push({ kind, toolchain });
}
const running = await startAll();
try {
  await Promise.all(
    running.flatMap(({ kind, toolchain, agent }) =>
      kind.dialects.map(async (dialect) => {
        const peer = new Peer(agent.url, dialect, kind.dialects.length === 1, kind.allowPlainTextResults);
        try {
          const outcomes = await play(peer, LONG_SILENCE);
          const made = { agent: kind.name, dialect, sdk: kind.sdk, toolchain: `${kind.language} ${toolchain}` };
          const report = { ...made, outcomes, traits: traitsOf(peer) };
          reports.push(report);
          const told = differences(report);
          problems.push(...told);
          if (values.bytes || told.length > 0) printBytes(`${kind.name} ${dialect}`, peer);
        } finally {
          await peer.close();
        }
      }),
    ),
  );
} finally {
  await Promise.all(running.map(({ agent }) => agent.stop()));
}

print(matrix(reports, new Date()));
for (const problem of problems) print(`UNEXPECTED ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function startAll(): Promise<Started[]> {
  const started: Started[] = [];
  for (const { kind, toolchain } of ready) {
    try {
      started.push({ kind, toolchain, agent: await kind.start(toolchain) });
    } catch (error) {
      problems.push(`${kind.name}: it could not be started: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return started;
}

function printBytes(name: string, { exchanges }: Peer): void {
  for (const { method, status, headers, chunks } of exchanges) {
    print(`== ${name} ${method} ${status ?? 'no answer'} ${String(headers['content-type'])}`);
    print(Buffer.concat(chunks).toString());
  }
}
