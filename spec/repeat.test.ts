import fc from 'fast-check';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Dialect } from '../lib/dialect/dialect.js';
import { v0_3 } from '../lib/dialect/v0_3.js';
import { v1_0 } from '../lib/dialect/v1_0.js';
import { Refusal } from '../lib/failure.js';
import { RepeatRecognition, type DecodedEvent, type PlainDecoder } from '../lib/repeat.js';
import { ResponseDecoder } from '../lib/wire/jsonrpc.js';

const ID = '0123456789abcdef0123456789abcdef';

function plainDecoder(dialect: Dialect): PlainDecoder {
  const decoder = new ResponseDecoder(ID);
  return (data) => {
    const { value, start, end } = decoder.decode(data);
    return { event: dialect.decodeEvent(value), isFinal: dialect.isFinal(value), start, end };
  };
}

type Outcome = { rule: string; path: string | undefined } | (Omit<DecodedEvent, 'start' | 'end'> & { raw: string });

function outcomeOf(decode: PlainDecoder, data: Buffer): Outcome {
  try {
    const { event, isFinal, start, end } = decode(data);
    return { event, isFinal, raw: data.toString('latin1', start, end) };
  } catch (error) {
    assert.ok(error instanceof Refusal);
    return { rule: error.rule, path: error.path };
  }
}

/** A decoder that counts how often the plain path was taken. */
function counted(plain: PlainDecoder): { decode: PlainDecoder; taken: () => number } {
  let taken = 0;
  return {
    decode: (data) => {
      taken++;
      return plain(data);
    },
    taken: () => taken,
  };
}

/** The data of an artifact update, `text` put in as it stands. */
type Shape = (text: string) => string;
const v1 = (members: string, rest = ''): Shape => (text) =>
  `{"jsonrpc":"2.0","id":"${ID}","result":{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{${members}"text":"${text}"}]}${rest}}}}`;
const v03 = (rest = ''): Shape => (text) =>
  `{"id":"${ID}","jsonrpc":"2.0","result":{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"${text}"}]}${rest}}}`;

const SHAPES: Record<string, { dialect: Dialect; shapes: Shape[] }> = {
  '1.0': {
    dialect: v1_0,
    shapes: [
      v1(''),
      v1('', ',"append":true'),
      v1('', ',"lastChunk":true '),
      v1('"mediaType":"text/plain","filename":"f",'),
      // Texts that stand elsewhere too, before and behind, known and unknown.
      v1('"filename":"word",'),
      v1('', ',"unknown":{"text":"word"}'),
      v1('"unknown":"word",', ',"metadata":null'),
      // Nothing to be recognised: what goes with the text would have to be copied.
      v1('"metadata":{"n":1},'),
      v1('', ',"metadata":{"text":"word"}'),
      // Refused, however often it is repeated.
      v1('"text":"word",'),
      v1('"data":1,'),
      v1('', ',"append":1e999'),
    ],
  },
  '0.3': { dialect: v0_3, shapes: [v03(), v03(',"append":true'), v03(',"final":true'), v03(',"unknown":"word"'), v03(',"taskId":"t"')] },
};

const text = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('word', '', 'other', 'wörd', '词', '\u{1F600}', 'a b') },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }).map((plain) => JSON.stringify(plain).slice(1, -1)) },
  // What would end the string, or be none.
  {
    weight: 3,
    arbitrary: fc.constantFrom('"', '\\', '\\"', '\n', '\u0000', 'x","text":"y', '"}]},"append":true,"x":{"y":[{"text":"', '\\u0041', '\\ud800', '\u007f', '\t', 'x"}'),
  },
);
/** A byte changed anywhere: most of all where a template would look. */
const damage = fc.option(fc.tuple(fc.nat({ max: 400 }), fc.nat({ max: 255 })), { nil: undefined, freq: 6 });

