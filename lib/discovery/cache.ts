/** A cache of agent cards: RFC 9111 for this one resource, and one request for all who ask at once. */
import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { Failure, Refusal } from '../failure.js';
import {
  checkCacheOptions,
  checkCachedOptions,
  type AgentCardCacheOptions,
  type CachedCardOptions,
  type CachedPolicy,
} from './cache_options.js';
import { decodeCard, type DecodedCard } from './card.js';
import { attempt, present } from './fetch.js';
import { Flight, Waiter, notSent, type Work } from './flight.js';
import { freshUntilOf, freshnessOf, isSameTag, validatorsOf } from './freshness.js';
import { urlOf, type CardLocation } from './location.js';
import { permittedLocation } from './options.js';
import { CardRequest, type CardResponse, type KnownCard } from './request.js';
import { MemoryStore, type CardStore, type StoredCard } from './store.js';
import type { FetchedCard } from './types.js';

/** One call, checked. */
interface Asked {
  readonly dispatcher: Dispatcher;
  readonly policy: CachedPolicy;
  readonly location: CardLocation;
  /** What the card is kept under. */
  readonly key: string;
  /** Calls with the same may be served by one request. */
  readonly flightKey: string;
}

/** A card that was got from the store or from the agent, for all who wait for it. */
interface Obtained extends KnownCard {
  /** Where it is kept already, to be kept, or not to be kept. */
  readonly keeping: 'is_kept' | 'keep' | 'drop';
}

class CardFlight extends Flight<Obtained> {
  /** What became of keeping the card, once somebody has accepted it. */
  kept: Promise<void> | undefined;
  /** The card is not to be kept: it has failed somebody's check, or a newer one has been asked for. */
  isRejected = false;
}

/** For a card that is there already: nothing goes on, and nothing was sent. */
const AT_REST: Work = { failure: notSent, stop: () => undefined };

/** A card that was kept does not hold under the keys of a caller. */
class Outdated extends Error {}

/**
 * Agent cards, asked for as rarely as the agents allow (RFC 9111, as a private cache). Safe to share.
 *
 * - A card is used for as long as its `cache-control` or `expires` says, a day at most, and is then confirmed by its `etag` or
 *   `last-modified`. One that says nothing of it is asked for each time. No card is ever served because its agent cannot be reached.
 * - Callers that ask at once share one request. Each has its own `signal`, `timeoutMs` and `verify`.
 * - Callers with other request headers or another dispatcher share neither cards nor requests.
 * - A card that fails a check is not kept. Signatures are verified each time that a card is handed out.
 */
export class AgentCardCache {
  readonly #store: CardStore;
  readonly #isInMemory: boolean;
  readonly #flights = new Map<string, CardFlight>();
  /** What the cards in memory are decoded to. */
  readonly #decoded = new WeakMap<StoredCard, DecodedCard>();
  readonly #dispatchers = new WeakMap<Dispatcher, number>();
  #dispatchersSeen = 0;

  /** @throws {Failure} `options.*`, `card.store` */
  constructor(options: AgentCardCacheOptions = {}) {
    try {
      const { store, maxEntries = 100, maxBytes = 8 * 1024 * 1024 } = checkCacheOptions(options);
      this.#isInMemory = store === undefined;
      this.#store = store ?? new MemoryStore(maxEntries, maxBytes);
    } catch (error) {
      throw error instanceof Refusal ? notSent(error) : error;
    }
  }

  /**
   * The card of the agent at `baseUrl`: see `fetchAgentCard`. Nothing throws synchronously.
   * @throws {Failure} as `fetchAgentCard`, and `card.store`
   */
  get(dispatcher: Dispatcher, baseUrl: string | URL, options: CachedCardOptions = {}): Promise<FetchedCard> {
    return attempt(() => {
      const policy = checkCachedOptions(options);
      const asked = this.#asked(dispatcher, permittedLocation(dispatcher, baseUrl, policy), policy);
      const waiter = new Waiter();
      return waiter.run(policy, async () => {
        try {
          return await this.#obtain(waiter, asked, policy.force === true);
        } catch (error) {
          if (!(error instanceof Outdated)) throw error;
        }
        // The caller's keys may have changed, and the card with them.
        return this.#obtain(waiter, asked, true);
      });
    });
  }

  #asked(dispatcher: Dispatcher, location: CardLocation, policy: CachedPolicy): Asked {
    let identity = this.#dispatchers.get(dispatcher);
    if (identity === undefined) {
      identity = this.#dispatchersSeen++;
      this.#dispatchers.set(dispatcher, identity);
    }
    const headers = Object.entries(policy.headers).sort(([one], [other]) => (one < other ? -1 : 1));
    const what = [urlOf(location.card), location.legacy !== undefined, headers];
    // Its client certificate is a credential too. Outside of this process its number would mean nothing.
    const key = digestOf(this.#isInMemory ? [...what, identity] : what);
    const { maxCardBytes, connectTimeoutMs, idleTimeoutMs } = policy;
    return { dispatcher, policy, location, key, flightKey: JSON.stringify([key, identity, maxCardBytes, connectTimeoutMs, idleTimeoutMs]) };
  }

