/** Plays one fault of the table: one call against it, and how what came of it differs from what the table says. */
import { getEventListeners } from 'node:events';
import { Agent, type Dispatcher } from 'undici';
import { Failure, StrictClient, userText } from '../../lib/index.js';
import { callOptions, pass, streamOptions, type Options } from './calls.js';
import type { Fault } from './faults.js';
import { RawServer } from './raw_server.js';

/**
 * How much longer than its clock a call may take, in ms, on a machine that is busy. It is below any clock that could be taken for ours:
 * undici's own are 10 s for a connection and 300 s for a head or a body.
 */
const SLACK_MS = 9000;

/** A timer may fire a little early by the clock that it is held against. */
const EARLY_MS = 2;

/** So small that no flood takes long. */
const BOUNDS: Options = { maxResponseBytes: 128 * 1024, maxEventBytes: 128 * 1024 };

const LARGE = 'x'.repeat(8 << 20);

export type CallKind = 'unary' | 'stream';

/** One line each; empty where the table is right. `patienceMs`: how long what is to happen behind the call may take. */
export async function playFault(fault: Fault, kind: CallKind, patienceMs = SLACK_MS): Promise<string[]> {
  const { answer = () => undefined, accepted, tls, warmMs, requests = 1 } = fault;
  const server = await RawServer.listen(answer, { ...(accepted && { accepted }), ...(tls && { tls }) });
  // An idle connection is not to go by itself.
  const agent = new Agent({ keepAliveTimeout: 60_000, ...fault.agent });
  const endpoint = fault.endpoint?.(server) ?? server.origin;
  const { signal } = new AbortController();
  const options = { signal, ...BOUNDS, ...fault.options };
  try {
    const differ: string[] = [];
    if (warmMs !== undefined) {
      const warm = await outcomeOf(agent, endpoint, {}, kind, 'hello');
      if (!warm.endsWith('ok')) differ.push(`the call before: ${warm}`);
      if (warmMs > 0) await pass(warmMs);
    }
    const start = performance.now();
    const outcome = await outcomeOf(agent, endpoint, options, kind, fault.isLarge === true ? LARGE : 'hello');
    const took = performance.now() - start;
    differ.push(
      ...judgeOutcome(fault[kind] ?? [], outcome),
      ...judgeTime(took, fault.clockMs ?? 0),
      ...(getEventListeners(signal, 'abort').length === 0 ? [] : ['a listener is left on the signal']),
      ...(await judgeConnections(server, fault.leaves, patienceMs)),
      ...(server.requests.length <= requests ? [] : [`${server.requests.length} requests`]),
      ...(new Set(server.requests.map(({ id }) => id)).size === server.requests.length ? [] : ['a request came twice']),
      ...(await judgeClose(server, agent, patienceMs)),
    );
    return differ;
  } finally {
    await agent.destroy();
    await server.close();
  }
}

/** The events of a stream, then `ok`, or kind, rule and delivery. Anything but a `Failure` is thrown on. */
async function outcomeOf(dispatcher: Dispatcher, endpoint: string, options: Options, kind: CallKind, text: string): Promise<string> {
  const client = new StrictClient(dispatcher);
  let events = 0;
  const line = (end: string): string => (kind === 'stream' ? `${events} ${end}` : end);
  try {
    if (kind === 'unary') await client.call(callOptions(endpoint, options), 'Anything', { text });
    else for await (const _ of client.sendStreamingMessage(streamOptions(endpoint, options), { message: userText(text) })) events++;
    return line('ok');
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return line(`${error.kind} ${error.rule} ${error.delivery}`);
  }
}

function judgeOutcome(expected: string | readonly string[], outcome: string): string[] {
  const allowed = typeof expected === 'string' ? [expected] : expected;
  // As many events as came in the time there was.
  const isAllowed = allowed.some((line) => line === outcome || (line.startsWith('any ') && line.slice(4) === outcome.replace(/^\d+ /, '')));
  return isAllowed ? [] : [`expected ${allowed.join(', or ')}; got ${outcome}`];
}

function judgeTime(took: number, clockMs: number): string[] {
  return took >= clockMs - EARLY_MS && took < clockMs + SLACK_MS ? [] : [`took ${took.toFixed(0)} ms, with ${clockMs} on the clock`];
}

/** What the server sees of the call once it is over. */
async function judgeConnections(server: RawServer, leaves: Fault['leaves'], patienceMs: number): Promise<string[]> {
  if (leaves === undefined) return happens(() => server.sockets.size === 0, 'the server sees no connection left', patienceMs);
  // One that is not kept has had its chance to close.
  await pass(20);
  const { size } = server.sockets;
  return size === 1 || (size === 0 && leaves === 'an idle connection or none') ? [] : [`expected ${leaves}; there are ${size}`];
}

/** The dispatcher has nothing to wait for, and takes every connection with it. */
async function judgeClose(server: RawServer, agent: Agent, patienceMs: number): Promise<string[]> {
  let isClosed = false;
  void agent.close().then(() => {
    isClosed = true;
  });
  return [
    ...(await happens(() => isClosed, 'the dispatcher can be closed', patienceMs)),
    ...(await happens(() => server.sockets.size === 0, 'the connections close with it', patienceMs)),
  ];
}

async function happens(holds: () => boolean, what: string, patienceMs: number): Promise<string[]> {
  const end = performance.now() + patienceMs;
  while (!holds()) {
    if (performance.now() > end) return [`it never happened that ${what}`];
    await pass(2);
  }
  return [];
}
