/** Where an agent's card is, and where calls go that no interface takes: both by the base URL. */
import { Refusal } from '../failure.js';
import { refused } from '../policy/checker.js';
import { endpointOf, type Endpoint } from '../policy/endpoint.js';

/** A2A 1.0 section 8.2, RFC 8615. */
const WELL_KNOWN = '/.well-known/agent-card.json';
/** A2A 0.2. */
const LEGACY = '/.well-known/agent.json';

export interface CardLocation {
  readonly card: Endpoint;
  /** Asked after a 404 alone. */
  readonly legacy: Endpoint | undefined;
}

/** @throws {Refusal} `options.endpoint` */
export function cardLocation(baseUrl: unknown, cardPath: string | undefined, allowLegacyCardPath: true | undefined): CardLocation {
  const base = baseOf(baseUrl);
  if (cardPath !== undefined) {
    if (allowLegacyCardPath === true) {
      throw refused('options.endpoint', 'a card path of your own and the legacy card path exclude each other');
    }
    return { card: onOrigin(base, cardPath), legacy: undefined };
  }
  const [path, query] = split(base.target);
  if (!path.endsWith(WELL_KNOWN) && query !== '') {
    throw refused('options.endpoint', 'a base URL with a query has no well-known path below it: give the card path too');
  }
  const below = path.endsWith(WELL_KNOWN) ? path.slice(0, -WELL_KNOWN.length) : path.replace(/\/$/, '');
  return {
    card: onOrigin(base, `${below}${WELL_KNOWN}${query}`),
    legacy: allowLegacyCardPath === true ? onOrigin(base, `${below}${LEGACY}`) : undefined,
  };
}

/**
 * The URL that the base URL itself stands for: without the well-known path, where it ends in that.
 * @throws {Refusal} `options.endpoint`
 */
export function baseEndpoint(baseUrl: unknown): Endpoint {
  const base = baseOf(baseUrl);
  const [path] = split(base.target);
  return path.endsWith(WELL_KNOWN) ? onOrigin(base, path.slice(0, -WELL_KNOWN.length)) : base;
}

/** The exact URL of an endpoint. */
export function urlOf({ origin, target }: Endpoint): string {
  return origin + target;
}

function baseOf(baseUrl: unknown): Endpoint {
  try {
    return endpointOf(baseUrl);
  } catch (error) {
    throw new Refusal('options.endpoint', { path: 'baseUrl', reason: error instanceof Refusal ? error.reason : error });
  }
}

function onOrigin({ origin }: Endpoint, target: string): Endpoint {
  // Only a path is certain to leave the origin as it is.
  if (target !== '' && !target.startsWith('/')) throw refused('options.endpoint', 'the card path does not begin with /');
  return endpointOf(origin + target);
}

function split(target: string): [path: string, query: string] {
  const at = target.indexOf('?');
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at)];
}
