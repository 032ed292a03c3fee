/**
 * Bytes → one I-JSON value (RFC 7493), and where the bytes of the root object's members are.
 *
 * `JSON.parse` does the grammar and the values. What it lets pass is found by a scan of our own over the same bytes, which can
 * therefore take the grammar as proven. The scan reads each byte once, keeps a stack of at most {@link MAX_DEPTH} levels, and
 * never calls itself: neither its time nor its stack depends on how the input is nested.
 */
import { constants, isAscii, isUtf8 } from 'node:buffer';
import { Refusal, type FailureRule } from '../failure.js';
import { build } from './json_value.js';

/** Objects and lists open at once. */
export const MAX_DEPTH = 100;

/** No JavaScript string is longer, so no larger text can be parsed: the ceiling of every byte bound. */
export const MAX_TEXT_BYTES = constants.MAX_STRING_LENGTH;

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/** A member of the root object: its name, and the range of its value in the bytes, `end` exclusive. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** A whole text that kept every rule. `members` is empty unless the root is an object; of a long one it holds the first few. */
export interface JsonText {
  readonly value: unknown;
  readonly members: readonly Member[];
}

/**
 * A JSON-RPC envelope has four members at most, and they differ (`json.duplicate_member`). Of five, one is unknown: the envelope
 * is refused whatever the sixth is.
 */
const MEMBERS_KEPT = 5;

/** The rules that the scan decides, in the order of the README's table: of several, the first is reported. */
const SCAN_RULES = [
  'json.depth',
  'json.duplicate_member',
  'json.forbidden_member',
  'json.surrogate',
  'json.number',
] as const satisfies readonly FailureRule[];
const DEPTH = 0;
const DUPLICATE = 1;
const FORBIDDEN = 2;
const SURROGATE = 3;
const NUMBER = 4;
const NOTHING_BROKEN = SCAN_RULES.length;

/**
 * Parses one I-JSON text.
 * @throws {Refusal} `json.*`, the first that is broken in the order of the README's table.
 */
export function parseJson(bytes: Buffer): JsonText {
  let text: string;
  let value: unknown;
  try {
    text = textOf(bytes, 0, bytes.length);
    value = JSON.parse(text);
  } catch (reason) {
    if (reason instanceof Refusal) throw reason;
    throw new Refusal('json.syntax', { reason });
  }
  const members: Member[] = [];
  const rule = SCAN_RULES[scan(bytes, 0, bytes.length, 0, members)];
  if (rule !== undefined) throw new Refusal(rule);
  return { value: nameEscaped ? build(text) : value, members };
}

