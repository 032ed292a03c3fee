/** Where cards are kept between calls: what a store is, and the one in memory. */

/** A card as a store keeps it: JSON values alone, so that it may be kept as JSON text. */
export interface StoredCard {
  /** The card's exact text. */
  readonly json: string;
  /** Where it was fetched from. */
  readonly url: string;
  /** When it came, or was confirmed last, in milliseconds since 1970. */
  readonly storedAt: number;
  /** Until when it is used without asking the agent, in milliseconds since 1970. */
  readonly freshUntil: number;
  /** For how long a confirmation makes it fresh again, in milliseconds; absent where its agent said nothing of it. */
  readonly lifetimeMs?: number | undefined;
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/**
 * Where cards are kept: a map that may be elsewhere. What it gives is checked as if an agent had sent it. It may forget at any time, and
 * should after a day. One that throws ends the call (`card.store`).
 *
 * A key tells URL and request headers apart (it holds their SHA-256, not them), but not the client certificates of dispatchers: cards that
 * an agent shows by certificate need a store for each.
 */
export interface CardStore {
  /** What was kept under the key; nothing where there is nothing. */
  get(key: string): Promise<StoredCard | null | undefined> | StoredCard | null | undefined;
  /** Keeps a card, in the place of another under the same key. */
  set(key: string, card: StoredCard): Promise<unknown> | undefined;
  /** Forgets what is under the key, if there is anything. */
  delete(key: string): Promise<unknown> | undefined;
}

/** Forgets the card that was not used for the longest time. */
export class MemoryStore implements CardStore {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  /** In the order of their last use. */
  readonly #cards = new Map<string, StoredCard>();
  #bytes = 0;

  constructor(maxEntries: number, maxBytes: number) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  get(key: string): StoredCard | undefined {
    const card = this.#cards.get(key);
    if (card === undefined) return undefined;
    this.#cards.delete(key);
    this.#cards.set(key, card);
    return card;
  }

  set(key: string, card: StoredCard): undefined {
    this.delete(key);
    const size = sizeOf(card);
    // It would push out all others and not fit then.
    if (size > this.#maxBytes) return;
    this.#cards.set(key, card);
    this.#bytes += size;
    for (const oldest of this.#cards.keys()) {
      if (this.#cards.size <= this.#maxEntries && this.#bytes <= this.#maxBytes) return;
      this.delete(oldest);
    }
  }

  delete(key: string): undefined {
    const card = this.#cards.get(key);
    if (card === undefined) return;
    this.#cards.delete(key);
    this.#bytes -= sizeOf(card);
  }
}

/** What the agent decides the length of. */
function sizeOf({ json, url, etag = '', lastModified = '' }: StoredCard): number {
  return Buffer.byteLength(json) + url.length + etag.length + lastModified.length;
}
