/**
 * Proves the event ids of one stream unique, and in the strictest mode gapless.
 *
 * Ids that count up by one, as most agents send them, are remembered as one interval: no memory, however long the stream. Any
 * other id is remembered by 128 bits of a SHA-256 that is keyed for each stream, so that no agent can choose two ids that collide:
 * 16 bytes an id, at most 64 with the room that the table keeps free.
 */
import { hash, randomBytes } from 'node:crypto';
import { Refusal } from '../failure.js';

/** `required`: each event has an id. `sequential`: the ids count up by one. `optional`: an event may have none. */
export type EventIdMode = 'required' | 'sequential' | 'optional';

export class EventIds {
  readonly #sequential: boolean;
  /** The interval of consecutive integers seen; empty while `#last` is -1. */
  #first = 0;
  #last = -1;
  #others: IdTable | undefined;

  constructor(mode: EventIdMode) {
    this.#sequential = mode === 'sequential';
  }

  /** Notes the id of the next event. @throws {Refusal} `sse.id_duplicate`, `sse.id_gap` */
  add(id: string): void {
    const number = canonicalInteger(id);
    if (number >= 0) {
      if (this.#last < 0) {
        this.#first = number;
      } else if (number >= this.#first && number <= this.#last) {
        throw new Refusal('sse.id_duplicate');
      }
      if (this.#last < 0 || number === this.#last + 1) {
        if (this.#others?.has(id) === true) throw new Refusal('sse.id_duplicate');
        this.#last = number;
        return;
      }
    }
    if (this.#sequential) throw new Refusal('sse.id_gap');
    this.#others ??= new IdTable();
    if (!this.#others.add(id)) throw new Refusal('sse.id_duplicate');
  }
}

/** The value of `0` or `[1-9][0-9]*` within the safe integers; -1 for any other text. */
function canonicalInteger(id: string): number {
  if (id.length > 16 || (id.length > 1 && id.startsWith('0'))) return -1;
  let value = 0;
  for (let i = 0; i < id.length; i++) {
    const digit = id.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value <= Number.MAX_SAFE_INTEGER ? value : -1;
}

/** Words of one entry; an entry of zeros is free. */
const WORDS = 4;
const FIRST_CAPACITY = 64;

/** A set of 128-bit digests in one flat array, open addressing, at most three quarters full. */
class IdTable {
  readonly #key = randomBytes(16).toString('hex');
  #slots = new Uint32Array(FIRST_CAPACITY * WORDS);
  #size = 0;
  /** The digest last looked for. */
  readonly #digest = new Uint32Array(WORDS);

  has(id: string): boolean {
    this.#hash(id);
    return this.#slots[this.#find(this.#slots, this.#digest, 0) + 3] !== 0;
  }

  /** @returns false where the id was there before. */
  add(id: string): boolean {
    this.#hash(id);
    const at = this.#find(this.#slots, this.#digest, 0);
    if (this.#slots[at + 3] !== 0) return false;
    this.#slots.set(this.#digest, at);
    this.#size++;
    if (this.#size * WORDS * 4 > this.#slots.length * 3) this.#grow();
    return true;
  }

  #hash(id: string): void {
    const digest = hash('sha256', this.#key + id, 'buffer');
    for (let word = 0; word < WORDS; word++) this.#digest[word] = digest.readUInt32LE(word * 4);
    // The last word tells a taken entry from a free one.
    if (this.#digest[3] === 0) this.#digest[3] = 1;
  }

  /** Where the digest at `offset` of `from` stands in `slots`, or the free entry where it would. */
  #find(slots: Uint32Array, from: Uint32Array, offset: number): number {
    const entries = slots.length / WORDS;
    let entry = (from[offset] as number) % entries;
    for (;;) {
      const at = entry * WORDS;
      if (slots[at + 3] === 0) return at;
      if (
        slots[at] === from[offset] &&
        slots[at + 1] === from[offset + 1] &&
        slots[at + 2] === from[offset + 2] &&
        slots[at + 3] === from[offset + 3]
      ) {
        return at;
      }
      entry = entry + 1 === entries ? 0 : entry + 1;
    }
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += WORDS) {
      if (old[at + 3] !== 0) slots.set(old.subarray(at, at + WORDS), this.#find(slots, old, at));
    }
    this.#slots = slots;
  }
}
