/** Bytes that were right before something happened to them, and the chunks that bytes may come in. */
import fc from 'fast-check';

/** Bytes that mean something to one of the layers. */
const TELLING = Buffer.from('"\\{}[],: \n\r\t0123456789-+.eEabdefinrtu_/x\0\x7f\x1f', 'latin1');
const telling = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...TELLING) },
  // UTF-8: a lone continuation, beginnings of two, three and four bytes, a surrogate's, a byte order mark's, none at all.
  { weight: 2, arbitrary: fc.constantFrom(0x80, 0xbf, 0xc0, 0xc3, 0xe2, 0xed, 0xef, 0xbb, 0xf0, 0xf4, 0xff) },
  { weight: 1, arbitrary: fc.nat({ max: 255 }) },
);
const tellingBytes = fc.array(telling, { minLength: 1, maxLength: 4 }).map((bytes) => Buffer.from(bytes));

type Mutation = (bytes: Buffer) => Buffer;

/** A place in bytes of any length. */
const place = fc.nat({ max: 0xffff });
const at = (bytes: Buffer, where: number): number => where % (bytes.length + 1);

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(place, tellingBytes).map(([where, added]): Mutation => (bytes) => {
    const cut = at(bytes, where);
    return Buffer.concat([bytes.subarray(0, cut), added, bytes.subarray(cut)]);
  }),
  fc.tuple(place, fc.integer({ min: 1, max: 4 })).map(([where, length]): Mutation => (bytes) => {
    const cut = at(bytes, where);
    return Buffer.concat([bytes.subarray(0, cut), bytes.subarray(cut + length)]);
  }),
  fc.tuple(place, telling).map(([where, byte]): Mutation => (bytes) => {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[where % copy.length] = byte;
    return copy;
  }),
  fc.tuple(place, fc.nat({ max: 7 })).map(([where, bit]): Mutation => (bytes) => {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[where % copy.length]! ^= 1 << bit;
    return copy;
  }),
  fc.tuple(place, fc.integer({ min: 1, max: 40 }), place).map(([from, length, to]): Mutation => (bytes) => {
    const start = at(bytes, from);
    const cut = at(bytes, to);
    return Buffer.concat([bytes.subarray(0, cut), bytes.subarray(start, start + length), bytes.subarray(cut)]);
  }),
  place.map((where): Mutation => (bytes) => bytes.subarray(0, at(bytes, where))),
);

/**
 * As they were, or with one to three mutations.
 * @param untouched how many stay as they were, for three that do not
 */
export function mutated(bytes: fc.Arbitrary<Buffer>, untouched = 2): fc.Arbitrary<Buffer> {
  const mutations = fc.oneof(
    { weight: untouched, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3 }) },
  );
  return fc.tuple(bytes, mutations).map(([whole, changes]) => changes.reduce((before, change) => change(before), whole));
}

/** Anything at all. */
export const anyBytes = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));

/** Where bytes are cut: sizes of chunks, taken in turn until the bytes are used up. Empty chunks are chunks too. */
export const chunkSizes = fc.oneof(
  fc.constant([1]),
  fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 20 }),
  fc.array(fc.nat({ max: 90 }), { minLength: 1, maxLength: 20 }),
);

/** Each chunk as undici hands it over: a view of all that was read at once, which may be much more. */
export function chunksOf(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  const step = sizes.some((size) => size > 0) ? sizes : [1];
  for (let from = 0, turn = 0; from < bytes.length; turn++) {
    const size = step[turn % step.length]!;
    const padding = turn % 3 === 0 ? 0 : 64;
    const read = Buffer.alloc(padding + size, '"');
    chunks.push(read.subarray(padding, padding + bytes.copy(read, padding, from, from + size)));
    from += size;
  }
  return chunks;
}
