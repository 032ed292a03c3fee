/** Any JavaScript value, and most of all those that break what looks at them. */
import fc from 'fast-check';

class Instance {
  readonly id = 'task-1';
  get message(): never {
    throw new TypeError('a getter');
  }
}

const throwing = (): never => {
  throw new RangeError('a trap');
};

/** Values that are made anew, for some can be used up. */
const odd: readonly (() => unknown)[] = [
  () => () => undefined,
  () => throwing,
  () => Instance,
  () => Symbol('x'),
  () => 2n ** 64n,
  () => NaN,
  () => -0,
  () => '\ud800',
  () => new Instance(),
  () => Object.defineProperty({}, 'id', { get: throwing, enumerable: true }),
  () => Object.defineProperty({}, 'then', { get: throwing, enumerable: true }),
  () => Object.create({ id: 'inherited' }) as unknown,
  () => JSON.parse('{"__proto__":{"id":"x"}}') as unknown,
  () => ({ toJSON: throwing }),
  () => ({ [Symbol.toPrimitive]: throwing }),
  () => ({ [Symbol.iterator]: throwing, length: 1 }),
  () => Object.assign([1, 2], { [Symbol.iterator]: throwing }),
  () => new Proxy({}, { get: throwing, has: throwing, ownKeys: throwing, getPrototypeOf: throwing, getOwnPropertyDescriptor: throwing }),
  () => new Proxy([], { get: throwing }),
  () => new Proxy(
    {},
    { ownKeys: () => ['id', 'id2'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }) },
  ),
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  () => {
    const cycle: Record<string, unknown> = { messageId: 'm' };
    cycle['message'] = cycle['parts'] = cycle['metadata'] = cycle;
    return cycle;
  },
  () => Array.from({ length: 300 }).reduce<unknown>((inner) => [inner], 1),
  () => Array.from({ length: 20_000 }).reduce<unknown>((inner) => ({ a: inner }), 1),
  () => Array.from({ length: 1000 }),
  () => new Uint8Array(new SharedArrayBuffer(4)),
  () => structuredClone(new Uint8Array(4), { transfer: [] }),
  () => new URL('https://user:pass@agent.example/?q#f'),
  () => new Headers({ a: 'b' }),
  () => AbortSignal.abort(),
  () => AbortSignal.abort(Object.defineProperty({}, 'name', { get: throwing })),
  () => Object.create(AbortSignal.prototype) as unknown,
  () => globalThis,
];

/** How a value is made, for fast-check looks at values itself, which not all of these survive. */
export interface Recipe {
  readonly make: () => unknown;
  /** What to show of it. */
  readonly of: unknown;
}

export const hostileValue: fc.Arbitrary<Recipe> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .anything({
        maxDepth: 3,
        withBigInt: true,
        withBoxedValues: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
        withObjectString: true,
        withSet: true,
        withSparseArray: true,
        withTypedArray: true,
        stringUnit: 'binary',
      })
      .map((value) => ({ make: () => value, of: value })),
  },
  { weight: 3, arbitrary: fc.constantFrom(...odd).map((make) => ({ make, of: make.toString() })) },
);

/** An object with some of its members, at any depth, put in the place of others. */
export function disturbed(whole: () => unknown): fc.Arbitrary<Recipe> {
  const change = fc.tuple(fc.nat({ max: 999 }), fc.constantFrom('set', 'set', 'set', 'delete', 'add'), hostileValue);
  return fc.array(change, { minLength: 1, maxLength: 2 }).map((changes) => ({
    of: changes,
    make: () => {
      const copy = whole();
      // Of the whole as it was: what has been put in is left as it is.
      const places = placesIn(copy);
      for (const [where, how, { make }] of changes) {
        const [holder, name] = places[where % places.length]!;
        if (how === 'delete') Reflect.deleteProperty(holder, name);
        else holder[how === 'set' ? name : `${name}2`] = make();
      }
      return copy;
    },
  }));
}

type Holder = Record<string, unknown>;

/** Every member of the plain objects and lists in a value. */
function placesIn(value: unknown): [Holder, string][] {
  if (typeof value !== 'object' || value === null) return [];
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype) return [];
  const holder = value as Holder;
  return Object.entries(holder).flatMap(([name, inner]) => [[holder, name], ...placesIn(inner)]);
}
