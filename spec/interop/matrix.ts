/** The matrix for the README: what each server does, and where it is not what the protocol asks for. */
import type { ProtocolVersion } from '../../lib/index.js';
import type { AgentName } from './agents.js';
import { EXPECTED, askedOf } from './expectations.js';
import type { Outcome } from './scenario.js';
import { TRAITS, type Trait, type Traits } from './traits.js';

/** What came of the scenario with one server in one dialect. */
export interface Report {
  readonly agent: AgentName;
  readonly dialect: ProtocolVersion;
  /** The SDK and its version. */
  readonly sdk: string;
  /** What it ran on, with its version. */
  readonly toolchain: string;
  readonly outcomes: readonly Outcome[];
  readonly traits: Traits;
}

/** What a trait is called where it says what a caller has to know. */
const ROWS: Readonly<Record<Trait, string>> = {
  eventIds: 'strictest `eventIds`',
  'event ids sent': 'event ids',
  'event names': 'event names',
  'line ends': 'line ends',
  comments: 'comments while quiet',
  'stream media type': 'media type of streams',
  'result media type': 'media type of results',
  'error media type': 'media type of errors',
  'error status': 'status of errors',
  'error data': '`data` of errors',
  'errors to stream requests': 'errors to stream requests',
  'answer to a deletion': 'answer to a deletion',
  timestamps: 'timestamps',
};

export function matrix(reports: readonly Report[], date: Date): string {
  const sorted = [...reports].sort((a, b) => order(a) - order(b));
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
  const lines = [
    `Played on ${day}, with ${[...new Set(sorted.map(({ toolchain }) => toolchain))].join(', ')}.`,
    '',
    row(['', ...sorted.map(title)]),
    row(['---', ...sorted.map(() => '---')]),
    ...TRAITS.map((trait) => row([ROWS[trait], ...sorted.map(({ traits }) => code(traits[trait]))])),
    row(['steps as the protocol asks', ...sorted.map(score)]),
  ];
  const told = deviating(sorted);
  if (told.length > 0) {
    lines.push('', row(['step', 'ends in', 'with', 'because']), row(['---', '---', '---', '---']), ...told.map(row));
  }
  return lines.join('\n');
}

function order({ agent, dialect }: Report): number {
  return 2 * Object.keys(EXPECTED).indexOf(agent) + (dialect === '1.0' ? 0 : 1);
}

function title({ agent, sdk, dialect }: Report): string {
  return `${agent} (${sdk}) in ${dialect}`;
}

function score({ outcomes, dialect }: Report): string {
  const asked = outcomes.filter(({ step, outcome }) => outcome === askedOf(step, dialect));
  return `${asked.length} of ${outcomes.length}`;
}

/** The outcomes that are not what the protocol asks for; what has its outcome, its servers and its reason in common stands in one row. */
function deviating(reports: readonly Report[]): string[][] {
  const servers = new Map<string, string[]>();
  for (const { agent, dialect, outcomes } of reports) {
    for (const { step, outcome } of outcomes) {
      if (outcome === askedOf(step, dialect)) continue;
      const known = EXPECTED[agent][dialect]?.deviations[step];
      const isKnown = known?.outcomes.includes(outcome) === true;
      const ends = (isKnown ? known.outcomes : [outcome]).map(code).join(' or ');
      gather(servers, [step, ends, isKnown ? known.why : 'UNEXPECTED'], `${agent} in ${dialect}`);
    }
  }
  const steps = new Map<string, string[]>();
  for (const [key, names] of servers) {
    const [step = '', ends = '', why = ''] = JSON.parse(key) as string[];
    gather(steps, [ends, names.join('; '), why], step);
  }
  return [...steps].map(([key, names]) => {
    const [ends = '', who = '', why = ''] = JSON.parse(key) as string[];
    return [names.join('; '), ends, who, why];
  });
}

function gather(into: Map<string, string[]>, key: readonly string[], value: string): void {
  const text = JSON.stringify(key);
  const values = into.get(text);
  if (values === undefined) into.set(text, [value]);
  else values.push(value);
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** As code, but for a dash that stands for nothing. */
function code(value: string): string {
  return value === '–' ? value : `\`${value}\``;
}