/** The value that takes up all of `start` to `end` and stands inside one object; `undefined` where no I-JSON value does. */
export function parseInner(bytes: Buffer, start: number, end: number): unknown {
  if (isWhiteSpace(bytes[start]) || isWhiteSpace(bytes[end - 1])) return undefined;
  let text: string;
  let value: unknown;
  try {
    text = textOf(bytes, start, end);
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (scan(bytes, start, end, 1, undefined) !== NOTHING_BROKEN) return undefined;
  return nameEscaped ? build(text) : value;
}

/** @throws {Refusal} `json.utf8` */
function textOf(bytes: Buffer, start: number, end: number): string {
  // latin1 makes the same string of ASCII bytes, several times faster.
  if (isAscii(bytes)) return bytes.toString('latin1', start, end);
  const isMarked = bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf;
  if (isMarked || !isUtf8(bytes)) throw new Refusal('json.utf8');
  return bytes.toString('utf8', start, end);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;
const FORBIDDEN_NAME = '__proto__';

/** Up to this many names of one object are compared with each other; from there on a set holds them, or time would be quadratic. */
const COMPARED_NAMES = 12;

// The scan's working store. It never waits and runs nobody else's code, so one store serves every call.
/** For each open level: the number of names seen in it, or -1 where it is a list. */
const nameCounts = new Int32Array(MAX_DEPTH + 1);
/** For each open level: the set of its names, once they are too many or too odd to compare as bytes. */
const nameSets: (Set<string> | undefined)[] = new Array<undefined>(MAX_DEPTH + 1).fill(undefined);
/** For each open level, where its first names begin and end. */
const nameStarts = new Int32Array((MAX_DEPTH + 1) * COMPARED_NAMES);
const nameEnds = new Int32Array((MAX_DEPTH + 1) * COMPARED_NAMES);
/** A member name of the text has an escape in it: its value is not left to `JSON.parse`. */
let nameEscaped = false;

/**
 * Scans a value whose grammar is proven.
 * @param outer how many objects and lists the value stands in
 * @param members where to put those of the root object
 * @returns the index in {@link SCAN_RULES} of the first row that is broken, or {@link NOTHING_BROKEN}.
 */
function scan(bytes: Buffer, start: number, length: number, outer: number, members: Member[] | undefined): number {
  let worst: number = NOTHING_BROKEN;
  let depth = outer;
  let nextBackslash = -1; // at or after the position of the scan; looked for again only once it was passed
  let expectName = false;
  let memberName: string | undefined;
  let memberStart = -1;
  let at = start;
  nameEscaped = false;
  while (at < length) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      const from = at + 1;
      let end = from;
      // Short strings, nearly all of them, end within a few steps; a long one is left to the native search.
      const nearby = Math.min(length, from + 32);
      let escaped = false;
      while (end < nearby) {
        const inner = bytes[end] as number;
        if (inner === QUOTE) break;
        if (inner === BACKSLASH) {
          escaped = true;
          break;
        }
        end++;
      }
      if (end === nearby && !escaped) {
        end = bytes.indexOf(QUOTE, end);
        if (nextBackslash < from) {
          nextBackslash = bytes.indexOf(BACKSLASH, from);
          if (nextBackslash < 0) nextBackslash = length;
        }
        if (nextBackslash < end) {
          escaped = true;
          end = nextBackslash;
        }
      }
      if (escaped) {
        end = endOfEscaped(bytes, end);
        if (end < 0) {
          if (SURROGATE < worst) worst = SURROGATE;
          end = -end;
        }
      }
      at = end + 1;
      if (expectName) {
        expectName = false;
        if (escaped) nameEscaped = true;
        const broken = addName(bytes, depth, from, end, escaped);
        if (broken < worst) worst = broken;
        if (depth === 1 && members !== undefined && members.length < MEMBERS_KEPT) {
          memberName = stringAt(bytes, from, end, escaped);
          memberStart = -1;
        }
      }
      continue;
    }
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 1 && memberName !== undefined) {
        members?.push({ name: memberName, start: memberStart, end: trimmedEnd(bytes, at) });
        memberName = undefined;
      }
      if (byte === COMMA) {
        expectName = (nameCounts[depth] as number) >= 0;
      } else {
        expectName = false;
        if (byte === CLOSE_OBJECT) nameSets[depth] = undefined;
        depth--;
      }
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (depth === MAX_DEPTH) {
        // The first row of the scan: nothing that follows can come before it.
        nameSets.fill(undefined);
        return DEPTH;
      }
      depth++;
      expectName = byte === OPEN_OBJECT;
      nameCounts[depth] = expectName ? 0 : -1;
      // Of a call that the engine cut short, one might be left.
      nameSets[depth] = undefined;
    } else if (byte === COLON) {
      if (depth === 1 && memberName !== undefined) memberStart = trimmedStart(bytes, at + 1);
    } else if (byte === MINUS || (byte >= 0x30 && byte <= 0x39)) {
      const end = endOfNumber(bytes, at + 1);
      if (NUMBER < worst && !isExactNumber(bytes, at, end)) worst = NUMBER;
      at = end;
      continue;
    }
    at++;
  }
  return worst;
}

/**
 * The index of the closing quote of a string, from its first backslash on. Negated where an escaped surrogate lacks its half:
 * the closing quote of a string is never at 0.
 */
function endOfEscaped(bytes: Buffer, firstBackslash: number): number {
  let at = firstBackslash;
  let paired = true;
  for (;;) {
    const byte = bytes[at];
    if (byte === QUOTE) return paired ? at : -at;
    if (byte !== BACKSLASH) {
      at++;
      continue;
    }
    if (bytes[at + 1] !== 0x75) {
      at += 2;
      continue;
    }
    const unit = hex4(bytes, at + 2);
    at += 6;
    if (unit >= 0xdc00 && unit <= 0xdfff) {
      paired = false;
    } else if (unit >= 0xd800 && unit <= 0xdbff) {
      const low = bytes[at] === BACKSLASH && bytes[at + 1] === 0x75 ? hex4(bytes, at + 2) : 0;
      if (low >= 0xdc00 && low <= 0xdfff) at += 6;
      else paired = false;
    }
  }
}

