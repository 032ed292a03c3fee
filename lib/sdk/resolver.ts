/** `StrictCardResolver`: the SDK's `AgentCardResolver` over discovery. */
import type { AgentCard } from '@a2a-js/sdk';
import type { AgentCardResolver } from '@a2a-js/sdk/client';
import type { Dispatcher } from 'undici';
import * as v from 'valibot';
import { AgentCardCache, fetchAgentCard, type CardOptions } from '../discovery/index.js';
import { checkCardOptions } from '../discovery/options.js';
import { optionChecker, refused } from '../policy/checker.js';
import { endpointOf } from '../policy/endpoint.js';
import { HTTP_OPTIONS, none } from '../policy/http.js';
import { checkDispatcher } from '../wire/dispatcher.js';
import { notSent } from './refusal.js';

/** How cards are fetched. Read once, when the resolver is made; the keys of `verify` each time that they are needed. */
export interface StrictCardResolverOptions extends Omit<CardOptions, 'signal'> {
  /** An undici `Agent` or the like, which the caller makes, shares and closes. */
  readonly dispatcher: Dispatcher;
  /** Where cards are kept; may be shared with others. Absent: each is fetched anew. */
  readonly cache?: AgentCardCache | undefined;
}

type CardPolicy = Omit<CardOptions, 'signal'>;

interface ResolverPolicy extends CardPolicy {
  readonly dispatcher: Dispatcher;
  readonly cache: AgentCardCache | undefined;
}

const { signal: _, ...HTTP } = HTTP_OPTIONS;

/** What is discovery's own, discovery checks. */
const asGiven = <T>(): v.GenericSchema<unknown, T> => v.custom<T>(() => true);

const checkOptions = optionChecker<{ readonly [N in keyof Required<ResolverPolicy>]: ResolverPolicy[N] }>({
  dispatcher: [
    'options.dispatcher',
    v.pipe(
      v.custom<Dispatcher>(() => true),
      v.check((value) => checkDispatcher(value) === undefined),
    ),
  ],
  cache: ['options.unknown', v.optional(v.instance(AgentCardCache), none)],
  maxCardBytes: ['options.limit', asGiven<CardOptions['maxCardBytes']>()],
  cardPath: ['options.endpoint', asGiven<CardOptions['cardPath']>()],
  allowLegacyCardPath: ['options.endpoint', asGiven<CardOptions['allowLegacyCardPath']>()],
  verify: ['card.keys', asGiven<CardOptions['verify']>()],
  ...HTTP,
});

/**
 * Fetches and checks agent cards for an SDK `ClientFactory`, in place of the SDK's `DefaultAgentCardResolver`: by the rules of
 * `a2a-strict/discovery`, with its cache and its judgement of signatures, cards of 0.3 included.
 */
export class StrictCardResolver implements AgentCardResolver {
  readonly #policy: ResolverPolicy;

  /** @throws {Failure} `options.*`, `card.keys` */
  constructor(options: StrictCardResolverOptions) {
    try {
      this.#policy = checkOptions(options);
      const { dispatcher: _, cache: __, ...card } = this.#policy;
      checkCardOptions(card);
    } catch (error) {
      throw notSent(error);
    }
  }

  /**
   * The card of the agent at `baseUrl`, deeply frozen. Rejects with a `Failure`.
   * @param path where the card is, relative to `baseUrl` and on its origin (`options.endpoint`); empty: at `baseUrl` itself. Absent: the
   * well-known path below `baseUrl`, or `cardPath`.
   */
  async resolve(baseUrl: string, path?: string): Promise<AgentCard> {
    const { dispatcher, cache, ...options } = this.#policy;
    let at: string;
    let how: CardPolicy;
    try {
      [at, how] = path === undefined ? [baseUrl, options] : placeOf(baseUrl, path, options);
    } catch (error) {
      throw notSent(error);
    }
    const { card } = await (cache === undefined ? fetchAgentCard(dispatcher, at, how) : cache.get(dispatcher, at, how));
    return card;
  }
}

/** As the SDK resolves a path: RFC 3986 section 5.2. */
function placeOf(baseUrl: string, path: string, options: CardPolicy): [string, CardPolicy] {
  const { origin } = endpointOf(baseUrl);
  const url = URL.parse(path, baseUrl);
  if (url === null) throw refused('options.endpoint', 'the path is none');
  const { origin: reached, target } = endpointOf(url);
  if (reached !== origin) throw refused('options.endpoint', `the path leads to another origin: ${reached}`);
  // It outranks what the resolver was told of paths.
  return [origin, { ...options, cardPath: target, allowLegacyCardPath: undefined }];
}
