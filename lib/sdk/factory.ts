/** `StrictTransportFactory`: from an interface of an agent's card to the transport that speaks its dialect. */
import type { AgentCard, AgentInterface } from '@a2a-js/sdk';
import type { Transport, TransportFactory } from '@a2a-js/sdk/client';
import { isObject } from '../dialect/values.js';
import { selectInterface } from '../discovery/index.js';
import { Failure, failureOf } from '../failure.js';
import { checkTransportOptions, type StrictTransportOptions, type TransportPolicy } from './options.js';
import { notSent } from './refusal.js';
import { StrictTransport } from './transport.js';

const BINDING = 'JSONRPC';

/**
 * Makes the transports of an SDK `ClientFactory` for the `JSONRPC` binding, in place of the SDK's `JsonRpcTransportFactory`.
 *
 * Calls go to the URL of the interface that the `ClientFactory` picks from the card, whatever its origin: which addresses may be connected to is the
 * dispatcher's to judge (`hardenedAgent`).
 */
export class StrictTransportFactory implements TransportFactory {
  readonly protocolName = BINDING;
  readonly #policy: TransportPolicy;

  /** @throws {Failure} `options.*` */
  constructor(options: StrictTransportOptions) {
    try {
      this.#policy = checkTransportOptions(options);
    } catch (error) {
      throw notSent(error);
    }
  }

  /**
   * The transport for the interface of `agentCard` at `url`: in 1.0 where the card says so, or else in 0.3.
   * Rejects with `card.interface` where the card names no version there that is spoken here, or `url` is no exact `http(s)` URL.
   */
  // eslint-disable-next-line @typescript-eslint/require-await -- so that nothing throws synchronously
  async create(url: string, agentCard: AgentCard): Promise<Transport> {
    const there = { ...agentCard, supportedInterfaces: interfacesAt(url, agentCard) };
    let refusal: unknown;
    // 1.0 first, whatever comes first in the card: so the SDK's factory prefers them.
    for (const version of ['1.0', '0.3'] as const) {
      try {
        selectInterface(there, { baseUrl: url, protocolVersions: [version] });
        return new StrictTransport(this.#policy, url, version);
      } catch (error) {
        refusal = error;
      }
    }
    // Of the caller's options none is wrong: what is wrong with the URL is wrong with the card.
    throw new Failure('card.interface', { delivery: 'not_sent', cause: failureOf(refusal)?.unwrap() ?? refusal });
  }
}

/** A card's JSON-RPC interfaces at one URL. A card may come from anywhere: its type is the caller's word. */
function interfacesAt(url: string, card: unknown): AgentInterface[] {
  const interfaces: unknown = isObject(card) ? card['supportedInterfaces'] : undefined;
  if (!Array.isArray(interfaces)) return [];
  const there: AgentInterface[] = [];
  for (const one of interfaces as unknown[]) {
    if (!isObject(one) || one['url'] !== url) continue;
    const { protocolBinding, protocolVersion } = one;
    if (typeof protocolBinding !== 'string' || typeof protocolVersion !== 'string') continue;
    // The SDK's factory compares bindings whatever their case.
    if (protocolBinding.toUpperCase() === BINDING) there.push({ url, protocolBinding: BINDING, protocolVersion, tenant: '' });
  }
  return there;
}