function hex4(bytes: Buffer, at: number): number {
  return (
    (hexDigit(bytes[at] as number) << 12) |
    (hexDigit(bytes[at + 1] as number) << 8) |
    (hexDigit(bytes[at + 2] as number) << 4) |
    hexDigit(bytes[at + 3] as number)
  );
}

function hexDigit(byte: number): number {
  return byte <= 0x39 ? byte - 0x30 : (byte & 0xdf) - 0x37;
}

/** Notes a member name of the object at `depth`; the row that it breaks, or {@link NOTHING_BROKEN}. */
function addName(bytes: Buffer, depth: number, start: number, end: number, escaped: boolean): number {
  const count = nameCounts[depth] as number;
  nameCounts[depth] = count + 1;
  let set = nameSets[depth];
  const base = depth * COMPARED_NAMES;
  if (set === undefined && !escaped && count < COMPARED_NAMES) {
    for (let i = base; i < base + count; i++) {
      if (sameBytes(bytes, nameStarts[i] as number, nameEnds[i] as number, start, end)) return DUPLICATE;
    }
    nameStarts[base + count] = start;
    nameEnds[base + count] = end;
    return isForbidden(bytes, start, end) ? FORBIDDEN : NOTHING_BROKEN;
  }
  if (set === undefined) {
    set = new Set();
    for (let i = base; i < base + count; i++) set.add(bytes.toString('utf8', nameStarts[i], nameEnds[i]));
    nameSets[depth] = set;
  }
  const name = stringAt(bytes, start, end, escaped);
  if (set.has(name)) return DUPLICATE;
  set.add(name);
  return name === FORBIDDEN_NAME ? FORBIDDEN : NOTHING_BROKEN;
}

function sameBytes(bytes: Buffer, aStart: number, aEnd: number, bStart: number, bEnd: number): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false;
  // Names that differ mostly differ at their end (`taskId`, `contextId`) or their length.
  for (let i = aEnd - 1, j = bEnd - 1; i >= aStart; i--, j--) {
    if (bytes[i] !== bytes[j]) return false;
  }
  return true;
}

function isForbidden(bytes: Buffer, start: number, end: number): boolean {
  return end - start === FORBIDDEN_NAME.length && bytes[start] === 0x5f && bytes.toString('latin1', start, end) === FORBIDDEN_NAME;
}

function stringAt(bytes: Buffer, start: number, end: number, escaped: boolean): string {
  const text = bytes.toString('utf8', start, end);
  return escaped ? (JSON.parse(`"${text}"`) as string) : text;
}

function endOfNumber(bytes: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const byte = bytes[at];
    // Digits, `.`, `+`, `-`, `e`, `E`: after a number that is none of these stands the end of its value.
    if (byte === undefined || !((byte >= 0x2b && byte <= 0x39 && byte !== COMMA) || byte === 0x65 || byte === 0x45)) return at;
    at++;
  }
}

/** RFC 7493 section 2.2: an integer literal that a double holds exactly, or any other number that does not overflow one. */
function isExactNumber(bytes: Buffer, start: number, end: number): boolean {
  // 15 digits are always exact and never overflow, unless there is an exponent; none is that short to be seen here and large.
  if (end - start <= 15 && !hasExponent(bytes, start, end)) return true;
  const text = bytes.toString('latin1', start, end);
  const number = Number(text);
  return /[.eE]/.test(text) ? Number.isFinite(number) : Number.isSafeInteger(number);
}

function hasExponent(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if ((bytes[at] as number) >= 0x45) return true;
  }
  return false;
}

function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function trimmedStart(bytes: Buffer, from: number): number {
  let at = from;
  while (isWhiteSpace(bytes[at])) at++;
  return at;
}

function trimmedEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (isWhiteSpace(bytes[at - 1])) at--;
  return at;
}
