/** What a caller may say of a cache of cards and of a call of it. */
import * as v from 'valibot';
import { optionChecker, refused, type OptionTable } from '../policy/checker.js';
import { limit, none } from '../policy/http.js';
import { CheckedStore } from './checked_store.js';
import { CARD_OPTIONS, checkConditions, type CardPolicy } from './options.js';
import type { CardStore } from './store.js';
import type { CardOptions } from './types.js';

/** Where a cache keeps its cards, and how many. */
export interface AgentCardCacheOptions {
  /** Where cards are kept. Absent: in memory, within the two bounds below. */
  readonly store?: CardStore | undefined;
  /** The most cards kept in memory. Absent: 100. */
  readonly maxEntries?: number | undefined;
  /** The most bytes of cards kept in memory, as they were sent; what they are decoded to comes on top. Absent: 8 MiB. */
  readonly maxBytes?: number | undefined;
}

export interface CachedCardOptions extends CardOptions {
  /** The agent is asked, however fresh the card is that is kept. */
  readonly force?: true | undefined;
}

export interface CachePolicy {
  readonly store: CheckedStore | undefined;
  readonly maxEntries: number | undefined;
  readonly maxBytes: number | undefined;
}

export interface CachedPolicy extends CardPolicy {
  readonly force: true | undefined;
}

const CACHE: OptionTable<CachePolicy> = {
  store: [
    'card.store',
    v.optional(
      v.pipe(
        v.unknown(),
        v.transform((store) => new CheckedStore(store)),
      ),
      none,
    ),
  ],
  maxEntries: ['options.limit', v.optional(limit, none)],
  maxBytes: ['options.limit', v.optional(limit, none)],
};

/** @throws {Refusal} `options.*`, `card.store` */
export const checkCacheOptions: (options: unknown) => CachePolicy = optionChecker(CACHE, ({ store, maxEntries, maxBytes }) => {
  if (store !== undefined && (maxEntries ?? maxBytes) !== undefined) {
    throw refused('options.limit', 'maxEntries and maxBytes bound the store in memory alone');
  }
});

/** @throws {Refusal} `options.*`, `card.keys` */
export const checkCachedOptions: (options: unknown) => CachedPolicy = optionChecker<CachedPolicy>(
  { ...CARD_OPTIONS, force: ['options.unknown', v.optional(v.literal(true), none)] },
  checkConditions,
);
