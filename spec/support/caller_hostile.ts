/** Values that no option may have: for each option, and the rule that it is refused by. */
import type { FailureRule } from '../../lib/failure.js';
import type { StreamOptions } from '../../lib/options.js';

export function revoked<T extends object>(target: T): T {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

export class Thrower extends Error {}
export const thrower = (): never => {
  throw new Thrower('FAKE-SECRET of a trap');
};
/** Any look at it throws. */
export const throwing = (target: object): object =>
  new Proxy(target, {
    get: thrower,
    has: thrower,
    ownKeys: thrower,
    getPrototypeOf: thrower,
    getOwnPropertyDescriptor: thrower,
  });

type Rows = readonly (readonly [label: string, value: unknown])[];

/** Wrong for every option. */
const NEVER_RIGHT: Rows = [
  ['null', null],
  ['a symbol', Symbol('x')],
  ['a BigInt', 10n],
  ['a function', () => 10],
  ['a boxed Boolean', new Boolean(true)],
  ['a revoked proxy of an object', revoked({})],
  ['a revoked proxy of a list', revoked([])],
  ['a proxy that throws', throwing({})],
  ['a Date', new Date()],
  ['a Map', new Map()],
  ['false', false],
  ['an empty object in a list in a list', [[{}]]],
];

const NO_NUMBERS: Rows = [
  ['a text', '10'],
  ['an empty text', ''],
  ['a boxed Number', new Number(10)],
  ['true', true],
  ['a list', [10]],
  ['an object', {}],
  ['an object that says it is a number', { valueOf: () => 10, [Symbol.toPrimitive]: () => 10 }],
];

const NO_COUNTS: Rows = [
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['minus Infinity', -Infinity],
  ['0', 0],
  ['minus 0', -0],
  ['minus 1', -1],
  ['a fraction', 1.5],
  ['a fraction below 1', 0.5],
  ['the smallest number', Number.MIN_VALUE],
];

const LIMITS: Rows = [...NEVER_RIGHT, ...NO_NUMBERS, ...NO_COUNTS, ['2^53', 2 ** 53], ['the largest number', Number.MAX_VALUE]];

const TIMES: Rows = [
  ...NEVER_RIGHT,
  ...NO_NUMBERS,
  ...NO_COUNTS,
  ['2^31, which setTimeout takes for 1', 2 ** 31],
  ['2^53', 2 ** 53],
];

export const HOSTILE: readonly (readonly [option: keyof StreamOptions, rule: FailureRule, rows: Rows])[] = [
  [
    'endpoint',
    'options.endpoint',
    [
      ...NEVER_RIGHT,
      ['undefined', undefined],
      ['a number', 80],
      ['a boxed String', new String('http://127.0.0.1/')],
      ['an object like a URL', { href: 'http://127.0.0.1/' }],
      ['an object with the prototype of URL', Object.create(URL.prototype) as object],
      ['a list of a text', ['http://127.0.0.1/']],
      ['an empty text', ''],
      ['a URL with a user', new URL('http://user@127.0.0.1/')],
      ['a URL with a fragment', new URL('http://127.0.0.1/#x')],
      ['a URL of another scheme', new URL('ftp://127.0.0.1/')],
      ['a URL whose href throws', Object.defineProperty(new URL('http://127.0.0.1/'), 'href', { get: thrower })],
      ['a URL whose href is no text', Object.defineProperty(new URL('http://127.0.0.1/'), 'href', { value: 1 })],
    ],
  ],
  [
    'protocolVersion',
    'options.dialect',
    [
      ...NEVER_RIGHT,
      ['undefined', undefined],
      ['a number', 1],
      ['1', '1'],
      ['1.0.0', '1.0.0'],
      ['0.3.0', '0.3.0'],
      ['1.0 with a space', '1.0 '],
      ['a boxed String', new String('1.0')],
      ['a list', ['1.0']],
      ['a name of Object.prototype', 'constructor'],
      ['an empty text', ''],
    ],
  ],
  ['maxResponseBytes', 'options.limit', [...LIMITS, ['undefined', undefined]]],
  ['maxRequestBytes', 'options.limit', LIMITS],
  ['maxEventBytes', 'options.limit', LIMITS],
  ['maxStreamBytes', 'options.limit', LIMITS],
  ['maxStreamEvents', 'options.limit', LIMITS],
  ['timeoutMs', 'options.time', TIMES],
  ['connectTimeoutMs', 'options.time', TIMES],
  ['idleTimeoutMs', 'options.time', TIMES],
  [
    'headers',
    'options.headers',
    [
      ...NEVER_RIGHT,
      ['a text', 'a: b'],
      ['a number', 1],
      ['a list of pairs', [['a', 'b']]],
      ['Headers', new Headers({ a: 'b' })],
      ['an object that inherits', Object.assign(Object.create({ b: 'c' }) as object, { a: 'b' })],
      ['a value that is a number', { a: 1 }],
      ['a value that is a list', { a: ['b'] }],
      ['a value that is null', { a: null }],
      ['a value that is undefined', { a: undefined }],
      ['a value that is a boxed String', { a: new String('b') }],
      ['a value that is a symbol', { a: Symbol('b') }],
      ['a name that is a symbol', { [Symbol('a')]: 'b' }],
      ['a getter that throws', Object.defineProperty({}, 'a', { get: thrower, enumerable: true })],
      ['one name in two spellings', { 'X-Key': 'a', 'x-key': 'b' }],
      ['a name that JavaScript would lose', JSON.parse('{"__proto__":"x"}')],
    ],
  ],
  [
    'extensions',
    'options.headers',
    [
      ...NEVER_RIGHT,
      ['a text', 'https://example.com/ext'],
      ['a Set', new Set(['https://example.com/ext'])],
      ['an object like a list', { 0: 'https://example.com/ext', length: 1 }],
      ['a list with a hole', new Array(1)],
      ['a list of a URL', [new URL('https://example.com/ext')]],
      ['a list of a number', [1]],
      ['a list of null', [null]],
      ['no URI', ['ext']],
      ['a relative reference', ['/ext']],
      ['an empty text', ['']],
      ['nothing but a scheme', ['urn:']],
      ['a comma', ['https://example.com/a,b']],
      ['a space', ['https://example.com/a b']],
      ['a line break', ['https://example.com/a\r\nx-evil: 1']],
      ['a line break at the end', ['https://example.com/a\n']],
      ['a letter beyond ASCII', ['https://example.com/é']],
    ],
  ],
  [
    'tenant',
    'options.dialect',
    [
      ...NEVER_RIGHT,
      ['a number', 1],
      ['true', true],
      ['an object', {}],
      ['a list', ['tenant']],
      ['a boxed String', new String('tenant')],
      ['half a surrogate pair', 'a\ud800'],
    ],
  ],
  [
    'interceptors',
    'options.interceptors',
    [
      ...NEVER_RIGHT,
      ['one that is not in a list', { before: () => undefined }],
      ['a Set', new Set()],
      ['a list of null', [null]],
      ['a list of undefined', [undefined]],
      ['a list with a hole', new Array(1)],
      ['a list of a function', [() => undefined]],
      ['a list of a text', ['before']],
      ['before that is no function', [{ before: 'x' }]],
      ['before that is null', [{ before: null }]],
      ['neither before nor after', [{}]],
      ['a misspelt hook', [{ befor: () => undefined }]],
      ['hooks that are undefined', [{ before: undefined, after: undefined }]],
      ['after that is no function', [{ after: {} }]],
      ['a revoked interceptor', [revoked({})]],
      ['a getter that throws', [Object.defineProperty({}, 'before', { get: thrower })]],
    ],
  ],
  [
    'signal',
    'options.signal',
    [
      ...NEVER_RIGHT,
      ['true', true],
      ['a number', 5000],
      ['a text', 'abort'],
      ['an AbortController', new AbortController()],
      ['an EventTarget', new EventTarget()],
      ['an object like a signal', { aborted: false, addEventListener: () => undefined, removeEventListener: () => undefined }],
      ['an object with the prototype of AbortSignal', Object.create(AbortSignal.prototype) as object],
    ],
  ],
  [
    'secretHeaders',
    'options.headers',
    [
      ...NEVER_RIGHT,
      ['a text', 'x-key'],
      ['a Set', new Set(['x-key'])],
      ['an object', { 'x-key': true }],
      ['a list of null', [null]],
      ['a list of a number', [1]],
      ['a list with a hole', new Array(1)],
      ['an empty name', ['']],
      ['a name that is none', ['x key']],
      ['a boxed String', [new String('x-key')]],
    ],
  ],
  [
    'allowCleartextCredentials',
    'options.cleartext_credentials',
    [...NEVER_RIGHT, ['1', 1], ['yes', 'true'], ['an object', {}], ['a list', [true]]],
  ],
  [
    'eventIds',
    'options.dialect',
    [...NEVER_RIGHT, ['a number', 1], ['another word', 'none'], ['upper case', 'REQUIRED'], ['a list', ['required']], ['true', true]],
  ],
];

/** The same object, each member a getter that counts how often it is read. */
export function counting<T extends object>(members: T): [counted: T, reads: Record<string, number>] {
  const reads: Record<string, number> = {};
  const counted = {} as T;
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(counted, name, {
      enumerable: true,
      get: (): unknown => {
        reads[name] = (reads[name] ?? 0) + 1;
        return value;
      },
    });
  }
  return [counted, reads];
}

/** The same list, that counts how often each item is read. */
export function countingList<T>(items: T[]): [counted: T[], reads: Record<string, number>] {
  const reads: Record<string, number> = {};
  const counted = new Proxy(items, {
    get(target, key, receiver): unknown {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads[key] = (reads[key] ?? 0) + 1;
      return Reflect.get(target, key, receiver);
    },
  });
  return [counted, reads];
}
