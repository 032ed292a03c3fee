/** Which of a card's interfaces a call goes to (A2A 1.0 section 8.3.2). Pure. */
import type { AgentCard } from '@a2a-js/sdk';
import * as v from 'valibot';
import type { ProtocolVersion } from '../dialect/dialect.js';
import { check, list, object, text } from '../dialect/values.js';
import { Refusal } from '../failure.js';
import { optionChecker, type OptionTable } from '../policy/checker.js';
import { endpointOf, type Endpoint } from '../policy/endpoint.js';
import { none } from '../policy/http.js';
import { notSent } from './flight.js';
import { baseEndpoint, urlOf } from './location.js';

/** What a caller says of the interface to select. */
export interface SelectOptions {
  /** The base URL that the card was fetched for. */
  readonly baseUrl: string | URL;
  /**
   * An interface may be on another origin (scheme, host, port) than the base URL: whoever wrote the card decides where calls go. Absent:
   * the URL of such a one is ignored, and calls go to the base URL.
   */
  readonly allowCrossOriginInterfaces?: true | undefined;
  /** The dialects that may be selected. Absent: both. */
  readonly protocolVersions?: readonly ProtocolVersion[] | undefined;
}

/** Where calls go, and in which dialect. */
export interface SelectedInterface {
  /** The exact URL to call. */
  readonly endpoint: string;
  /** The dialect to speak there. */
  readonly protocolVersion: ProtocolVersion;
  /** The tenant to put into each request; empty where there is none. */
  readonly tenant: string;
  /**
   * `base_match`: it is the interface at the base URL. `first_listed`: the first that fits. `base_fallback`: the first that fits, but its
   * URL is not to be used, and the base URL stands in for it.
   */
  readonly reason: 'base_match' | 'first_listed' | 'base_fallback';
}

/**
 * What `unwrap()` of `card.interface` gives: what the card offers, in the agent's own words. At most 32 interfaces, each word cut at 256
 * characters.
 */
export class OfferedInterfaces extends Error {
  readonly offered: readonly { readonly url: string; readonly protocolBinding: string; readonly protocolVersion: string }[];
  /** How many there are in the card. */
  readonly count: number;

  /** @internal */
  constructor(interfaces: readonly Interface[]) {
    super('no interface of the card fits');
    const cut = (word: string): string => word.slice(0, 256);
    this.offered = interfaces.slice(0, 32).map(({ url, protocolBinding, protocolVersion }) => ({
      url: cut(url),
      protocolBinding: cut(protocolBinding),
      protocolVersion: cut(protocolVersion),
    }));
    this.count = interfaces.length;
  }
}

interface Interface {
  readonly url: string;
  readonly protocolBinding: string;
  readonly protocolVersion: string;
  readonly tenant: string;
}

/** Of the card, this is all that is read. */
const OFFERING = object({ supportedInterfaces: list(object({ url: text, protocolBinding: text, protocolVersion: text, tenant: text })) });

interface SelectPolicy {
  readonly baseUrl: Endpoint;
  readonly allowCrossOriginInterfaces: true | undefined;
  readonly protocolVersions: readonly ProtocolVersion[];
}
const SELECT: OptionTable<SelectPolicy> = {
  baseUrl: ['options.endpoint', v.pipe(v.unknown(), v.transform(baseEndpoint))],
  allowCrossOriginInterfaces: ['options.endpoint', v.optional(v.literal(true), none)],
  protocolVersions: ['options.dialect', v.optional(v.array(v.picklist(['1.0', '0.3'])), () => ['1.0' as const, '0.3' as const])],
};
const checkSelect = optionChecker(SELECT);

/**
 * The interface to call: the first of the card's with the JSON-RPC binding and a version of a dialect that is spoken here, or of those the
 * one at the base URL.
 * @throws {Failure} `card.interface`: none fits, see {@link OfferedInterfaces}; `options.*`; `request.params`: no card
 */
export function selectInterface(card: AgentCard, options: SelectOptions): SelectedInterface {
  try {
    return select(check(OFFERING, card, 'request.params').supportedInterfaces, checkSelect(options));
  } catch (error) {
    throw error instanceof Refusal ? notSent(error) : error;
  }
}

function select(interfaces: readonly Interface[], policy: SelectPolicy): SelectedInterface {
  const { baseUrl, allowCrossOriginInterfaces, protocolVersions } = policy;
  const base = urlOf(baseUrl);
  let first: SelectedInterface | undefined;
  for (const { url, protocolBinding, protocolVersion: version, tenant } of interfaces) {
    const protocolVersion = protocolBinding === 'JSONRPC' ? dialectOf(version) : undefined;
    if (protocolVersion === undefined || !protocolVersions.includes(protocolVersion)) continue;
    // 0.3 has no tenants.
    const spoken = { protocolVersion, tenant: protocolVersion === '1.0' ? tenant : '' };
    const endpoint = usable(url);
    const found = endpoint === undefined ? undefined : urlOf(endpoint);
    if (found === base) return { endpoint: base, ...spoken, reason: 'base_match' };
    const isAllowed = endpoint?.origin === baseUrl.origin || allowCrossOriginInterfaces === true;
    first ??=
      found !== undefined && isAllowed
        ? { endpoint: found, ...spoken, reason: 'first_listed' }
        : { endpoint: base, ...spoken, reason: 'base_fallback' };
  }
  if (first === undefined) throw new Refusal('card.interface', { reason: new OfferedInterfaces(interfaces) });
  return first;
}

const VERSION = /^([01])\.(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Versions compare by Major.Minor (section 3.6); the minors of a major are compatible. What is no version is no dialect's. */
function dialectOf(version: string): ProtocolVersion | undefined {
  const [, major] = VERSION.exec(version) ?? [];
  return major === '1' ? '1.0' : major === '0' ? '0.3' : undefined;
}

/** An endpoint as exact as a caller's, and one that there can be: agents tell the address that they listen on, `0.0.0.0`. */
function usable(url: string): Endpoint | undefined {
  let endpoint: Endpoint;
  try {
    endpoint = endpointOf(url);
  } catch {
    return undefined;
  }
  return UNROUTABLE.test(new URL(endpoint.origin).hostname) ? undefined : endpoint;
}

/**
 * As the URL parser writes them: 0.0.0.0/8 (RFC 1122 section 3.2.1.3), `::` (RFC 4291 section 2.5.2), and an IPv4 address of that kind
 * inside an IPv6 one: mapped (section 2.5.5.2) or translated (RFC 6052).
 */
const UNROUTABLE = /^(?:0\.\d+\.\d+\.\d+|\[::\]|\[::ffff:[0-9a-f]{1,2}:[0-9a-f]+\]|\[64:ff9b::(?:[0-9a-f]{1,2}:)?[0-9a-f]*\])$/;