  async #obtain(waiter: Waiter, asked: Asked, isForced: boolean): Promise<FetchedCard> {
    const flight = await this.#flightOf(asked, isForced);
    const obtained = await waiter.join(flight);
    try {
      const { stored } = obtained;
      const freshUntil = stored.lifetimeMs === undefined ? undefined : stored.freshUntil;
      const fetched = await present(obtained, { ...stored, freshUntil }, asked.policy);
      await this.#keep(asked, flight, obtained);
      return fetched;
    } catch (error) {
      if (!(error instanceof Refusal && (error.rule === 'card.signature' || error.rule === 'card.unsigned'))) throw error;
      await this.#reject(asked, flight);
      throw obtained.keeping === 'is_kept' ? new Outdated() : error;
    } finally {
      // From the first outcome on, whoever asks asks anew: callers without a break could keep it alive for ever.
      this.#land(flight);
    }
  }

  /** The flight to wait for. Where none goes that serves, one is started before anybody else can ask: without a break in between. */
  async #flightOf(asked: Asked, isForced: boolean): Promise<CardFlight> {
    const { flightKey, key } = asked;
    const forcedKey = `${flightKey} forced`;
    let forced = this.#flights.get(forcedKey);
    if (forced !== undefined && !isForced) {
      // A refresh of somebody else's is no reason to wait, unless there is nothing fresh.
      const known = await this.#known(key);
      if (known !== undefined && isFresh(known.stored)) return new CardFlight(AT_REST, Promise.resolve(known));
      forced = this.#flights.get(forcedKey);
    }
    if (forced !== undefined) return forced;
    const plain = this.#flights.get(flightKey);
    if (plain !== undefined) {
      if (!isForced) return plain;
      plain.isRejected = true;
    }
    const request = new CardRequest(asked.dispatcher, asked.policy, asked.location);
    const flight = new CardFlight(request, this.#bring(request, key, isForced), () => {
      this.#land(flight);
    });
    this.#flights.set(isForced ? forcedKey : flightKey, flight);
    return flight;
  }

  #land(flight: CardFlight): void {
    for (const [key, other] of this.#flights) if (other === flight) this.#flights.delete(key);
  }

  async #bring(request: CardRequest, key: string, isForced: boolean): Promise<Obtained> {
    const known = await this.#known(key);
    if (known !== undefined && !isForced && isFresh(known.stored)) return known;
    let response: CardResponse;
    try {
      response = await request.send(known, isForced);
    } catch (failure) {
      // The agent has another card than the one that is kept, if no good one.
      const isBadCard = request.status === 200 && failure instanceof Failure && failure.kind !== 'unavailable';
      if (known !== undefined && isBadCard) await this.#store.delete(key);
      throw failure;
    }
    const { content, confirmed, url, headers, requestedAt } = response;
    const receivedAt = Date.now();
    const validators = validatorsOf(headers);
    const freshness = freshnessOf(headers, requestedAt, receivedAt);
    const fresh = (lifetimeMs: number | undefined): Pick<StoredCard, 'storedAt' | 'lifetimeMs' | 'freshUntil'> => ({
      storedAt: receivedAt,
      lifetimeMs: freshness.isStorable ? lifetimeMs : 0,
      freshUntil: freshUntilOf({ ...freshness, lifetimeMs }, receivedAt) ?? receivedAt,
    });
    let stored: StoredCard;
    if (confirmed === undefined) {
      stored = { json: content.bytes.toString(), url, ...validators, ...fresh(freshness.lifetimeMs) };
    } else {
      const before = confirmed.stored;
      if (!confirms(validators.etag, before.etag)) {
        await this.#store.delete(key);
        throw new Refusal('http.malformed');
      }
      const { etag = before.etag, lastModified = before.lastModified } = validators;
      stored = { ...before, etag, lastModified, ...fresh(freshness.lifetimeMs ?? before.lifetimeMs) };
    }
    const isOfUse = stored.freshUntil > receivedAt || stored.etag !== undefined || stored.lastModified !== undefined;
    const { bytes, decoded } = content;
    return { bytes, decoded, stored: Object.freeze(stored), keeping: freshness.isStorable && isOfUse ? 'keep' : 'drop' };
  }

  /** What the store has under a key. @throws {Refusal} `card.store` */
  async #known(key: string): Promise<Obtained | undefined> {
    const stored = await this.#store.get(key);
    if (stored === undefined || stored === null) return undefined;
    const bytes = Buffer.from(stored.json);
    let decoded = this.#decoded.get(stored);
    if (decoded === undefined) {
      try {
        decoded = decodeCard(bytes);
      } catch (reason) {
        await this.#store.delete(key);
        throw new Refusal('card.store', { reason });
      }
    }
    return { bytes, decoded, stored, keeping: 'is_kept' };
  }

  async #keep({ key }: Asked, flight: CardFlight, { stored, decoded, keeping }: Obtained): Promise<void> {
    if (keeping === 'is_kept' || flight.isRejected) return;
    flight.kept ??= (async () => {
      if (keeping === 'drop') {
        await this.#store.delete(key);
        return;
      }
      if (this.#isInMemory) this.#decoded.set(stored, decoded);
      await this.#store.set(key, stored);
    })();
    await flight.kept;
  }

  async #reject({ key }: Asked, flight: CardFlight): Promise<void> {
    flight.isRejected = true;
    // Where keeping it failed, those who tried have learned of it.
    await flight.kept?.catch(() => undefined);
    await this.#store.delete(key);
  }
}

function isFresh({ storedAt, freshUntil }: StoredCard): boolean {
  const now = Date.now();
  // A clock that was put back proves nothing fresh.
  return storedAt <= now && now < freshUntil;
}

/** RFC 9111 section 4.3.4: a confirmation of something else confirms nothing. */
function confirms(etag: string | undefined, known: string | undefined): boolean {
  return etag === undefined || known === undefined || isSameTag(etag, known);
}

/** A key that tells nothing of what is in it; its first word is for the format of what is kept under it. */
function digestOf(what: unknown): string {
  return `card-1:${createHash('sha256').update(JSON.stringify(what)).digest('base64url')}`;
}
