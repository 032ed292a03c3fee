/** What the benchmark asks of the process of a peer; the answer is a list of numbers. */
export type Job =
  /** Calls, so many at once, for so long and until so many are done: calls a second, and CPU time of each in microseconds. */
  | { readonly kind: 'unary'; readonly concurrency: number; readonly milliseconds: number; readonly atLeast: number }
  /** One stream: events a second, and CPU time of each in microseconds. */
  | { readonly kind: 'stream'; readonly events: number; readonly perChunk: number }
  /** So many short streams, one after the other: the median time to the first event, in milliseconds. */
  | { readonly kind: 'first event'; readonly streams: number };

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}
