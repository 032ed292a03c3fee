/** Events that repeat another but for their text, and events that only look as if they did. */
import fc from 'fast-check';
import assert from 'node:assert/strict';
import type { Dialect } from '../../lib/dialect/dialect.js';
import { v0_3 } from '../../lib/dialect/v0_3.js';
import { v1_0 } from '../../lib/dialect/v1_0.js';
import { Refusal } from '../../lib/failure.js';
import { RepeatRecognition, type PlainDecoder } from '../../lib/repeat.js';
import { ResponseDecoder } from '../../lib/wire/jsonrpc.js';
import { mutated } from './arbitraries_bytes.js';
import { ID } from './memory_agent.js';
import { property, type Property } from './runner.js';

/** Where the text of an event goes in its shape. */
const TEXT = '\u0001';

/** Members around the part's text: nothing, the same text once more, things that a template must not swallow. */
const beside = fc.constantFrom(
  ...['', '', '', `"mediaType":"text/plain"`, `"filename":"${TEXT}"`, `"filename":"word"`, `"unknown":"${TEXT}"`, `"text":"word"`],
  ...[
    `"metadata":{}`,
    `"metadata":null`,
    `"metadata":{"text":"${TEXT}"}`,
    `"data":null`,
    `"url":"${TEXT}"`,
    `"unknown":{"text":"word"}`,
    `"unknown":"\\"text\\":\\"word\\""`,
  ],
);
const behind = fc.constantFrom(
  ...[
    '',
    '',
    '',
    `"append":true`,
    `"lastChunk":true`,
    `"unknown":"word"`,
    `"unknown":["${TEXT}"]`,
    `"metadata":{"a":"${TEXT}"}`,
    `"append":null`,
  ],
  ...[`"final":true`, `"contextId":"${TEXT}"`, `"unknown":{"artifact":{"parts":[{"text":"word"}]}}`, `"append":1`],
);
const ids = fc.constantFrom(
  `"artifactId":"a"`,
  `"artifactId":"word"`,
  `"artifactId":"${TEXT}"`,
  `"artifactId":"a","name":"word"`,
  `"artifactId":"a","extensions":[]`,
  `"artifactId":"a","extensions":["word"]`,
);
const joined = (...members: string[]): string => members.filter((member) => member !== '').join();

/** The data of an artifact update, written one way or another. */
const shape = fc
  .record(
    {
      isFirst: fc.boolean(),
      ids,
      beside,
      behind,
      order: fc.nat({ max: 3 }),
      gap: fc.constantFrom('', '', ' ', '\t'),
      parts: fc.nat({ max: 11 }),
    },
  )
  .map(({ isFirst, ids: id, beside: with_, behind: after, order, gap, parts }) => {
    const text = `"text":${gap}"${TEXT}"`;
    const kind = isFirst ? '' : `"kind":"text"`;
    const part = `{${order % 2 === 0 ? joined(kind, with_, text) : joined(text, with_, kind)}}`;
    const artifact = `"artifact":{${id},"parts":[${[...Array.from({ length: parts === 0 ? 2 : 1 }, () => part)].join()}]}`;
    const update = joined(`"taskId":"t"`, ...(order < 2 ? [artifact, after] : [after, artifact]));
    const result = isFirst ? `{"artifactUpdate":{${update}}}` : `{"kind":"artifact-update",${update}}`;
    const envelope = order === 3 ? [
      `"result":${gap}${result}`,
      `"id":"${ID}"`,
      `"jsonrpc":"2.0"`,
    ] : [`"jsonrpc":"2.0"`, `"id":"${ID}"`, `"result":${result}${gap}`];
    return `{${envelope.join()}}`;
  });

/** What stands between the quotes. */
const text = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('word', '', 'a b', 'é', '\u{1F600}', 'x'.repeat(40)) },
  { weight: 2, arbitrary: fc.constantFrom('\\n', '\\"', '\\u0041', '\\ud83d\\ude00', '\\\\') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '"',
      '\\',
      '\n',
      '\0',
      '\u007f',
      '\\ud800',
      '\\x',
      'x","text":"y',
      'x"},{"text":"y',
      'x"}]},"append":true,"u":{"v":[{"w":"',
      '","artifactId":"b',
      'x"}',
    ),
  },
);

const events = fc
  .tuple(
    fc.array(shape, { minLength: 1, maxLength: 3 }),
    fc.array(fc.tuple(fc.nat({ max: 5 }), text), { minLength: 2, maxLength: 14 }),
  )
  .map(([shapes, all]) => all.map(([which, body]) => Buffer.from((shapes[which % shapes.length]!).replaceAll(TEXT, () => body))));
/** Now and then one is hurt. */
const streams = fc.oneof(
  { weight: 3, arbitrary: events },
  { weight: 2, arbitrary: events.chain((all) => fc.tuple(...all.map((each) => mutated(fc.constant(each), 12)))) },
);

function plainDecoder(dialect: Dialect): PlainDecoder {
  const decoder = new ResponseDecoder(ID);
  return (data) => {
    const { value, start, end } = decoder.decode(data);
    return { event: dialect.decodeEvent(value), isFinal: dialect.isFinal(value), start, end };
  };
}

function outcomeOf(decode: PlainDecoder, data: Buffer): object {
  try {
    const { event, isFinal, start, end } = decode(data);
    return { event, isFinal, start, end };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { rule: error.rule, path: error.path };
  }
}

type MakeRecognition = (plain: PlainDecoder) => { decode(data: Buffer): ReturnType<PlainDecoder> };

export function repeatsAreRecognised(make: MakeRecognition = (plain) => new RepeatRecognition(plain)): Property {
  return property({
    name: 'An event whose repeat is recognised has the value, bytes or rule that it has without recognition',
    batch: 100,
    outcomes: ['recognised', 'plain', 'refused'],
    cases: fc.tuple(streams, fc.constantFrom(v1_0, v0_3)),
    check: ([all, guessed]) => {
      // Mostly the dialect that it is written in.
      const isFirst = all[0]?.includes('artifactUpdate') === true;
      const dialect = all.length % 5 === 0 ? guessed : isFirst ? v1_0 : v0_3;
      const plain = plainDecoder(dialect);
      const counted = plainDecoder(dialect);
      let taken = 0;
      const recognition = make((data) => {
        taken++;
        return counted(data);
      });
      return all.map((data) => {
        const expected = outcomeOf(plain, data);
        const before = taken;
        assert.deepEqual(outcomeOf((bytes) => recognition.decode(bytes), data), expected, data.toString());
        return 'rule' in expected ? 'refused' : taken === before ? 'recognised' : 'plain';
      });
    },
  });
}
