/** Which dialect an agent speaks, without a card: found out by a request that changes nothing. */
import { randomUUID } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { StrictClient } from '../client.js';
import type { ProtocolVersion } from '../dialect/dialect.js';
import { isPlain } from '../dialect/values.js';
import { Failure, type Refusal } from '../failure.js';
import { checkCallOptions, type CallOptions } from '../options.js';
import { refused } from '../policy/checker.js';
import { checkDispatcher } from '../wire/dispatcher.js';
import { attempt } from './fetch.js';
import { Flight, Waiter, type Patience, type Work } from './flight.js';
import { urlOf } from './location.js';

/** The policy of a probe's requests. `timeoutMs` and `signal` are those of the whole probe. */
export type ProbeOptions = Omit<CallOptions, 'protocolVersion'>;

/** The same, checked, in the form in which the client takes it. */
interface Probe {
  readonly options: Omit<CallOptions, 'protocolVersion' | 'signal' | 'timeoutMs'> & { readonly endpoint: string };
  readonly patience: Patience;
}

/**
 * Asks for a task that there is none of, in 1.0, and in 0.3 if the agent answers with -32601, -32009 or HTTP 400: two requests at most,
 * never one that has an effect.
 *
 * A dialect is proven by the task's absence or by another error of A2A's own, which only an agent gives that has understood the method.
 * Whatever else comes is the failure of the probe.
 * @throws {Failure} as `StrictClient.getTask`
 */
export function probeDialect(dispatcher: Dispatcher, options: ProbeOptions): Promise<ProtocolVersion> {
  return attempt(() => {
    const { options: checked, patience } = checkProbe(dispatcher, options);
    const waiter = new Waiter();
    return waiter.run(patience, () => waiter.join(fly(dispatcher, checked)));
  });
}

/** The most endpoints that a {@link DialectProbe} remembers. */
const MAX_REMEMBERED = 256;

/**
 * Remembers what {@link probeDialect} found out, by endpoint and tenant. Probes of the same at once share their requests, if their options
 * have the same values. A probe that fails is not remembered.
 */
export class DialectProbe {
  readonly #remembered = new Map<string, ProtocolVersion>();
  readonly #flights = new Map<string, Flight<ProtocolVersion>>();
  readonly #dispatchers = new WeakMap<Dispatcher, number>();
  #dispatchersSeen = 0;

  /** @throws {Failure} as `probeDialect` */
  dialect(dispatcher: Dispatcher, options: ProbeOptions): Promise<ProtocolVersion> {
    return attempt(() => {
      const { options: checked, patience } = checkProbe(dispatcher, options);
      const place = JSON.stringify([checked.endpoint, checked.tenant]);
      const waiter = new Waiter();
      return waiter.run(patience, () => {
        const remembered = this.#remembered.get(place);
        return remembered === undefined ? waiter.join(this.#flight(dispatcher, checked, place)) : Promise.resolve(remembered);
      });
    });
  }

  #flight(dispatcher: Dispatcher, options: Probe['options'], place: string): Flight<ProtocolVersion> {
    const key = this.#keyOf(dispatcher, options);
    const found = key === undefined ? undefined : this.#flights.get(key);
    if (found !== undefined) return found;
    const land = (): void => {
      if (key !== undefined) this.#flights.delete(key);
    };
    const flight = fly(dispatcher, options, land);
    flight.result.then((version) => {
      land();
      this.#remember(place, version);
    }, land);
    if (key !== undefined) this.#flights.set(key, flight);
    return flight;
  }

  /** What flights are shared by; nothing where there are interceptors, which see each request. */
  #keyOf(dispatcher: Dispatcher, options: Probe['options']): string | undefined {
    if (options.interceptors !== undefined && options.interceptors.length > 0) return undefined;
    let identity = this.#dispatchers.get(dispatcher);
    if (identity === undefined) {
      identity = this.#dispatchersSeen++;
      this.#dispatchers.set(dispatcher, identity);
    }
    return JSON.stringify([identity, options]);
  }

  #remember(place: string, version: ProtocolVersion): void {
    this.#remembered.set(place, version);
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= MAX_REMEMBERED) return;
      this.#remembered.delete(oldest);
    }
  }
}

function checkProbe(dispatcher: unknown, options: unknown): Probe {
  const refusal = checkDispatcher(dispatcher);
  if (refusal !== undefined) throw refusal;
  if (!isPlain(options)) throw refused('options.unknown', 'the options are no plain object');
  if (Object.hasOwn(options, 'protocolVersion')) throw refused('options.unknown', 'the protocol version is what a probe finds out');
  const { endpoint, signal, timeoutMs, protocolVersion: _, ...others } = checkCallOptions({ ...options, protocolVersion: '1.0' });
  return { options: { ...others, endpoint: urlOf(endpoint) }, patience: { signal, timeoutMs } };
}

function fly(dispatcher: Dispatcher, options: Probe['options'], left?: () => void): Flight<ProtocolVersion> {
  const controller = new AbortController();
  const work: Work = {
    // Of two requests, the one or the other may have left.
    failure: ({ rule, path, reason }: Refusal) => new Failure(rule, { delivery: 'unknown', path, cause: reason }),
    stop: () => {
      controller.abort();
    },
  };
  return new Flight(work, probe(new StrictClient(dispatcher), { ...options, signal: controller.signal }), left);
}

async function probe(client: StrictClient, options: ProbeOptions): Promise<ProtocolVersion> {
  const params = { id: randomUUID() };
  try {
    await client.getTask({ ...options, protocolVersion: '1.0' }, params);
    return '1.0';
  } catch (error) {
    if (isUnderstood(error)) return '1.0';
    // In 0.3 there are no tenants: it is not what the caller asks about.
    if (!isOtherDialect(error) || (options.tenant ?? '') !== '') throw error;
  }
  try {
    await client.getTask({ ...options, protocolVersion: '0.3' }, params);
  } catch (error) {
    if (!isUnderstood(error)) throw error;
  }
  return '0.3';
}

const VERSION_NOT_SUPPORTED = -32009;
const METHOD_NOT_FOUND = -32601;

/** An error of A2A's own range (section 5.4), but for the one that says that the version is another. */
function isUnderstood(error: unknown): boolean {
  return error instanceof Failure && error.code !== undefined && error.code <= -32001 && error.code > VERSION_NOT_SUPPORTED;
}

function isOtherDialect(error: unknown): boolean {
  return error instanceof Failure && (error.code === METHOD_NOT_FOUND || error.code === VERSION_NOT_SUPPORTED || error.status === 400);
}
