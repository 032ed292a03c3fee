/**
 * The soak: hundreds of streams at a time, each with a fault of its own, for as long as is asked. Every call settles, once, with what its
 * fault allows, and leaves nothing behind.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { Failure, StrictClient, userText, type CallInterceptor, type EventStream, type StreamOptions } from '../../lib/index.js';
import { Random } from '../stream/random.js';
import { pass } from './calls.js';
import { MAX_EVENT_BYTES, SOAK_FAULTS, isAllowed, type SoakFault, type SoakOutcome, type SoakServerReport } from './soak_faults.js';

export interface Soak {
  readonly seed: number;
  /** Streams at the same time. */
  readonly streams: number;
  readonly milliseconds: number;
  /** Called now and then while the streams run. */
  readonly watch?: () => void;
}

export interface SoakReport {
  /** Calls that settled, by fault and outcome. */
  readonly calls: ReadonlyMap<SoakFault, ReadonlyMap<SoakOutcome, number>>;
  readonly total: number;
  /** What must not have happened, one line each. */
  readonly wrong: readonly string[];
  /** Once the dispatcher was closed. */
  readonly server: SoakServerReport;
}

const FAULTS = Object.keys(SOAK_FAULTS) as SoakFault[];

/** A call that has not settled so long after the last was begun hangs, in ms: whatever a fault may take, it is a fraction of this. */
const HANGS_AFTER_MS = 30_000;
/** How often `watch` is called, in ms. */
const WATCH_MS = 500;
/** Wrong lines that are kept: the first ones tell. */
const LINES = 20;

export async function soak({ seed, streams, milliseconds, watch }: Soak): Promise<SoakReport> {
  const child = fork(fileURLToPath(new URL('./soak_server.ts', import.meta.url)));
  const dispatcher = new Agent();
  const unhandled = (reason: unknown): void => void wrong.push(`unhandled rejection: ${String(reason)}`);
  const wrong: string[] = [];
  process.on('unhandledRejection', unhandled);
  try {
    const [port] = (await once(child, 'message')) as [number];
    const calls = new Map<SoakFault, Map<SoakOutcome, number>>();
    const pending = new Set<string>();
    const seeds = new Random(seed);
    const end = performance.now() + milliseconds;
    let total = 0;
    const caller = async (): Promise<void> => {
      while (performance.now() < end) {
        const own = seeds.below(2 ** 31);
        const fault = new Random(own).pick(FAULTS);
        const name = `${fault}, seed ${own}`;
        pending.add(name);
        const endpoint = `http://127.0.0.1:${port}/${encodeURIComponent(fault)}/${own}`;
        const { outcome, faults } = await settle(new StrictClient(dispatcher), endpoint, fault, new Random(own));
        pending.delete(name);
        total++;
        const counts = calls.get(fault) ?? new Map<SoakOutcome, number>();
        calls.set(fault, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
        for (const line of faults) wrong.push(`${name}: ${line}`);
      }
    };
    const watcher = watch === undefined ? undefined : setInterval(watch, WATCH_MS);
    const callers = Promise.all(Array.from({ length: streams }, caller));
    const patience = new AbortController();
    const isOver = await Promise.race([callers.then(() => true), sleep(milliseconds + HANGS_AFTER_MS, false, { signal: patience.signal })]);
    patience.abort();
    clearInterval(watcher);
    if (!isOver) wrong.push(...[...pending].map((name) => `hangs: ${name}`));
    await (isOver ? dispatcher.close() : dispatcher.destroy());
    return { calls, total, wrong: wrong.slice(0, LINES), server: await reportOf(child) };
  } finally {
    process.off('unhandledRejection', unhandled);
    await dispatcher.destroy();
    child.disconnect();
    if (child.exitCode === null) await once(child, 'exit');
  }
}

/** What the server has of the client once it has seen the last connection close; it is asked for some seconds. */
async function reportOf(child: ChildProcess): Promise<SoakServerReport> {
  for (let i = 0; ; i++) {
    child.send('report');
    const [report] = (await once(child, 'message')) as [SoakServerReport];
    if (report.sockets === 0 || i === 50) return report;
    await pass(100);
  }
}

interface Settled {
  readonly outcome: SoakOutcome;
  /** What is wrong with how it settled. */
  readonly faults: string[];
}

async function settle(client: StrictClient, endpoint: string, fault: SoakFault, random: Random): Promise<Settled> {
  let ends = 0;
  const counting: CallInterceptor = {
    before: () => undefined,
    after: () => {
      ends++;
    },
  };
  const [signal, stopClock] = signalFor(fault, random);
  const options: StreamOptions = {
    endpoint,
    protocolVersion: '1.0',
    maxResponseBytes: 64 * 1024,
    maxEventBytes: MAX_EVENT_BYTES,
    interceptors: [counting],
    signal,
    ...clocksFor(fault, random),
  };
  const stream = client.sendStreamingMessage(options, { message: userText('hello') });
  const outcome = await consume(stream, fault, random);
  stopClock();
  const faults = isAllowed(fault, outcome) ? [] : [`ended with ${outcome}`];
  // One outcome: there is nothing behind it.
  const behind = await Promise.all([stream.next(), stream.return(), stream.next()]);
  if (behind.some(({ done }) => done !== true)) faults.push('goes on behind its end');
  if (ends !== 1) faults.push(`${ends} ends`);
  if (getEventListeners(signal, 'abort').length > 0) faults.push('a listener is left on the signal');
  return { outcome, faults };
}

/** A long clock takes part in every call, so that one that is left running is found. */
function clocksFor(fault: SoakFault, random: Random): Partial<StreamOptions> {
  const long = { connectTimeoutMs: 120_000, timeoutMs: 120_000, idleTimeoutMs: 120_000 };
  if (!fault.startsWith('stalled')) return long;
  // Longer than the agent pauses.
  const clock = 500 + random.below(500);
  return random.below(2) === 0 ? { ...long, idleTimeoutMs: clock } : { ...long, timeoutMs: clock + 500 };
}

/** The signal, and how to stop what would abort it later. */
function signalFor(fault: SoakFault, random: Random): [AbortSignal, () => void] {
  const controller = new AbortController();
  if (fault === 'a signal that times out') return [AbortSignal.timeout(1 + random.below(400)), () => undefined];
  if (fault !== 'canceled at some time') return [controller.signal, () => undefined];
  const timer = setTimeout(() => {
    controller.abort();
  }, random.below(400));
  return [controller.signal, () => { clearTimeout(timer); }];
}

async function consume(stream: EventStream, fault: SoakFault, random: Random): Promise<SoakOutcome> {
  const leavesAt = 1 + random.below(2);
  let events = 0;
  try {
    if (fault === 'left while it waits') return await leave(stream, random);
    for await (const _ of stream) {
      events++;
      if (fault === 'left at some event' && events === leavesAt) break;
      if (fault === 'a slow consumer') await pass(random.below(80));
    }
    return fault === 'left at some event' ? 'left' : 'ok';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.rule;
  }
}

/** Calls `return()` while a `next()` is pending: that one is answered with the end. */
async function leave(stream: EventStream, random: Random): Promise<SoakOutcome> {
  const reading = (async () => {
    for await (const _ of { [Symbol.asyncIterator]: () => ({ next: () => stream.next() }) });
  })();
  const isOver = await Promise.race([reading.then(() => true), pass(random.below(200)).then(() => false)]);
  await stream.return();
  await reading;
  return isOver ? 'ok' : 'left';
}
