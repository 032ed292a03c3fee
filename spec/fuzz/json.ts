/** Properties of the I-JSON layer and of the JSON-RPC envelope around it. */
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { Refusal } from '../../lib/failure.js';
import { parseInner, parseJson, type JsonText } from '../../lib/wire/json.js';
import { ResponseDecoder, type RpcResult } from '../../lib/wire/jsonrpc.js';
import { anyBytes, mutated } from './arbitraries_bytes.js';
import { jsonBytes, jsonText, jsonValueText } from './arbitraries_json.js';
import { judgeJson } from './oracle_json.js';
import { property, type Property } from './runner.js';

/** The rule of what `run` throws. An exception that is no refusal breaks every property. */
function ruleOf<T>(run: () => T): { rule: string; path?: string | undefined } | { value: T } {
  try {
    return { value: run() };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { rule: error.rule };
  }
}

const texts = fc.oneof(
  { weight: 6, arbitrary: mutated(jsonBytes) },
  { weight: 1, arbitrary: anyBytes },
  { weight: 1, arbitrary: fc.json({ stringUnit: 'binary' }).map((text) => Buffer.from(text)) },
);

export function jsonIsJudged(parse: (bytes: Buffer) => JsonText = parseJson): Property {
  return property({
    name: 'A JSON text has the value and the member ranges that a plain walk gives, or breaks the I-JSON rule that the walk finds',
    batch: 300,
    outcomes: [
      'accepted',
      'json.utf8',
      'json.syntax',
      'json.depth',
      'json.duplicate_member',
      'json.forbidden_member',
      'json.surrogate',
      'json.number',
    ],
    cases: texts,
    check: (bytes) => {
      const { rule, value, members } = judgeJson(bytes);
      const actual = ruleOf(() => parse(bytes));
      // Strict equality tells 0 from -0.
      assert.deepStrictEqual(actual, rule === undefined ? { value: { value, members } } : { rule });
      return rule ?? 'accepted';
    },
  });
}

export function innerJsonIsJudged(parse: typeof parseInner = parseInner): Property {
  return property({
    name: 'A JSON value inside an object is parsed as it would be alone, one level deeper and without white space around it, or not at all',
    batch: 300,
    outcomes: ['accepted', 'refused'],
    cases: fc.tuple(mutated(fc.oneof(jsonBytes, jsonValueText.map((text) => Buffer.from(text)))), fc.nat({ max: 3 }), fc.nat({ max: 3 })),
    check: ([bytes, before, after]) => {
      const { rule, value } = judgeJson(bytes, 1);
      const isTrimmed = !/^[ \t\r\n]|[ \t\r\n]$/.test(bytes.toString('latin1'));
      const whole = Buffer.concat([Buffer.from('{"a":').subarray(0, before), bytes, Buffer.from('"}]').subarray(0, after)]);
      const actual = parse(whole, before, before + bytes.length);
      const expected = rule === undefined && isTrimmed ? value : undefined;
      assert.deepStrictEqual(actual, expected);
      return expected === undefined ? 'refused' : 'accepted';
    },
  });
}

