/** What is measured, with which peers. */
import type { Job } from './job.js';
import type { PeerName } from './peers.js';

/** What `--only` takes. */
export const GROUPS = ['unary', 'stream', 'mixed', 'v03', 'text', 'size', 'first', 'tls', 'slow', 'growth', 'import', 'package'] as const;
export type Group = (typeof GROUPS)[number];

export interface Workload {
  readonly name: string;
  readonly group: Group;
  readonly peers: readonly PeerName[];
  readonly job: Job;
}

/** How much of each is done: what is measured is the same, more or less roughly. */
export interface Effort {
  readonly unaryMs: number;
  readonly unaryCalls: number;
  /** Events of about 281 bytes; of larger ones as many as have the same bytes, or five. */
  readonly events: number;
  readonly firstEvents: number;
  readonly slowStreams: number;
  readonly slowMs: number;
}

export const FULL: Effort = { unaryMs: 400, unaryCalls: 500, events: 60_000, firstEvents: 200, slowStreams: 1_000, slowMs: 2_500 };
export const QUICK: Effort = { unaryMs: 100, unaryCalls: 256, events: 5_000, firstEvents: 30, slowStreams: 100, slowMs: 300 };
export const GUARD: Effort = { unaryMs: 120, unaryCalls: 200, events: 16_000, firstEvents: 30, slowStreams: 0, slowMs: 0 };

const EVENT_BYTES = 281;
const KIB = 1024;
const MIB = 1024 * KIB;

/** A stream of events of so many bytes. */
function sized(bytes: number, effort: Effort, times = 1): Job & { readonly kind: 'stream' } {
  const events = Math.max(5, Math.ceil((times * effort.events * EVENT_BYTES) / bytes));
  return { kind: 'stream', stream: bytes, events, perChunk: 1 };
}

const ALL: readonly PeerName[] = ['strict', 'strict-plain', 'sdk', 'undici', 'bytes'];
/** Where the short cut for events that repeat others has no part. */
const WITHOUT_PLAIN: readonly PeerName[] = ['strict', 'sdk', 'undici', 'bytes'];
const COUNT = new Intl.NumberFormat('en');

export function workloadsOf(effort: Effort): readonly Workload[] {
  const { unaryMs: milliseconds, unaryCalls: atLeast, events } = effort;
  return [
    ...[1, 32, 256].map(
      (concurrency): Workload => ({
        name: `unary, ${String(concurrency)} at a time`,
        group: 'unary',
        peers: WITHOUT_PLAIN,
        job: { kind: 'unary', concurrency, milliseconds, atLeast: Math.min(atLeast, 50 * concurrency) },
      }),
    ),
    ...[20, 1].map(
      (perChunk): Workload => ({
        name: `token stream, ${String(perChunk)} an HTTP chunk`,
        group: 'stream',
        peers: ALL,
        job: { kind: 'stream', stream: 'token', events, perChunk },
      }),
    ),
    {
      name: 'mixed stream',
      group: 'mixed',
      peers: ALL,
      job: { kind: 'stream', stream: 'mixed', events: Math.ceil(events / 2), perChunk: 20 },
    },
    { name: 'token stream, 0.3', group: 'v03', peers: ALL, job: { kind: 'stream', stream: 'token-0.3', events, perChunk: 20 } },
    ...(['ascii', 'escaped', 'cjk'] as const).map(
      (stream): Workload => ({
        name: `long texts, ${stream}`,
        group: 'text',
        peers: ALL,
        job: { kind: 'stream', stream, events: Math.ceil(events / 3), perChunk: 20 },
      }),
    ),
    { name: 'events of 1 KiB', group: 'size', peers: ALL, job: sized(KIB, effort) },
    { name: 'events of 64 KiB', group: 'size', peers: WITHOUT_PLAIN, job: sized(64 * KIB, effort, 2) },
    { name: 'events of 4 MiB', group: 'size', peers: WITHOUT_PLAIN, job: sized(4 * MIB, effort, 2) },
    { name: 'first event', group: 'first', peers: WITHOUT_PLAIN, job: { kind: 'first event', streams: effort.firstEvents } },
    {
      name: 'TLS, unary, 32 at a time',
      group: 'tls',
      peers: WITHOUT_PLAIN,
      job: { kind: 'unary', concurrency: 32, milliseconds, atLeast, tls: true },
    },
    {
      name: 'TLS, token stream, 20 an HTTP chunk',
      group: 'tls',
      peers: ALL,
      job: { kind: 'stream', stream: 'token', events, perChunk: 20, tls: true },
    },
    {
      name: `${COUNT.format(effort.slowStreams)} slow streams`,
      group: 'slow',
      peers: WITHOUT_PLAIN,
      job: { kind: 'slow', streams: effort.slowStreams, milliseconds: effort.slowMs },
    },
  ];
}

/** Three sizes of one thing; what one unit of it costs is to be the same in each. */
export interface Growth {
  readonly what: 'bytes' | 'events' | 'streams';
  readonly unit: string;
  /** Which figure of the job, */
  readonly figure: number;
  /** and by what it is divided for the cost of a unit. */
  readonly sizes: readonly { readonly size: number; readonly label: string; readonly job: Job; readonly divideBy: number }[];
}

export function growthsOf(effort: Effort): readonly Growth[] {
  return [
    {
      what: 'bytes',
      unit: 'CPU ns/byte',
      figure: 1,
      sizes: [256 * KIB, MIB, 4 * MIB].map((size) => {
        const job = sized(size, effort, 2);
        // The first event and the last are small; the first is not measured.
        const divideBy = ((size / 1000) * (job.events - 2)) / (job.events - 1);
        return { size, label: `events of ${COUNT.format(size / KIB)} KiB`, job, divideBy };
      }),
    },
    {
      what: 'events',
      unit: 'CPU µs/event',
      figure: 1,
      sizes: [0.4, 1.2, 3.6].map((times) => {
        const size = Math.ceil(effort.events * times);
        const job: Job = { kind: 'stream', stream: 'token', events: size, perChunk: 20 };
        return { size, label: `${COUNT.format(size)} events`, job, divideBy: 1 };
      }),
    },
    {
      what: 'streams',
      unit: 'CPU µs/event',
      figure: 0,
      sizes: [0.25, 0.5, 1].map((times) => {
        const size = Math.ceil(effort.slowStreams * times);
        const job: Job = { kind: 'slow', streams: size, milliseconds: effort.slowMs };
        return { size, label: `${COUNT.format(size)} slow streams`, job, divideBy: 1 };
      }),
    },
  ];
}
