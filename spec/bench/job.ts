/** What the benchmark asks of the process of a peer, and what it gets: a list of numbers, told by {@link FIGURES}. */
import type { StreamKind } from './wire.js';

export type Job =
  /** Calls, so many at once, for so long and until so many are done. */
  | { readonly kind: 'unary'; readonly concurrency: number; readonly milliseconds: number; readonly atLeast: number; readonly tls?: true }
  /** One stream, from its first event to its last. */
  | { readonly kind: 'stream'; readonly stream: StreamKind; readonly events: number; readonly perChunk: number; readonly tls?: true }
  /** So many short streams, one after the other: the median time from the call to the first event. */
  | { readonly kind: 'first event'; readonly streams: number }
  /** So many streams at once, of 50 events a second each, looked at for so long. Wants a process that has done nothing else. */
  | { readonly kind: 'slow'; readonly streams: number; readonly milliseconds: number };

export interface Figure {
  readonly unit: string;
  readonly better: 'more' | 'less';
}

/** What the numbers of an answer are. CPU is user and system time of the whole process. */
export const FIGURES: Readonly<Record<Job['kind'], readonly Figure[]>> = {
  unary: [
    { unit: 'calls/s', better: 'more' },
    { unit: 'CPU µs/call', better: 'less' },
  ],
  stream: [
    { unit: 'events/s', better: 'more' },
    { unit: 'CPU µs/event', better: 'less' },
  ],
  'first event': [{ unit: 'ms', better: 'less' }],
  slow: [
    { unit: 'CPU µs/event', better: 'less' },
    { unit: 'RSS KiB/stream', better: 'less' },
    { unit: 'heap KiB/stream', better: 'less' },
  ],
};

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}
