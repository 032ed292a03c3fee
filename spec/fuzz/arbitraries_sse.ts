/** Event streams, most of them well framed. */
import fc from 'fast-check';
import type { EventIdMode } from '../../lib/wire/event_ids.js';
import type { SseBounds } from '../../lib/wire/sse.js';

const lineEnd = fc.oneof(
  { weight: 12, arbitrary: fc.constant('\n') },
  { weight: 4, arbitrary: fc.constant('\r\n') },
  { weight: 1, arbitrary: fc.constant('\r') },
);
const colon = fc.oneof(
  { weight: 8, arbitrary: fc.constant(': ') },
  { weight: 3, arbitrary: fc.constant(':') },
  { weight: 1, arbitrary: fc.constantFrom(':  ', ' : ', '', ':\t') },
);

const text = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.string(
      { unit: fc.constantFrom('a', 'b', '"', '{', '}', ':', ' ', 'é', '\u{1F600}', '\0', '\t', '\u2028', '\u0085'), maxLength: 12 },
    ),
  },
  { weight: 1, arbitrary: fc.integer({ min: 20, max: 400 }).map((length) => 'd'.repeat(length)) },
);
/** Integers near each other, in and out of order; texts; what no id may be. */
const id = fc.oneof(
  { weight: 10, arbitrary: fc.nat({ max: 12 }).map(String) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('a', 'b', '-1', '00', '01', '1.0', ' 1', 'é', '9007199254740991', '9007199254740992', '10000000000000000'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', ' ', '\0', '\x07', '\u0085', 'x'.repeat(256), 'x'.repeat(257), 'é'.repeat(128), 'é'.repeat(129)),
  },
);
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('message', 'error') },
  { weight: 1, arbitrary: fc.constantFrom('', 'Message', 'errors', 'message ', 'ping', 'messagee') },
);

type Line = [field: string, value: string];
const noise: fc.Arbitrary<Line[]> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Line[]>([]) },
  { weight: 1, arbitrary: fc.constantFrom<Line[]>([['', 'ping']], [['', '']], [['', ''], ['', ' x']]) },
);
const stray: fc.Arbitrary<Line> = fc.constantFrom<Line>(
  ['data', 'again'],
  ['retry', '10'],
  ['Data', 'x'],
  ['id', 'b'],
  ['event', 'message'],
  ['dat', 'x'],
  ['events', 'x'],
  ['idx', '1'],
);

/** The lines of one event, then the empty one. */
const event = fc
  .tuple(
    noise,
    fc.option(id, { nil: undefined, freq: 9 }),
    fc.option(name, { nil: undefined, freq: 2 }),
    fc.option(text, { nil: undefined, freq: 15 }),
    fc.option(stray, { nil: undefined, freq: 1 }),
    fc.nat({ max: 23 }),
    fc.nat({ max: 5 }),
  )
  .map(([comments, key, named, data, odd, whether, turn]): Line[] => {
    const lines: Line[] = [];
    if (key !== undefined) lines.push(['id', key]);
    if (named !== undefined) lines.push(['event', named]);
    if (data !== undefined) lines.push(['data', data]);
    if (odd !== undefined && whether === 0) lines.push(odd);
    // Lines may come in any order, comments between them.
    const rotated = [...lines.slice(turn % (lines.length + 1)), ...lines.slice(0, turn % (lines.length + 1))];
    return turn % 2 === 0 ? [...comments, ...rotated] : [...rotated.slice(0, 1), ...comments, ...rotated.slice(1)];
  });

/** The same line end throughout, mostly. */
const ends = fc.oneof(
  { weight: 6, arbitrary: lineEnd.map((one) => [one]) },
  { weight: 1, arbitrary: fc.array(lineEnd, { minLength: 2, maxLength: 9 }) },
);
const colons = fc.oneof(
  { weight: 5, arbitrary: fc.constant([': ']) },
  { weight: 2, arbitrary: fc.constant([':']) },
  { weight: 1, arbitrary: fc.array(colon, { minLength: 1, maxLength: 5 }) },
);
const before = fc.oneof(
  { weight: 20, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom('\ufeff', '\n\n', ':\n', '\ufeff\n') },
);

export const eventStream = fc.tuple(
  before,
  fc.array(event, { maxLength: 8 }),
  ends,
  colons,
  fc.nat({ max: 9 }),
).map(([start, events, lineEnds, between, last]) => {
  let turn = 0;
  const end = (): string => lineEnds[turn++ % lineEnds.length]!;
  const lines = events.map(
    (one) => one.map(([field, value]) => `${field}${between[turn % between.length]!}${value}${end()}`).join('') + end(),
  );
  const whole = Buffer.from(start + lines.join(''));
  // Now and then the stream breaks off.
  return last === 0 ? whole.subarray(0, -1) : last === 1 ? whole.subarray(0, -3) : whole;
});

const bound = (least: number, most: number): fc.Arbitrary<number> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(Infinity) }, { weight: 2, arbitrary: fc.integer({ min: least, max: most }) });

export const sseBounds: fc.Arbitrary<SseBounds> = fc.record({
  maxEventBytes: bound(1, 300),
  maxStreamBytes: bound(1, 900),
  maxStreamEvents: bound(1, 6),
  eventIds: fc.constantFrom<EventIdMode>('required', 'optional', 'optional', 'sequential'),
});