const ID = '0123456789abcdef0123456789abcdef';
const id = fc.oneof(
  { weight: 12, arbitrary: fc.constant(`"${ID}"`) },
  { weight: 1, arbitrary: fc.constantFrom('null', '1', `"${ID}x"`, '""', `["${ID}"]`, `"\\u0030${ID.slice(1)}"`) },
);
const version = fc.oneof(
  { weight: 12, arbitrary: fc.constant('"2.0"') },
  { weight: 1, arbitrary: fc.constantFrom('2.0', '"2"', 'null', '"\\u0032.0"') },
);
const error = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('-32001', '1', '-0', '1.5', '"1"', 'null'),
      fc.constantFrom('"m"', '1', '""'),
      fc.constantFrom('', ',"data":{"a":1}', ',"more":1', ',"data":null'),
    )
    .map(([code, message, more]) => `{"code":${code},"message":${message}${more}}`),
  jsonValueText,
);
const member = fc.oneof(
  { weight: 8, arbitrary: jsonValueText.map((text) => `"result":${text}`) },
  { weight: 2, arbitrary: error.map((text) => `"error":${text}`) },
  { weight: 1, arbitrary: fc.constantFrom('"Result":1', '"method":"x"', '"jsonrpc":"2.0"', '"\\u0072esult":[1]', '"constructor":1') },
);
/** The envelope as most servers write it, in another order, and with spaces: what stands around the result is learnt from the last one. */
const envelope = fc
  .tuple(
    fc.nat({ max: 4 }),
    version,
    id,
    fc.oneof({ weight: 12, arbitrary: member.map((one) => [one]) }, { weight: 1, arbitrary: fc.array(member, { maxLength: 3 }) }),
  )
  .map(([form, says, answered, members]) => {
    const [first, second] = [`"jsonrpc":${says}`, `"id":${answered}`];
    switch (form) {
      case 0:
        return `{${[first, second, ...members].join()}}`;
      case 1:
        return `{${[second, ...members, first].join()}}`;
      case 2:
        return ` { ${[...members, first, second].join(' , ')} }\n`;
      case 3:
        return `{${[second, first, ...members].join(',\t')} }`;
      default:
        return `{${[...members, second].join()}}`;
    }
  })
  .map((text) => Buffer.from(text));
const envelopes = fc.array(fc.oneof(
  { weight: 9, arbitrary: mutated(envelope) },
  { weight: 1, arbitrary: jsonText.map((text) => Buffer.from(text)) },
), {
  minLength: 1,
  maxLength: 8,
});

type Decode = (bytes: Buffer) => RpcResult;

/** What JSON-RPC 2.0 makes of a text, with nothing known of the texts before it. */
function judgeEnvelope(bytes: Buffer): { rule: string } | { value: { value: unknown; raw: string; start: number } } {
  const { rule, value, members } = judgeJson(bytes);
  if (rule !== undefined) return { rule };
  const refused = (name: string): { rule: string } => ({ rule: `jsonrpc.${name}` });
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refused('members');
  const { jsonrpc, id: answered, result, error: failed, ...others } = value as Record<string, unknown>;
  if (Object.keys(others).length > 0) return refused('members');
  if (jsonrpc !== '2.0') return refused('version');
  const [hasResult, hasError] = ['result', 'error'].map((name) => members.some((each) => each.name === name));
  const mayBeNull = hasError === true && hasResult === false;
  if (answered !== ID && !(mayBeNull && answered === null)) return refused('id');
  if (hasResult === hasError) return refused('result_or_error');
  if (hasError === true) {
    const { code, message, data: _, ...more } = Object(failed) as Record<string, unknown>;
    const isError = Number.isSafeInteger(code) && typeof message === 'string' && Object.keys(more).length === 0 && !Array.isArray(failed);
    return isError ? { rule: 'remote.error' } : refused('error_object');
  }
  const { start, end } = members.find((each) => each.name === 'result')!;
  return { value: { value: result, raw: bytes.toString('latin1', start, end), start } };
}

export function envelopesAreJudged(makeDecoder: () => Decode = freshDecoder): Property {
  return property({
    name: 'An envelope is judged the same whatever envelopes came before it, and its result has its exact bytes',
    batch: 150,
    outcomes: [
      'accepted',
      'remote.error',
      'jsonrpc.members',
      'jsonrpc.version',
      'jsonrpc.id',
      'jsonrpc.result_or_error',
      'jsonrpc.error_object',
      'json.syntax',
      'json.utf8',
    ],
    cases: envelopes,
    check: (all) => {
      const decode = makeDecoder();
      return all.map((bytes) => {
        const actual = ruleOf(() => {
          const { value, raw, start } = decode(bytes);
          return { value, raw: Buffer.from(raw).toString('latin1'), start };
        });
        const expected = judgeEnvelope(bytes);
        assert.deepStrictEqual(actual, expected);
        return 'rule' in expected ? expected.rule : 'accepted';
      });
    },
  });
}

function freshDecoder(): Decode {
  const decoder = new ResponseDecoder(ID);
  return (bytes) => decoder.decode(bytes);
}
