/** Texts and open JSON values, as the caller or an agent chooses them. */
import fc from 'fast-check';

/** Any well-formed text; short, for many stand in one object. */
export const anyText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', 'a', 'task-1', '__proto__', 'null') },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom('"', '\\', '/', '\n', '\0', '\u2028', '\u{1F600}', '\ufeff'), maxLength: 6 }) },
);
export const name = anyText.filter((text) => text !== '');
export const names = fc.array(name, { maxLength: 2 });

export function optional<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined, freq: 2 });
}

/** An object literal, as a person would write it. */
export function record<T>(members: { [N in keyof T]: fc.Arbitrary<T[N]> }): fc.Arbitrary<T> {
  return fc.record<T>(members, { noNullPrototype: true });
}

/** RFC 7493 section 2.2: what is written as an integer has to be a safe one. */
const number = fc
  .oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .filter((value) => !Number.isInteger(value) || Number.isSafeInteger(value));

const memberName = fc.oneof(
  fc.constantFrom('constructor', 'toString', 'prototype', 'value', 'kind', '', '0'),
  anyText,
).filter((text) => text !== '__proto__');

const { value, object } = fc.letrec<{ value: unknown; list: unknown[]; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    number,
    anyText,
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(memberName, tie('value'), { maxKeys: 3, noNullPrototype: true }),
}));

/** Any I-JSON value, and any object of them: `metadata`, `data`. */
export const openValue = value;
export const openObject = object;

/** A map from names that the peer chose. */
export function map<T>(held: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc.dictionary(memberName, held, { maxKeys: 3, noNullPrototype: true });
}
