/**
 * Connections that are made only where the network policy lets them, and only so many: addresses are judged before the first packet, and
 * those that were judged are those that are connected to.
 */
import { Socket, isIP, isIPv4, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { Failure } from '../failure.js';
import { canonicalAddress, judgeAddress, type NetworkPolicy, type Target } from './network.js';

/** As undici's, which do return the socket that they connect: a connection that nobody waits for any more is given up by it. */
export type Connector = (options: buildConnector.Options, callback: buildConnector.Callback) => unknown;

/** The caller's own bound: no network's fault. */
class TooManyConnections extends Error {
  readonly code = 'ERR_TOO_MANY_CONNECTIONS';

  constructor() {
    super('there are maxConnections connections already');
  }
}

/**
 * Keeps the connections of all connectors that it is put around within a bound. undici has none: its `maxOrigins` counts an origin for ever
 * all of whose connections failed at once.
 */
export class ConnectionLimit {
  readonly #most: number;
  readonly #open = new Set<Socket>();

  constructor(most: number) {
    this.#most = most;
  }

  around(connector: Connector): Connector {
    return (options, callback) => {
      if (this.#isFull()) {
        queueMicrotask(() => {
          callback(new TooManyConnections(), null);
        });
        return undefined;
      }
      const socket = connector(options, callback);
      if (socket instanceof Socket) {
        this.#open.add(socket);
        socket.once('close', () => this.#open.delete(socket));
      }
      return socket;
    };
  }

  #isFull(): boolean {
    if (this.#open.size < this.#most) return false;
    // One that has just failed says so a little later than undici makes the next.
    for (const socket of this.#open) if (socket.destroyed) this.#open.delete(socket);
    return this.#open.size >= this.#most;
  }
}

/**
 * Refuses a connection on which the peer spoke before it was asked. What comes with the answer of a proxy that opens a tunnel is there before
 * undici looks: it would take it for an answer to nothing, close, and connect again without end, also for a call that is long over.
 */
export function quietConnector(connector: Connector): Connector {
  return (options, callback) =>
    connector(options, (...result) => {
      const [error, socket] = result;
      if (error !== null || socket.readableLength === 0) {
        callback(...result);
        return;
      }
      socket.on('error', () => undefined).destroy();
      callback(new Error('the peer spoke before it was asked'), null);
    });
}

interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The refusal of any of these. */
type Judge = (addresses: readonly Address[]) => Failure | undefined;

/** What a lookup answers with. */
type Answer = Parameters<Parameters<LookupFunction>[2]>[1];

/**
 * @param resolve what resolves names
 * @param connectorOf makes the connector, with what it is to resolve names with
 */
export function guardedConnector(
  policy: NetworkPolicy,
  resolve: LookupFunction,
  connectorOf: (lookup: LookupFunction) => Connector,
): Connector {
  if (policy === 'any') return connectorOf(judgedLookup(resolve, () => undefined));
  return (options, callback) => {
    const target = { host: options.hostname, port: Number(options.port) || (options.protocol === 'https:' ? 443 : 80) };
    const judged = new Set<string>();
    const judge: Judge = (addresses) => judgeAll(policy, target, addresses, judged);

    // Node resolves no address: it would never ask.
    if (isIP(options.hostname) !== 0) {
      const refused = judge([addressOf(options.hostname)]);
      if (refused !== undefined) {
        queueMicrotask(() => {
          callback(refused, null);
        });
        return undefined;
      }
    }
    return connectorOf(judgedLookup(resolve, judge))(options, (...result) => {
      const [error, socket] = result;
      const stray = error === null ? strayed(socket, judged) : undefined;
      if (stray === undefined) {
        callback(...result);
        return;
      }
      socket?.destroy();
      callback(stray, null);
    });
  };
}

/** A name any of whose addresses is refused is refused whole. */
function judgeAll(policy: NetworkPolicy, target: Target, addresses: readonly Address[], judged: Set<string>): Failure | undefined {
  for (const { address } of addresses) {
    const canonical = canonicalAddress(address);
    const refused = judgeAddress(policy, canonical, target);
    if (refused !== undefined) return refused;
    judged.add(canonical);
  }
  return undefined;
}

/** What is resolved once is judged, and handed on as it was judged: nobody resolves the name a second time. */
export function judgedLookup(resolve: LookupFunction, judge: Judge): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, answer) => {
      const found = judgedAnswer(error, answer, judge);
      if (found instanceof Error) callback(found, []);
      else if (options.all === true) callback(null, found);
      else callback(null, found[0].address, found[0].family);
    });
  };
}

/** The addresses of an answer, or why there are none. */
function judgedAnswer(error: unknown, answer: Answer, judge: Judge): [Address, ...Address[]] | Error {
  if (error != null) return asError(error);
  try {
    const [first, ...others] = addressesOf(answer);
    if (first === undefined) return new Error('the lookup found no address');
    return judge([first, ...others]) ?? [first, ...others];
  } catch (wrong) {
    return asError(wrong);
  }
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error('the lookup failed', { cause: value });
}

/** Each read once: what a lookup of other make hands over might say something else the second time. */
function addressesOf(answer: Answer): Address[] {
  return typeof answer === 'string' ? [addressOf(answer)] : answer.map(({ address }) => addressOf(address));
}

/** The family is what the address says, whatever the lookup does. */
function addressOf(address: string): Address {
  return { address, family: isIPv4(address) ? 4 : 6 };
}

/** Whether a connection is to another address than those that were judged: the last look, at what the system says. */
function strayed({ remoteAddress, destroyed }: Socket, judged: ReadonlySet<string>): Error | undefined {
  if (destroyed) return undefined;
  if (remoteAddress === undefined) return new Error('the connection was lost before its address could be seen');
  if (judged.has(canonicalAddress(remoteAddress))) return undefined;
  const cause = new Error(`connected to ${remoteAddress}, which was never judged`);
  return new Failure('network.refused', { delivery: 'not_sent', cause });
}
