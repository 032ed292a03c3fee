/** A caller's store, whose every word is checked: `card.store`. */
import * as v from 'valibot';
import { isObject } from '../dialect/values.js';
import { Refusal } from '../failure.js';
import { refused } from '../policy/checker.js';
import type { CardStore, StoredCard } from './store.js';

const time = v.pipe(v.number(), v.finite());
const maybeText = v.nullish(v.string(), () => undefined);

const STORED: v.GenericSchema<unknown, StoredCard> = v.object({
  json: v.string(),
  url: v.string(),
  storedAt: time,
  freshUntil: time,
  lifetimeMs: v.nullish(time, () => undefined),
  etag: maybeText,
  lastModified: maybeText,
});

/** @throws {Refusal} `card.store`, from each of its methods */
export class CheckedStore implements CardStore {
  readonly #get: (key: string) => unknown;
  readonly #set: (key: string, card: StoredCard) => unknown;
  readonly #delete: (key: string) => unknown;

  constructor(store: unknown) {
    if (!isObject(store)) throw refused('card.store', 'it is no object');
    // Read once. A store may be an instance, with methods of its own.
    const { get, set, delete: remove } = store;
    if (typeof get !== 'function' || typeof set !== 'function' || typeof remove !== 'function') {
      throw refused('card.store', 'it has no methods get, set and delete');
    }
    this.#get = (key) => Reflect.apply(get, store, [key]) as unknown;
    this.#set = (key, card) => Reflect.apply(set, store, [key, card]) as unknown;
    this.#delete = (key) => Reflect.apply(remove, store, [key]) as unknown;
  }

  async get(key: string): Promise<StoredCard | undefined> {
    const found = await guarded(() => this.#get(key));
    if (found === undefined || found === null) return undefined;
    const { success, output, issues } = v.safeParse(STORED, found, { abortEarly: true });
    if (success) return output;
    await this.delete(key);
    throw refused('card.store', `it gave what it was not given: ${issues[0].message}`);
  }

  async set(key: string, card: StoredCard): Promise<void> {
    await guarded(() => this.#set(key, card));
  }

  async delete(key: string): Promise<void> {
    await guarded(() => this.#delete(key));
  }
}

async function guarded(act: () => unknown): Promise<unknown> {
  try {
    return await act();
  } catch (reason) {
    throw new Refusal('card.store', { reason });
  }
}
