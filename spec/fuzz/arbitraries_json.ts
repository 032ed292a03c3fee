/** JSON texts, most of them valid, spelled in all the ways that the grammar allows, and rich in what I-JSON forbids. */
import fc from 'fast-check';

const space = fc.oneof(
  { weight: 5, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom(' ', '\n', '\t', '\r\n', '   ') },
);

/** What a string may hold between its quotes. */
const unit = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a', 'b', 'z', ' ', '{', '}', '[', ':', ',', '0', '-', '_', '/', '\u007f') },
  {
    weight: 3,
    arbitrary: fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\n', '\\u0061', '\\u0000', '\\u00e9', '\\u002F', '\\ud7ff', '\\uE000'),
  },
  { weight: 2, arbitrary: fc.constantFrom('é', '词', '\u{1F600}', '\u2028', '\ufeff', '\uffff') },
  { weight: 1, arbitrary: fc.constantFrom('\\ud83d\\ude00', '\\uD83D\\uDE00', '\\udbff\\udfff', '\\ud800\\udc00') },
);
/** Half of a pair, and what may stand behind it. */
const broken = fc.constantFrom('\\ud800', '\\udfff', '\\ud83d\\u0061', '\\ud83d\\n', '\\ude00\\ud83d', '\\udbff\\\\ud', '\\uDC00');
const body = fc.oneof(
  { weight: 12, arbitrary: fc.array(unit, { maxLength: 6 }) },
  // Longer than the scan walks byte by byte.
  {
    weight: 2,
    arbitrary: fc.tuple(fc.integer({ min: 25, max: 80 }), fc.array(unit, { maxLength: 4 })).map(([n, end]) => ['x'.repeat(n), ...end]),
  },
  { weight: 1, arbitrary: fc.tuple(fc.array(unit, { maxLength: 40 }), broken, fc.array(unit, { maxLength: 40 })).map((all) => all.flat()) },
);
const string = body.map((units) => `"${units.join('')}"`);

/** Few names in many spellings, so that an object has one twice now and then. */
const name = fc.oneof(
  // One engine has taken some of these for others of them.
  { weight: 2, arbitrary: fc.constantFrom('"\\\\"', '"\\\\n"', '"\\n"', '"\\""', '"\\nx"', '"\\u0061b"', '"\\\\u"') },
  { weight: 6, arbitrary: fc.nat({ max: 30 }).map((n) => `"m${n}"`) },
  { weight: 2, arbitrary: fc.constantFrom('"a"', '"\\u0061"', '""', '"é"', '"\\u00e9"', '"e\\u0301"', '"A"', '"1"', '"01"') },
  { weight: 1, arbitrary: fc.constantFrom('"__proto"', '"__proto_"', '"x_proto__"', '"constructor"', '"prototype"', '"toString"') },
  { weight: 2, arbitrary: string },
);
const forbidden = fc.constantFrom('"__proto__"', '"\\u005f_proto__"', '"__proto_\\u005f"', '"__p\\u0072oto__"');

const digits = fc.string({ unit: fc.nat({ max: 9 }).map(String), minLength: 1, maxLength: 19 }).map((text) => text.replace(/^0+(?=.)/, ''));
const number = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...['0', '-0', '-0.0', '0e0', '1e5', '1E+2', '1e-7', '0.1', '1e308', '-1E308', '5e-324', '1e-400', '0.30000000000000004'],
      ...['9007199254740991', '-9007199254740991', '9007199254740992.0', '999999999999999', '1000000000000000', '123456789012345678e-3'],
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '9007199254740992',
      '-9007199254740993',
      '1e309',
      '-1e400',
      '12345678901234567890',
      '1e99999',
      `1${'0'.repeat(310)}.5`,
      '17976931348623159e292',
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('', '-'),
        digits,
        fc.option(digits, { nil: undefined }),
        fc.option(fc.integer({ min: -330, max: 330 }), { nil: undefined, freq: 3 }),
      )
      .map(
        (
          [sign, whole, fraction, exponent],
        ) => `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${exponent === undefined ? '' : `e${exponent}`}`,
      ),
  },
);
/** A number that every machine reads alike: most of a text should be acceptable. */
const tame = fc.integer({ min: -1000, max: 1000 }).map(String);

const scalar = fc.oneof(
  { weight: 3, arbitrary: string },
  { weight: 3, arbitrary: tame },
  { weight: 2, arbitrary: number },
  { weight: 2, arbitrary: fc.constantFrom('null', 'true', 'false') },
);

const around = (open: string, items: readonly string[], close: string, gap: string): string =>
  `${open}${gap}${items.join(`${gap},`)}${gap}${close}`;

const { value } = fc.letrec<{ value: string; list: string; object: string; deep: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    { weight: 2, arbitrary: tie('list') },
    { weight: 4, arbitrary: tie('object') },
    { weight: 1, arbitrary: tie('deep') },
  ),
  list: fc.tuple(fc.array(tie('value'), { maxLength: 4 }), space).map(([items, gap]) => around('[', items, ']', gap)),
  object: fc
    .tuple(
      fc.array(
        fc.tuple(fc.oneof({ weight: 60, arbitrary: name }, { weight: 1, arbitrary: forbidden }), space, tie('value')),
        { maxLength: 16, size: 'small' },
      ),
      space,
    )
    .map(([members, gap]) => around('{', members.map(([key, inner, held]) => `${key}${inner}:${inner}${held}`), '}', gap)),
  deep: fc
    .tuple(fc.integer({ min: 94, max: 102 }), fc.constantFrom<[string, string]>(['[', ']'], ['{"a":', '}'], ['[0,', ']']), tie('value'))
    .map(([depth, [open, close], inner]) => open.repeat(depth) + inner + close.repeat(depth)),
}));

/** One JSON text, with or without white space around it. */
export const jsonText = fc.tuple(space, value, space).map((parts) => parts.join(''));

export const jsonBytes = jsonText.map((text) => Buffer.from(text));

/** A value without white space around it, as it would stand in an envelope. */
export const jsonValueText = value;
