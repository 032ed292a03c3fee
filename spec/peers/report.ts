/** What clients made of the corpus, counted by group and written as the table of the README. */
import type { Played } from './replay.js';
import { judgementOf, type Judgement, type PeerRun } from './runs.js';

/** One client's counts over the runs of a group. */
export interface Counts {
  /** Hostile answers taken for good ones: against a specification, and where we are stricter by choice. */
  taken: { specification: number; choice: number };
  /** Of all runs. */
  hangs: number;
  crashes: number;
  /** Refused answers, the agents' own errors not included, whose words the error shows. */
  leaks: number;
  /** Good answers that are refused. */
  refused: number;
  /** Agents' own errors that are taken for results. */
  errorsTaken: number;
  /** Agents' own errors whose words the error shows: that is what most are for. */
  errorsTold: number;
}

export interface Group {
  readonly group: string;
  readonly hostile: { specification: number; choice: number };
  readonly good: number;
  readonly errors: number;
  /** In the order of the clients. */
  readonly clients: readonly Counts[];
}

export interface Report {
  readonly titles: readonly string[];
  readonly groups: readonly Group[];
  readonly total: Group;
  /** Runs that some client has no call for, and that are counted nowhere. */
  readonly notOffered: number;
}

function noCounts(): Counts {
  return { taken: { specification: 0, choice: 0 }, hangs: 0, crashes: 0, leaks: 0, refused: 0, errorsTaken: 0, errorsTold: 0 };
}

/** @param played what came of each run, in the order of `runs`, for each client */
export function reportOf(titles: readonly string[], runs: readonly PeerRun[], played: readonly (readonly Played[])[]): Report {
  const groups = new Map<string, Tally>();
  const total = groupOf('all', titles.length);
  let notOffered = 0;
  runs.forEach(({ group: name, run }, position) => {
    const each = played.map((of) => of[position] ?? { end: 'crashes' as const });
    if (each.some(({ end }) => end === 'not offered')) {
      notOffered++;
      return;
    }
    const group = groups.get(name) ?? groupOf(name, titles.length);
    groups.set(name, group);
    for (const counted of [group, total]) count(counted, judgementOf(run.case), each);
  });
  return { titles, groups: [...groups.values()], total, notOffered };
}

/** A group that is still being counted. */
type Tally = { -readonly [Name in keyof Group]: Group[Name] };

function groupOf(group: string, clients: number): Tally {
  return { group, hostile: { specification: 0, choice: 0 }, good: 0, errors: 0, clients: Array.from({ length: clients }, noCounts) };
}

function count(group: Tally, judgement: Judgement, each: readonly Played[]): void {
  if (judgement === 'good') group.good++;
  else if (judgement === 'error') group.errors++;
  else group.hostile[judgement]++;
  each.forEach((played, position) => {
    const counts = group.clients[position];
    if (counts === undefined) return;
    if (played.end === 'hangs') counts.hangs++;
    if (played.end === 'crashes') counts.crashes++;
    if (played.end === 'taken') {
      if (judgement === 'error') counts.errorsTaken++;
      else if (judgement !== 'good') counts.taken[judgement]++;
    }
    if (played.end === 'refused') {
      if (judgement === 'good') counts.refused++;
      if (played.leaked !== undefined) {
        if (judgement === 'error') counts.errorsTold++;
        else counts.leaks++;
      }
    }
  });
}

const NOTES = `- **hostile**: answers that we refuse. Two numbers are: those that break a specification which the agent has to keep, \`+\` those where
  we are stricter by choice, because the bare grammar of event streams, JSON or HTTP allows them, or because they break a bound or a clock
  of the caller's. There a client that takes the answer may be right. \`spec/peers/rules.ts\` gives the reason for each rule.
- **taken**: as if they were good. **hangs**: calls without an end 3 s after the agent's last byte, given no signal; under \`time\` and
  \`limits\` for want of a clock or a bound in the client. **leaks**: errors whose text, stack, JSON or inspection shows words of the
  agent's. **crashes**: the client's process ends.
- **good**: answers that we take, some of them by choice: an end event counts although a reset follows it or nothing does, a list may be
  null. The corpus is this project's, and \`npm test\` holds a2a-strict to every case of it.`;

/** The table of the README. */
export function markdown(report: Report, about: string): string {
  const { titles, groups, total, notOffered } = report;
  const told = titles.map((title, position) => {
    const { errorsTaken = 0, errorsTold = 0 } = total.clients[position] ?? {};
    return `${title} takes ${errorsTaken} for results and has the agent's words of ${errorsTold} in the error's text`;
  });
  return [
    titles.length === 1 ? `${about} The client is ${titles.join()}.` : `${about} In each field, ${titles.join(' / ')}.`,
    '',
    '| group | hostile | taken | hangs | leaks | crashes | good | refused |',
    '|---|---|---|---|---|---|---|---|',
    ...[...groups, total].map((group) => `| ${rowOf(group).join(' | ')} |`),
    '',
    NOTES,
    `- Not in the table: ${total.errors} errors that agents report themselves (${told.join('; ')})${
      notOffered === 0 ? '' : `, and ${notOffered} answers that not every client has a call to ask for`
    }.`,
  ].join('\n');
}

function rowOf({ group, hostile, good, clients }: Group): (string | number)[] {
  const both = ({ specification, choice }: { specification: number; choice: number }): string => `${specification} + ${choice}`;
  const each = (what: (counts: Counts) => string | number): string => clients.map(what).join(' / ');
  return [
    group,
    both(hostile),
    each(({ taken }) => both(taken)),
    each(({ hangs }) => hangs),
    each(({ leaks }) => leaks),
    each(({ crashes }) => crashes),
    good,
    each(({ refused }) => refused),
  ];
}