describe('Recognition of repeats', () => {
  for (const [name, { dialect, shapes }] of Object.entries(SHAPES)) {
    test(`gives in ${name} just what the plain path gives: value, bytes, verdict, rule and path`, () => {
      let recognised = 0;
      let refused = 0;
      // Most of a stream is of one shape.
      const shape = fc.oneof({ weight: 2, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.nat({ max: shapes.length - 1 }) });
      const event = fc.tuple(shape, text, damage);
      fc.assert(
        fc.property(fc.array(event, { minLength: 2, maxLength: 40 }), (events) => {
          const plain = plainDecoder(dialect);
          const behind = counted(plainDecoder(dialect));
          const repeats = new RepeatRecognition(behind.decode);
          for (const [which, body, hurt] of events) {
            const data = Buffer.from(shapes[which]!(body));
            if (hurt !== undefined && hurt[0] < data.length) data[hurt[0]] = hurt[1];
            const expected = outcomeOf(plain, data);
            const before = behind.taken();
            const actual = outcomeOf((bytes) => repeats.decode(bytes), data);
            assert.deepEqual(actual, expected, data.toString());
            if (behind.taken() === before) recognised++;
            if ('rule' in expected) refused++;
          }
        }),
        { seed: 23, numRuns: 1500 },
      );
      // The comparison would be worth nothing if one of the paths were not taken.
      assert.ok(recognised > 500, `${recognised} recognised`);
      assert.ok(refused > 500, `${refused} refused`);
    });
  }

  test('takes a text with escapes for a text, and what only looks like one the plain path', () => {
    const behind = counted(plainDecoder(v1_0));
    const repeats = new RepeatRecognition(behind.decode);
    const decode = (body: string): Outcome => outcomeOf((bytes) => repeats.decode(bytes), Buffer.from(v1('')(body)));
    decode('first');
    const learnt = behind.taken();
    for (const said of ['a\nb', '"quoted"', 'back\\slash', '\u{1F600} escaped', 'tab\tand é', '/']) {
      const escaped = JSON.stringify(said).slice(1, -1).replace(/[^\u0000-\u007f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
      const outcome = decode(escaped.replace('/', '\\/'));
      assert.ok('event' in outcome && outcome.event.$case === 'artifactUpdate');
      assert.deepEqual(outcome.event.value.artifact?.parts[0]?.content, { $case: 'text', value: said });
    }
    assert.equal(behind.taken(), learnt);
    for (const body of ['\\ud83d', '\\ude00\\ud83d', '\\x', '\\u12', '\\\n', 'cut\\', '\\\\" ,"x":"']) {
      const before = behind.taken();
      assert.deepEqual(decode(body), outcomeOf(plainDecoder(v1_0), Buffer.from(v1('')(body))));
      assert.ok(behind.taken() > before, body);
    }
  });

  test('hands out objects that no two events share', () => {
    const repeats = new RepeatRecognition(plainDecoder(v1_0));
    const decode = (body: string): DecodedEvent => repeats.decode(Buffer.from(v1('')(body)));
    decode('first');
    const [a, b] = [decode('one'), decode('two')];
    assert.ok(a.event.$case === 'artifactUpdate' && b.event.$case === 'artifactUpdate');
    a.event.value.artifact?.parts.push({ content: undefined, metadata: undefined, filename: '', mediaType: '' });
    a.event.value.artifact?.extensions.push('changed');
    assert.equal(b.event.value.artifact?.parts.length, 1);
    assert.deepEqual(b.event.value.artifact.extensions, []);
    const again = decode('three');
    assert.deepEqual(again.event.$case === 'artifactUpdate' && again.event.value.artifact?.extensions, []);
  });

  test('owes nothing to the event that it learnt from: what a consumer does to it changes no other', () => {
    const repeats = new RepeatRecognition(plainDecoder(v1_0));
    const shape = v1('"mediaType":"text/plain",', ',"append":true');
    const { event } = repeats.decode(Buffer.from(shape('first')));
    const expected = outcomeOf(plainDecoder(v1_0), Buffer.from(shape('second')));
    assert.ok(event.$case === 'artifactUpdate' && event.value.artifact !== undefined);
    Object.assign(event.value, { taskId: 'mine', contextId: 'mine', append: 'mine', lastChunk: true, metadata: { mine: 1 } });
    Object.assign(event.value.artifact, { artifactId: 'mine', name: 'mine', extensions: ['mine'] });
    Object.assign(event.value.artifact.parts[0]!, { mediaType: 'mine', filename: 'mine', metadata: {} });
    assert.deepEqual(outcomeOf((bytes) => repeats.decode(bytes), Buffer.from(shape('second'))), expected);
  });

  test('learns in linear time, whatever the text and whatever it is looked for in', () => {
    const decode = (size: number): number => {
      const data = Buffer.from(v1('', `,"unknown":"${'\\"'.repeat(size)}"`)(`${'\\"'.repeat(size / 10)}x`));
      let least = Infinity;
      for (let i = 0; i < 5; i++) {
        const repeats = new RepeatRecognition(plainDecoder(v1_0));
        const from = performance.now();
        repeats.decode(data);
        least = Math.min(least, performance.now() - from);
      }
      return least;
    };
    decode(3000);
    let ratio = Infinity;
    for (let attempt = 0; attempt < 3 && ratio >= 16; attempt++) ratio = decode(24_000) / decode(3000);
    assert.ok(ratio < 16, `eight times the event took ${ratio.toFixed(1)} times as long`);
  });

  test('learns nothing from large events, and not for ever', () => {
    const behind = counted(plainDecoder(v1_0));
    const repeats = new RepeatRecognition(behind.decode);
    const large = Buffer.from(v1('', `,"unknown":"${'x'.repeat(70_000)}"`)('text'));
    repeats.decode(large);
    repeats.decode(large);
    assert.equal(behind.taken(), 2);
    // Each new shape is repeated once, so that none was learnt in vain.
    for (let i = 0; i < 1000; i++) for (const body of ['a', 'b']) repeats.decode(Buffer.from(v1(`"filename":"${i}",`)(body)));
    assert.ok(behind.taken() > 1500 && behind.taken() < 2600, String(behind.taken()));
  });

  test('learns no more where no two events are alike', () => {
    const behind = counted(plainDecoder(v1_0));
    const repeats = new RepeatRecognition(behind.decode);
    for (let i = 0; i < 100; i++) repeats.decode(Buffer.from(v1(`"filename":"${i}",`)(`text ${i}`)));
    // One for each event, and one more for each of the few experiments.
    assert.ok(behind.taken() < 120, String(behind.taken()));
  });

  test('is not taken in by a text that stands where it would be found first', () => {
    const repeats = new RepeatRecognition(plainDecoder(v1_0));
    const shape = v1('', ',"unknown":"word"');
    for (const body of ['word', 'word', 'other']) {
      const { event } = repeats.decode(Buffer.from(shape(body)));
      assert.ok(event.$case === 'artifactUpdate');
      assert.deepEqual(event.value.artifact?.parts[0]?.content, { $case: 'text', value: body });
    }
  });
});
