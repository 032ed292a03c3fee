import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { safeJson, safeLine, safeText } from '../../lib/cli/sanitize.js';

/** Each character that could drive a terminal or reorder a line, with what of it is seen. */
const DANGEROUS: readonly (readonly [name: string, character: string, seen: string])[] = [
  ['ESC', '\x1b', '␛'],
  ['NUL', '\0', '␀'],
  ['the bell', '\x07', '␇'],
  ['a backspace', '\b', '␈'],
  ['a carriage return', '\r', '␍'],
  ['a form feed', '\f', '␌'],
  ['DEL', '\x7f', '␡'],
  ['CSI of C1', '\x9b', '<U+009B>'],
  ['OSC of C1', '\x9d', '<U+009D>'],
  ['a right-to-left override', '\u202e', '<U+202E>'],
  ['a right-to-left isolate', '\u2067', '<U+2067>'],
  ['an Arabic letter mark', '\u061c', '<U+061C>'],
  ['a right-to-left mark', '\u200f', '<U+200F>'],
  ['a line separator', '\u2028', '<U+2028>'],
];

describe("An agent's words on a terminal", () => {
  for (const [name, character, seen] of DANGEROUS) {
    test(`Of ${name} its picture or its number is seen`, () => {
      equal(safeText(`a${character}b`), `a${seen}b`);
      equal(safeLine(`a${character}b`), `a${seen}b`);
    });
  }

  test('Every character of C0 and C1 is changed but the tab and the line feed', () => {
    const codes = Array.from({ length: 0xa0 }, (_, code) => code).filter((code) => code < 0x20 || code >= 0x7f);
    const same = codes.filter((code) => safeText(`a${String.fromCharCode(code)}b`).includes(String.fromCharCode(code)));
    deepEqual(same, [0x09, 0x0a]);
  });

  test('Text of any script, emoji and combined characters stay as they are', () => {
    const text = 'a\tb\nc é 你好 שלום مرحبا 👩‍👩‍👧 🏴󠁧󠁢󠁳󠁣󠁴󠁿 ǻ';
    equal(safeText(text), text);
  });

  test('A line ending of two characters is one', () => {
    equal(safeText('a\r\nb'), 'a\nb');
  });

  test('On one line there is no line break, and it is cut where a reader counts', () => {
    equal(safeLine('a\nb\tc\r\nd'), 'a␊b c␊d');
    equal(safeLine('👩‍👩‍👧'.repeat(5), 3), `${'👩‍👩‍👧'.repeat(3)}…`);
    equal(safeLine('abc', 3), 'abc');
    equal(safeLine('x'.repeat(1_000_000)).length, 201);
  });

  test('JSON keeps its value, whatever is in its strings', () => {
    for (const [, character] of DANGEROUS) {
      const text = JSON.stringify({ [character]: `a${character}b` });
      ok(!safeJson(text).includes(character));
      deepEqual(JSON.parse(safeJson(text)), JSON.parse(text));
    }
    // As an agent may write it: not escaped.
    equal(safeJson('{"a":"\x9b31m"}'), '{"a":"\\u009b31m"}');
  });
});
