/**
 * Who is compared: `StrictClient` and what else there is, each used in the leanest way it offers, and each loaded only where it is asked for.
 * Each looks at what it is given, so that none can skip it.
 */
import type { StreamKind } from './wire.js';

/** What a peer has seen of a stream so far. */
export interface Streamed {
  events: number;
  /** Characters of text, all artifact chunks together; `bytes` counts bytes. */
  characters: number;
  /** When the first event was there, and what CPU time had been used by then: `performance.now()`, microseconds. */
  firstAt: number;
  firstCpu: number;
}

export interface Peer {
  /** One unary call; gives the length of the first artifact's text. */
  getTask(): Promise<number>;
  /** One stream of so many events, to its end; `seen` is kept up to date meanwhile. */
  stream(events: number, perChunk: number, kind?: StreamKind, seen?: Streamed): Promise<Streamed>;
  /** One token stream of so many events a second. */
  slow(events: number, perSecond: number, seen: Streamed): Promise<Streamed>;
}

export type PeerName = 'strict' | 'strict-plain' | 'sdk' | 'undici' | 'bytes';

/** Takes the base URL of the server. */
export const PEERS: Readonly<Record<PeerName, (base: string) => Promise<Peer>>> = {
  /** Every check on; defaults. */
  strict: async (base) => (await import('./peers/strict.js')).strictClient(base),
  /** The same without the short cut for events that repeat others. */
  'strict-plain': async (base) => (await import('./peers/strict.js')).strictClient(base, { repeatRecognition: false }),
  /** The official SDK's transport, without the `Client` around it. */
  sdk: async (base) => (await import('./peers/sdk.js')).sdkTransport(base),
  /** No A2A client: `undici.request`, eventsource-parser, `JSON.parse`. Nothing is checked. */
  undici: async (base) => (await import('./peers/undici.js')).bareUndici(base),
  /** Only counts bytes: nobody can be faster on undici. */
  bytes: async (base) => (await import('./peers/bytes.js')).bytesOnly(base),
};

/** Nothing seen yet. */
export function nothing(): Streamed {
  return { events: 0, characters: 0, firstAt: 0, firstCpu: 0 };
}

export function countEvent(seen: Streamed): void {
  if (seen.events++ === 0) {
    const { user, system } = process.cpuUsage();
    seen.firstCpu = user + system;
    seen.firstAt = performance.now();
  }
}

export function streamUrl(base: string, kind: StreamKind, events: number, perChunk: number): string {
  return `${base}stream/${String(kind)}/${String(events)}/${String(perChunk)}`;
}

export function slowUrl(base: string, events: number, perSecond: number): string {
  return `${base}slow/token/${String(events)}/${String(perSecond)}`;
}
