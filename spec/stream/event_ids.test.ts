/** The uniqueness and order of event ids, section 3 of the profile. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refusal, type FailureRule } from '../../lib/failure.js';
import { EventIds, type EventIdMode } from '../../lib/wire/event_ids.js';
import { Random } from './random.js';

/** How many ids were taken, and what refused the next. */
function take(mode: EventIdMode, ids: readonly string[]): [taken: number, rule: FailureRule | undefined] {
  const seen = new EventIds(mode);
  for (const [taken, id] of ids.entries()) {
    try {
      seen.add(id);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return [taken, error.rule];
    }
  }
  return [ids.length, undefined];
}

const MODES: readonly EventIdMode[] = ['required', 'sequential', 'optional'];
/** Where order does not matter. */
const UNORDERED: readonly EventIdMode[] = ['required', 'optional'];
const count = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}`);
const uuid = (i: number): string => `0190a5f0-0000-7000-8000-${i.toString(16).padStart(12, '0')}`;
const MAX = Number.MAX_SAFE_INTEGER;

describe('An id that an earlier event had is refused', () => {
  const cases: readonly [string, readonly string[]][] = [
    ['at once, a number', ['1', '1']],
    ['at once, zero', ['0', '0']],
    ['at once, a text', ['a', 'a']],
    ['at once, a UUID', [uuid(1), uuid(1)]],
    ['at once, a number with a leading zero', ['01', '01']],
    ['at once, a number beyond the safe integers', ['9007199254740992', '9007199254740992']],
    ['at once, a number of 300 digits', ['9'.repeat(300), '9'.repeat(300)]],
    ['fifty events later, a text', ['a', ...count(1, 50), 'a']],
    ['fifty events later, a UUID among UUIDs', [...Array.from({ length: 50 }, (_, i) => uuid(i)), uuid(0)]],
    ['the first of a run of numbers', [...count(5, 20), '5']],
    ['the middle of a run of numbers', [...count(5, 20), '11']],
    ['the last of a run of numbers', [...count(5, 20), '20']],
    ['a run of numbers that begins again', [...count(0, 20), '0']],
    ['a number after a gap', ['1', '5', '5']],
    ['a number after a gap that the run has come to', ['1', '3', '2', '3']],
    ['a number after a gap that the run has passed by', ['1', '3', '2', '4', '5', '3']],
    ['a number beyond the run that came before the run', ['7', '8', '6', '5', '6']],
    ['numbers that count down', ['9', '8', '7', '6', '8']],
    ['a number that came among texts', ['a', '4', 'b', '4']],
    ['a text that came before any number', ['a', ...count(1, 5), 'a']],
    ['a number after two runs', [...count(1, 5), ...count(100, 105), '103']],
    ['the largest safe integer', [`${MAX - 1}`, `${MAX}`, `${MAX}`]],
    ['a number just beyond the safe integers', [`${MAX}`, '9007199254740992', '9007199254740993', '9007199254740992']],
  ];
  for (const [name, ids] of cases) {
    test(`${name}, where order does not matter`, () => {
      for (const mode of UNORDERED) assert.deepEqual(take(mode, ids), [ids.length - 1, 'sse.id_duplicate'], mode);
    });
  }

  test('where ids are sequential, and not as a gap', () => {
    assert.deepEqual(take('sequential', ['7', '7']), [1, 'sse.id_duplicate']);
    assert.deepEqual(take('sequential', [...count(3, 9), '3']), [7, 'sse.id_duplicate']);
    assert.deepEqual(take('sequential', [...count(3, 9), '5']), [7, 'sse.id_duplicate']);
  });
});

describe('An id that no earlier event had is accepted', () => {
  const cases: readonly [string, readonly string[]][] = [
    ['numbers with gaps', ['1', '2', '5', '6', '100']],
    ['numbers back before a run', ['10', '11', '3', '2', '12', '1']],
    ['numbers that count down', count(0, 50).reverse()],
    ['numbers after texts', ['a', '1', 'b', '2', 'c', '0']],
    ['ids that differ in a leading zero', ['1', '01', '001', '0', '00']],
    ['ids that differ in sign or form', ['1', '+1', '-1', '1.0', '1e0', '0x1', ' 1', '1 ', '１']],
    ['ids that differ in case', ['a', 'A']],
    ['numbers and what stands next to digits in ASCII', ['20', '1:', '9', '1/', '0:', '10', '/']],
    ['ids that differ in their Unicode form', ['\u00e9', 'e\u0301']],
    ['numbers around the largest safe integer', [`${MAX - 1}`, `${MAX}`, '9007199254740992', '9007199254740993', '9007199254740994']],
    ['numbers beyond it that are one double', ['9007199254740993', '9007199254740992', '9007199254740995', '9007199254740996']],
    ['numbers of 16 and 17 digits', ['9999999999999999', '10000000000000000', '99999999999999999']],
    ['names that mean something to JavaScript', ['__proto__', 'constructor', 'toString', 'NaN', 'Infinity', '-0']],
    ['many UUIDs', Array.from({ length: 5000 }, (_, i) => uuid(i))],
  ];
  for (const [name, ids] of cases) {
    test(`${name}, where order does not matter`, () => {
      for (const mode of UNORDERED) assert.deepEqual(take(mode, ids), [ids.length, undefined], mode);
    });
  }
});

describe('Sequential ids', () => {
  test('count up by one, from any first one', () => {
    for (const from of [0, 1, 9, 99, 41_000, MAX - 50]) {
      const ids = count(from, from + 50);
      assert.deepEqual(take('sequential', ids), [51, undefined]);
    }
  });

  const gaps: readonly [string, readonly string[]][] = [
    ['a number that is left out', ['1', '3']],
    ['a number that counts down', ['5', '4']],
    ['zero after another', ['5', '0']],
    ['a text first', ['a']],
    ['a text later', ['1', 'a']],
    ['a UUID', [uuid(1)]],
    ['a leading zero first', ['01']],
    ['a leading zero later', ['1', '02']],
    ['a double zero', ['00']],
    ['a sign', ['1', '+2']],
    ['a negative number', ['-1']],
    ['a negative zero', ['-0']],
    ['a fraction', ['1', '2.0']],
    ['an exponent', ['9', '1e1']],
    ['a hexadecimal number', ['0xa']],
    ['a space before', ['1', ' 2']],
    ['a space behind', ['1', '2 ']],
    ['digits of another script', ['１']],
    ['a number beyond the safe integers', [`${MAX}`, '9007199254740992']],
    ['a first number beyond the safe integers', ['9007199254740992']],
    ['a number of 17 digits', ['10000000000000000']],
  ];
  for (const [name, ids] of gaps) {
    test(`have a gap at ${name}`, () => {
      assert.deepEqual(take('sequential', ids), [ids.length - 1, 'sse.id_gap']);
    });
  }
});

test('Ids by chance get the verdict that a set gives, in all modes', () => {
  const random = new Random(11);
  let refused = 0;
  let taken = 0;
  for (let round = 0; round < 3000; round++) {
    const mode = random.pick(MODES);
    const spread = random.pick([4, 20, 400]);
    const near = random.pick([0, 0, 95, MAX - 10]);
    const ids: string[] = [];
    let next = near + random.below(spread);
    for (let i = random.below(60); i >= 0; i--) {
      const choice = random.below(10);
      if (choice < 6) ids.push(`${BigInt(next++)}`);
      else if (choice < 8) ids.push(`${BigInt(near) + BigInt(random.below(spread))}`);
      else ids.push(random.pick(['a', 'b', `0${next}`, uuid(random.below(spread))]));
    }
    // The second opinion.
    const seen = new Set<string>();
    let last: bigint | undefined;
    const at = ids.findIndex((id) => {
      const number = /^(0|[1-9]\d*)$/.test(id) && BigInt(id) <= BigInt(MAX) ? BigInt(id) : undefined;
      const isGap = mode === 'sequential' && (number === undefined || (last !== undefined && number !== last + 1n));
      const isOver = seen.has(id) || isGap;
      seen.add(id);
      last = number;
      return isOver;
    });
    const expected = at < 0 ? undefined : ids.indexOf(ids[at] ?? '') < at ? 'sse.id_duplicate' : 'sse.id_gap';
    assert.deepEqual(take(mode, ids), [at < 0 ? ids.length : at, expected], `${mode}: ${ids.join()}`);
    if (at < 0) taken++;
    else refused++;
  }
  assert.ok(refused > 200 && taken > 200, `${refused} refused, ${taken} taken`);
});

test('A million consecutive numbers need no memory', () => {
  const before = process.memoryUsage().arrayBuffers;
  const ids = new EventIds('required');
  for (let i = 0; i < 1_000_000; i++) ids.add(`${i}`);
  const after = process.memoryUsage().arrayBuffers;
  assert.ok(after - before < 64 * 1024, `${after - before} bytes of tables`);
  // Seen they all are.
  assert.throws(() => {
    ids.add('0');
  }, Refusal);
  assert.throws(() => {
    ids.add('777777');
  }, Refusal);
  assert.throws(() => {
    ids.add('999999');
  }, Refusal);
});
