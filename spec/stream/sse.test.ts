/** The framing of event streams, section 3 of the profile, on bytes alone. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createParser } from 'eventsource-parser';
import { Refusal, type FailureRule } from '../../lib/failure.js';
import { SseParser, type SseBounds } from '../../lib/wire/sse.js';
import { Random } from './random.js';

const UNBOUNDED: SseBounds = { maxEventBytes: Infinity, maxStreamBytes: Infinity, maxStreamEvents: Infinity, eventIds: 'required' };
const OPTIONAL: Partial<SseBounds> = { eventIds: 'optional' };
const SEQUENTIAL: Partial<SseBounds> = { eventIds: 'sequential' };

/** A frame, copied: `data id name`. */
interface Seen {
  readonly data: string;
  readonly id: string | undefined;
  readonly isError: boolean;
}

interface Verdict {
  readonly frames: readonly Seen[];
  readonly rule: FailureRule | undefined;
}

/** Bytes written as text; each character is one byte. */
const bytesOf = (latin1: string): Buffer => Buffer.from(latin1, 'latin1');

/**
 * What the parser makes of the chunks.
 * @param pull when frames are asked for: after each chunk, or once all have arrived
 */
function decode(chunks: readonly Buffer[], bounds: SseBounds, pull: 'each' | 'last', ends: boolean): Verdict {
  const parser = new SseParser(bounds);
  const frames: Seen[] = [];
  const drain = (): void => {
    for (let frame = parser.next(); frame !== undefined; frame = parser.next()) {
      frames.push({ data: frame.data.toString('latin1'), id: frame.id, isError: frame.isError });
    }
  };
  try {
    for (const chunk of chunks) {
      parser.push(chunk);
      if (pull === 'each') drain();
    }
    drain();
    if (ends) parser.end();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { frames, rule: error.rule };
  }
  return { frames, rule: undefined };
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let from = 0;
  for (const place of places) {
    chunks.push(bytes.subarray(from, place));
    from = place;
  }
  chunks.push(bytes.subarray(from));
  return chunks;
}

function randomCuts(bytes: Buffer, random: Random): Buffer[] {
  const size = random.pick([2, 3, 7, 20, 60]);
  const places: number[] = [];
  for (let at = random.below(size); at < bytes.length; at += random.below(size)) {
    // A cut may come twice at one place: an empty chunk.
    places.push(at);
    if (random.below(4) === 0) at++;
    if (places.length > bytes.length * 2) break;
  }
  return cut(bytes, places);
}

function* everyChunking(bytes: Buffer): Generator<Buffer[]> {
  yield [bytes];
  yield cut(bytes, [...bytes.keys()].slice(1));
  for (let at = 0; at <= bytes.length; at++) yield cut(bytes, [at]);
  const random = new Random(bytes.length);
  for (let i = 0; i < 20; i++) yield randomCuts(bytes, random);
}

function assertVerdict(bytes: Buffer, bounds: SseBounds, ends: boolean, expected: Verdict): void {
  for (const chunks of everyChunking(bytes)) {
    const sizes = chunks.map((chunk) => chunk.length).join();
    assert.deepEqual(decode(chunks, bounds, 'each', ends), expected, `asked after each chunk of ${sizes}`);
    assert.deepEqual(decode(chunks, bounds, 'last', ends), expected, `asked after all chunks of ${sizes}`);
  }
}

/** `A`, `B`, …: whole events with that data, whose ids are 1, 2, …, as the cases below begin. */
const event = (id: string, data = 'x'): string => `id: ${id}\ndata: ${data}\n\n`;
const seen = (id: string | undefined, data = 'x', isError = false): Seen => ({ data, id, isError });

interface Refused {
  readonly rule: FailureRule;
  readonly name: string;
  /** Up to, and with, the first byte at which the violation is certain. */
  readonly text: string;
  readonly bounds?: Partial<SseBounds>;
  /** What is delivered before. */
  readonly frames?: readonly Seen[];
}

const REFUSED: readonly Refused[] = [
  { rule: 'sse.bom', name: 'a byte order mark at the start', text: '\xef\xbb\xbf' },
  { rule: 'sse.line_ending', name: 'a CR before a letter', text: 'data: a\rb' },
  { rule: 'sse.line_ending', name: 'a CR before a CR', text: 'data: a\r\r' },
  { rule: 'sse.line_ending', name: 'a CR as the first byte', text: '\r:' },
  { rule: 'sse.line_ending', name: 'a CR inside a comment', text: ':a\r:' },
  { rule: 'sse.line_ending', name: 'a CR inside an id', text: 'id: 1\rd' },
  { rule: 'sse.line_ending', name: 'a CR after an event', text: `${event('1')}\ri`, frames: [seen('1')] },
  { rule: 'sse.field', name: 'a retry field', text: 'retry: 5\n' },
  { rule: 'sse.field', name: 'a field with another case', text: 'Data: x\n' },
  { rule: 'sse.field', name: 'a field that begins with data', text: 'datax: 1\n' },
  { rule: 'sse.field', name: 'a field that data begins with', text: 'dat: 1\n' },
  { rule: 'sse.field', name: 'a field that begins with event', text: 'eventname: message\n' },
  { rule: 'sse.field', name: 'a field with a space before it', text: ' data: 1\n' },
  { rule: 'sse.field', name: 'a field with a space behind it', text: 'id : 1\n' },
  { rule: 'sse.field', name: 'a name without a colon', text: 'data\n' },
  { rule: 'sse.field', name: 'a name without a colon, ended by CRLF', text: 'data\r\n' },
  { rule: 'sse.field', name: 'a line of one space', text: ' \n' },
  { rule: 'sse.field', name: 'two bytes of a byte order mark', text: '\xef\xbb: 1\n' },
  { rule: 'sse.field', name: 'a byte order mark after the start', text: `\n\xef\xbb\xbfdata: x\n` },
  { rule: 'sse.field', name: 'two ids', text: 'id: 1\nid: 2\n' },
  { rule: 'sse.field', name: 'two ids of which the second is empty', text: 'id: 1\nid:\n' },
  { rule: 'sse.field', name: 'two names', text: 'event: message\nevent: message\n' },
  { rule: 'sse.field', name: 'two names of which the second is none', text: 'event: error\nevent: ping\n' },
  { rule: 'sse.data_lines', name: 'two data lines', text: 'data: 1\ndata: 2\n' },
  { rule: 'sse.data_lines', name: 'a second data line that is empty', text: 'data: 1\nid: 1\ndata:\n' },
  { rule: 'sse.data_lines', name: 'an id alone', text: 'id: 1\n\n' },
  { rule: 'sse.data_lines', name: 'a name alone', text: 'event: message\r\n\r\n', bounds: OPTIONAL },
  { rule: 'sse.data_lines', name: 'an id and a comment', text: 'id: 1\n: data: 1\n\n' },
  { rule: 'sse.data_lines', name: 'no data and no id', text: 'event: message\n\n' },
  { rule: 'sse.id_invalid', name: 'an empty id', text: 'id:\n' },
  { rule: 'sse.id_invalid', name: 'an id of the one optional space', text: 'id: \n' },
  { rule: 'sse.id_invalid', name: 'an empty id where ids are optional', text: 'id:\r\n', bounds: OPTIONAL },
  { rule: 'sse.id_invalid', name: 'an id of 257 bytes', text: `id: ${'x'.repeat(257)}\n` },
  { rule: 'sse.id_invalid', name: 'an id of 257 bytes in 129 characters', text: `id: ${'\xc3\xa9'.repeat(128)}x\n` },
  { rule: 'sse.id_invalid', name: 'an id that is not UTF-8', text: 'id: \xff\n' },
  { rule: 'sse.id_invalid', name: 'an id that ends inside a character', text: 'id: a\xc3\n' },
  { rule: 'sse.id_invalid', name: 'an id with half of a surrogate pair', text: 'id: \xed\xa0\x80\n' },
  { rule: 'sse.id_invalid', name: 'an id in an overlong form', text: 'id: \xc0\xb1\n' },
  ...[0x00, 0x01, 0x09, 0x1f, 0x7f].map((code): Refused => ({
    rule: 'sse.id_invalid',
    name: `an id with the control character ${code}`,
    text: `id: a${String.fromCharCode(code)}b\n`,
  })),
  { rule: 'sse.id_invalid', name: 'an id with a control character of two bytes', text: 'id: a\xc2\x85\n' },
  { rule: 'sse.id_missing', name: 'no id', text: 'data: x\n\n' },
  { rule: 'sse.id_missing', name: 'no id in the second event', text: `${event('1')}data: x\n\n`, frames: [seen('1')] },
  { rule: 'sse.id_missing', name: 'no id where ids are sequential', text: 'data: x\r\n\r\n', bounds: SEQUENTIAL },
  { rule: 'sse.id_missing', name: 'no id on an error', text: 'event: error\ndata: x\n\n' },
  { rule: 'sse.id_duplicate', name: 'an id again', text: `${event('a')}id: a\n`, frames: [seen('a')] },
  { rule: 'sse.id_duplicate', name: 'a number again', text: `${event('7')}data: y\nid: 7\n`, frames: [seen('7')] },
  {
    rule: 'sse.id_duplicate',
    name: 'an id again where ids are optional',
    text: `${event('a')}id: a\n`,
    bounds: OPTIONAL,
    frames: [seen('a')],
  },
  {
    rule: 'sse.id_duplicate',
    name: 'an id again where ids are sequential',
    text: `${event('7')}id: 7\n`,
    bounds: SEQUENTIAL,
    frames: [seen('7')],
  },
  {
    rule: 'sse.id_duplicate',
    name: 'an id again after events without one',
    text: `${event('a')}data: y\n\ndata: z\n\nid: a\n`,
    bounds: OPTIONAL,
    frames: [seen('a'), seen(undefined, 'y'), seen(undefined, 'z')],
  },
  { rule: 'sse.id_gap', name: 'a number that is left out', text: `${event('1')}id: 3\n`, bounds: SEQUENTIAL, frames: [seen('1')] },
  { rule: 'sse.id_gap', name: 'an id that is no number', text: 'id: a\n', bounds: SEQUENTIAL },
  { rule: 'sse.id_gap', name: 'a leading zero', text: 'id: 01\n', bounds: SEQUENTIAL },
  { rule: 'sse.event_name', name: 'another name', text: 'event: ping\n' },
  { rule: 'sse.event_name', name: 'a name with another case', text: 'event: Message\n' },
  { rule: 'sse.event_name', name: 'an empty name', text: 'event:\n' },
  { rule: 'sse.event_name', name: 'a name that begins with message', text: 'event: messages\n' },
  { rule: 'sse.event_name', name: 'a name that begins with error', text: 'event: errors\n', bounds: OPTIONAL },
  { rule: 'sse.event_name', name: 'a name with a space behind it', text: 'event: error \n' },
  { rule: 'sse.event_name', name: 'a name with two spaces before it', text: 'event:  error\n' },
  { rule: 'limit.event_bytes', name: 'an event of one byte more', text: 'id: 1\ndata: x\n\n', bounds: { maxEventBytes: 14 } },
  { rule: 'limit.event_bytes', name: 'a line of one byte more', text: 'data: xxx', bounds: { maxEventBytes: 8 } },
  { rule: 'limit.event_bytes', name: 'a comment of one byte more', text: ':aaa', bounds: { maxEventBytes: 3 } },
  { rule: 'limit.event_bytes', name: 'blank lines without end', text: '\n\n\n\n\n', bounds: { maxEventBytes: 4 } },
  { rule: 'limit.event_bytes', name: 'blank lines of CRLF without end', text: '\r\n\r\n\r', bounds: { maxEventBytes: 4 } },
  { rule: 'limit.event_bytes', name: 'noise before an event', text: ':\n:\nid: 1\ndata: x\n\n', bounds: { maxEventBytes: 18 } },
  { rule: 'limit.event_bytes', name: 'noise inside an event', text: 'id: 1\n:abc\n:abc\n', bounds: { maxEventBytes: 15 } },
  {
    rule: 'limit.event_bytes',
    name: 'noise after the last event',
    text: `${event('1')}${':\n'.repeat(8)}`,
    bounds: { maxEventBytes: 15 },
    frames: [seen('1')],
  },
  {
    rule: 'limit.event_bytes',
    name: 'a second event of one byte more',
    text: `${event('1')}${event('2', 'xx')}`,
    bounds: { maxEventBytes: 15 },
    frames: [seen('1')],
  },
  {
    rule: 'limit.stream_bytes',
    name: 'a stream of one byte more',
    text: `${event('1')}:`,
    bounds: { maxStreamBytes: 15 },
    frames: [seen('1')],
  },
  { rule: 'limit.stream_bytes', name: 'noise of one byte more', text: '\n\n\n', bounds: { maxStreamBytes: 2 } },
  { rule: 'limit.stream_bytes', name: 'an event of one byte more', text: event('1'), bounds: { maxStreamBytes: 14 } },
  {
    rule: 'limit.stream_events',
    name: 'an event more',
    text: `${event('1')}${event('2')}`,
    bounds: { maxStreamEvents: 1 },
    frames: [seen('1')],
  },
];

/** Of two violations in one stream, the one that is certain at the earlier byte counts; at the same byte, the layer that comes first. */
const CONTESTED: readonly Refused[] = [
  { rule: 'limit.event_bytes', name: 'the bound of an event before the end of a bad line', text: 'retry: 5', bounds: { maxEventBytes: 7 } },
  { rule: 'sse.field', name: 'the end of a bad line before the bound of an event', text: 'retry: 5\n', bounds: { maxEventBytes: 9 } },
  { rule: 'limit.event_bytes', name: 'the bound of an event at the end of a bad line', text: 'retry: 5\n', bounds: { maxEventBytes: 8 } },
  { rule: 'limit.event_bytes', name: 'both bounds at one byte', text: ':aaa', bounds: { maxEventBytes: 3, maxStreamBytes: 3 } },
  {
    rule: 'limit.stream_bytes',
    name: 'the bound of the stream before that of an event',
    text: ':aa',
    bounds: { maxEventBytes: 3, maxStreamBytes: 2 },
  },
  { rule: 'limit.event_bytes', name: 'a bound at the last byte of a byte order mark', text: '\xef\xbb\xbf', bounds: { maxEventBytes: 2 } },
  {
    rule: 'limit.stream_bytes',
    name: 'a bound of the stream at the last byte of a byte order mark',
    text: '\xef\xbb\xbf',
    bounds: { maxStreamBytes: 2 },
  },
  { rule: 'sse.bom', name: 'a byte order mark before the bound', text: '\xef\xbb\xbf', bounds: { maxEventBytes: 3 } },
  { rule: 'limit.event_bytes', name: 'a bound at the byte that proves a CR bare', text: ':a\rb', bounds: { maxEventBytes: 3 } },
  { rule: 'sse.line_ending', name: 'a bare CR before the bound', text: ':a\rb', bounds: { maxEventBytes: 4 } },
  { rule: 'sse.line_ending', name: 'a bare CR before the end of a bad line', text: 'retry: 5\r5' },
  { rule: 'sse.field', name: 'a bad line before a bare CR', text: 'retry: 5\n' },
  { rule: 'sse.id_duplicate', name: 'a repeated id before a second data line', text: `${event('1')}data: 1\nid: 1\n`, frames: [seen('1')] },
  { rule: 'sse.data_lines', name: 'a second data line before a repeated id', text: `${event('1')}data: 1\ndata: 1\n`, frames: [seen('1')] },
  { rule: 'sse.field', name: 'a second id that is the first again', text: 'id: 1\nid: 1\n' },
  { rule: 'sse.field', name: 'a second id that repeats an earlier event', text: `${event('1')}id: 2\nid: 1\n`, frames: [seen('1')] },
  { rule: 'sse.data_lines', name: 'no data and no id', text: 'event: error\n\n' },
  {
    rule: 'sse.id_duplicate',
    name: 'a repeated id that is a gap too',
    text: `${event('1')}${event('2')}id: 1\n`,
    bounds: SEQUENTIAL,
    frames: [seen('1'), seen('2')],
  },
  { rule: 'sse.event_name', name: 'a bad name before the missing id', text: 'data: 1\nevent: x\n' },
  {
    rule: 'limit.stream_events',
    name: 'an event more that has no id',
    text: `${event('1')}data: x\n\n`,
    bounds: { maxStreamEvents: 1 },
    frames: [seen('1')],
  },
  {
    rule: 'limit.stream_events',
    name: 'an event more that has no data',
    text: `${event('1')}id: 2\n\n`,
    bounds: { maxStreamEvents: 1 },
    frames: [seen('1')],
  },
  {
    rule: 'limit.event_bytes',
    name: 'an event more that is too long as well',
    text: `${event('1')}${event('2', 'xx')}`,
    bounds: { maxStreamEvents: 1, maxEventBytes: 15 },
    frames: [seen('1')],
  },
];

describe('What SSE framing refuses', () => {
  for (const { rule, name, text, bounds, frames = [] } of [...REFUSED, ...CONTESTED]) {
    test(`${rule}: ${name}, in every chunking`, () => {
      const bytes = bytesOf(text);
      const all = { ...UNBOUNDED, ...bounds };
      assertVerdict(bytes, all, false, { frames, rule });
      // Not a byte before it is certain.
      const before = decode([bytes.subarray(0, -1)], all, 'each', false);
      assert.deepEqual(before, { frames, rule: undefined });
      // And whatever comes behind it.
      for (const tail of ['\n', '\n\n', `\n${event('99')}`, '\r', 'x', '\xff\x00', '\nretry: 1\n', ':'.repeat(100)]) {
        assert.deepEqual(decode([bytesOf(text + tail)], all, 'each', true), { frames, rule }, `with ${JSON.stringify(tail)} behind`);
      }
    });
  }
});

const CUT_SHORT: readonly (Refused & { readonly frames: readonly Seen[] })[] = [
  { rule: 'sse.truncated', name: 'after a data line', text: 'data: x\n', frames: [] },
  { rule: 'sse.truncated', name: 'inside a data line', text: 'data: x', frames: [] },
  { rule: 'sse.truncated', name: 'inside a field name', text: `${event('1')}da`, frames: [seen('1')] },
  { rule: 'sse.truncated', name: 'after an id', text: 'id: 1\n', frames: [] },
  { rule: 'sse.truncated', name: 'after a name', text: `${event('1')}event: message\r\n`, frames: [seen('1')] },
  { rule: 'sse.truncated', name: 'inside a comment of an event', text: 'id: 1\ndata: x\n: a', frames: [] },
  { rule: 'sse.truncated', name: 'after a comment of an event', text: 'id: 1\ndata: x\n: a\n', frames: [] },
  { rule: 'sse.truncated', name: 'inside a byte order mark', text: '\xef\xbb', frames: [] },
  { rule: 'sse.line_ending', name: 'after a CR', text: 'data: x\r', frames: [] },
  { rule: 'sse.line_ending', name: 'after a CR between events', text: `${event('1')}\r`, frames: [seen('1')] },
  { rule: 'sse.line_ending', name: 'after the CR of a comment', text: ': a\r', frames: [] },
];

describe('What SSE framing makes of an end', () => {
  for (const { rule, name, text, frames } of CUT_SHORT) {
    test(`${rule}: the stream ends ${name}`, () => {
      assertVerdict(bytesOf(text), UNBOUNDED, true, { frames, rule });
      // It is the end that breaks the rule.
      assertVerdict(bytesOf(text), UNBOUNDED, false, { frames, rule: undefined });
    });
  }
});

interface Accepted {
  readonly name: string;
  readonly text: string;
  readonly bounds?: Partial<SseBounds>;
  readonly frames: readonly Seen[];
}

const ACCEPTED: readonly Accepted[] = [
  { name: 'nothing at all', text: '', frames: [] },
  { name: 'lines that end in LF', text: 'id: 1\ndata: x\n\n', frames: [seen('1')] },
  { name: 'lines that end in CRLF', text: 'id: 1\r\ndata: x\r\n\r\n', frames: [seen('1')] },
  { name: 'mixed line endings', text: 'id: 1\r\ndata: x\n\r\nid: 2\ndata: y\r\n\n', frames: [seen('1'), seen('2', 'y')] },
  { name: 'the order id, event, data', text: 'id: 1\nevent: message\ndata: x\n\n', frames: [seen('1')] },
  { name: 'the order id, data, event', text: 'id: 1\ndata: x\nevent: error\n\n', frames: [seen('1', 'x', true)] },
  { name: 'the order data, id, event', text: 'data: x\nid: 1\nevent: message\n\n', frames: [seen('1')] },
  { name: 'the order data, event, id', text: 'data: x\nevent: error\nid: 1\n\n', frames: [seen('1', 'x', true)] },
  { name: 'the order event, id, data', text: 'event: error\nid: 1\ndata: x\n\n', frames: [seen('1', 'x', true)] },
  { name: 'the order event, data, id', text: 'event: message\ndata: x\nid: 1\n\n', frames: [seen('1')] },
  { name: 'no space behind the colon', text: 'id:1\nevent:error\ndata:x\n\n', frames: [seen('1', 'x', true)] },
  { name: 'a second space, which belongs to the value', text: 'id:  1\ndata:  x\n\n', frames: [seen(' 1', ' x')] },
  { name: 'colons in values', text: 'id: a:b\ndata: {"a":1}\n\n', frames: [seen('a:b', '{"a":1}')] },
  { name: 'a value that is a colon', text: 'id::\ndata::\n\n', frames: [seen(':', ':')] },
  { name: 'empty data', text: 'id: 1\ndata:\n\nid: 2\ndata: \r\n\r\n', frames: [seen('1', ''), seen('2', '')] },
  {
    name: 'data of any bytes',
    text: 'id: 1\ndata: \x00\x01\x7f\x80\xff\xef\xbb\xbf\n\n',
    frames: [seen('1', '\x00\x01\x7f\x80\xff\xef\xbb\xbf')],
  },
  {
    name: 'no field of the event before',
    text: 'id: a\nevent: error\ndata: x\n\ndata: y\n\n',
    bounds: OPTIONAL,
    frames: [seen('a', 'x', true), seen(undefined, 'y')],
  },
  { name: 'comments and blank lines everywhere', text: '\n:\n\n: a\r\nid: 1\n:data: z\ndata: x\n:\r\n\r\n\r\n:\n', frames: [seen('1')] },
  { name: 'comments of any bytes', text: ':\xef\xbb\xbf\xff\x00\nid: 1\ndata: x\n\n', frames: [seen('1')] },
  { name: 'a comment that the end cuts', text: `${event('1')}: keep-al`, frames: [seen('1')] },
  { name: 'one byte and two bytes of a byte order mark in a comment', text: ':\xef\n:\xef\xbb\n', frames: [] },
  { name: 'an id of 256 bytes', text: event('x'.repeat(256)), frames: [seen('x'.repeat(256))] },
  { name: 'an id of spaces', text: 'id:   \ndata: x\n\n', frames: [seen('  ')] },
  {
    name: 'ids that differ in case, zeros or spaces',
    text: ['a', 'A', '1', '01', '001', ' 1'].map((id) => event(id)).join(''),
    frames: ['a', 'A', '1', '01', '001', ' 1'].map((id) => seen(id)),
  },
  { name: 'an id of 128 characters of two bytes', text: event('\xc3\xa9'.repeat(128)), frames: [seen('é'.repeat(128))] },
  {
    name: 'an id of characters that are no control characters',
    text: event('\xc2\xa0\xe2\x80\xa8\xf0\x9f\x99\x82'),
    frames: [seen('\u00a0\u2028🙂')],
  },
  {
    name: 'events without ids where they are optional',
    text: 'data: x\n\ndata: y\n\n',
    bounds: OPTIONAL,
    frames: [seen(undefined), seen(undefined, 'y')],
  },
  {
    name: 'numbers in sequence',
    text: event('8') + event('9') + event('10'),
    bounds: SEQUENTIAL,
    frames: [seen('8'), seen('9'), seen('10')],
  },
  { name: 'an event of exactly its bound', text: event('1'), bounds: { maxEventBytes: 15 }, frames: [seen('1')] },
  {
    name: 'events that each have the bound for themselves',
    text: event('1') + event('2') + event('3'),
    bounds: { maxEventBytes: 15 },
    frames: [seen('1'), seen('2'), seen('3')],
  },
  {
    name: 'noise within the bound of an event',
    text: `${event('1')}:\n\n:\n\n\n${event('2')}`,
    bounds: { maxEventBytes: 22 },
    frames: [seen('1'), seen('2')],
  },
  {
    name: 'trailing noise of exactly the bound',
    text: `${event('1')}${'\n'.repeat(15)}`,
    bounds: { maxEventBytes: 15 },
    frames: [seen('1')],
  },
  {
    name: 'a stream of exactly its bound in bytes',
    text: event('1') + event('2'),
    bounds: { maxStreamBytes: 30 },
    frames: [seen('1'), seen('2')],
  },
  {
    name: 'a stream of exactly its bound in events',
    text: `${event('1')}${event('2')}:\n\n`,
    bounds: { maxStreamEvents: 2 },
    frames: [seen('1'), seen('2')],
  },
];

describe('What SSE framing accepts', () => {
  for (const { name, text, bounds, frames } of ACCEPTED) {
    test(`${name}, in every chunking`, () => {
      assertVerdict(bytesOf(text), { ...UNBOUNDED, ...bounds }, true, { frames, rule: undefined });
    });
  }

  test('The data of a frame stays whole while later chunks arrive, until the next frame is asked for', () => {
    const parser = new SseParser(UNBOUNDED);
    parser.push(bytesOf('id: 1\ndata: fir'));
    assert.equal(parser.next(), undefined);
    parser.push(bytesOf('st\n\n'));
    const frame = parser.next();
    for (let i = 0; i < 50; i++) parser.push(bytesOf(event(`${i + 2}`, 'zzzzzzzzzz')));
    assert.equal(frame?.data.toString(), 'first');
  });

  test('A parser that discards what has arrived has nothing buffered and nothing to say', () => {
    const parser = new SseParser(UNBOUNDED);
    parser.push(bytesOf(event('1')));
    parser.push(bytesOf(event('2')));
    assert.equal(parser.next()?.id, '1');
    assert.equal(parser.buffered, 15);
    parser.discard();
    assert.equal(parser.buffered, 0);
    assert.equal(parser.next(), undefined);
  });
});

// ---- Streams by chance, against a decoder that is as plain as can be ----

/** A second opinion: byte for byte, the whole stream in memory, sets for ids. */
function plainDecode(bytes: Buffer, bounds: SseBounds): Verdict {
  const frames: Seen[] = [];
  const ids = new Set<string>();
  let lastNumber: number | undefined;
  let line: number[] = [];
  let eventBytes = 0;
  let fields: { data?: string; id?: string; event?: string } = {};
  const refuse = (rule: FailureRule): Verdict => ({ frames, rule });
  for (const [at, byte] of bytes.entries()) {
    if (++eventBytes > bounds.maxEventBytes) return refuse('limit.event_bytes');
    if (at + 1 > bounds.maxStreamBytes) return refuse('limit.stream_bytes');
    if (at === 2 && bytes.toString('latin1', 0, 3) === '\xef\xbb\xbf') return refuse('sse.bom');
    if (byte !== 0x0a) {
      if (line.at(-1) === 0x0d) return refuse('sse.line_ending');
      line.push(byte);
      continue;
    }
    if (line.at(-1) === 0x0d) line.pop();
    const text = String.fromCharCode(...line);
    line = [];
    if (text.startsWith(':')) continue;
    if (text === '') {
      if (Object.keys(fields).length === 0) continue;
      if (frames.length === bounds.maxStreamEvents) return refuse('limit.stream_events');
      const { data, id, event: name } = fields;
      if (data === undefined) return refuse('sse.data_lines');
      if (id === undefined && bounds.eventIds !== 'optional') return refuse('sse.id_missing');
      frames.push({ data, id, isError: name === 'error' });
      fields = {};
      eventBytes = 0;
      continue;
    }
    const match = /^(data|id|event):( ?)([^]*)$/.exec(text);
    if (match === null) return refuse('sse.field');
    const name = match[1] as 'data' | 'id' | 'event';
    const value = match[3] ?? '';
    if (fields[name] !== undefined) return refuse(name === 'data' ? 'sse.data_lines' : 'sse.field');
    fields[name] = value;
    if (name === 'event' && value !== 'message' && value !== 'error') return refuse('sse.event_name');
    if (name !== 'id') continue;
    let id: string;
    try {
      id = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(value));
    } catch {
      return refuse('sse.id_invalid');
    }
    if (value === '' || value.length > 256 || /\p{Cc}/u.test(id)) return refuse('sse.id_invalid');
    if (ids.has(id)) return refuse('sse.id_duplicate');
    ids.add(id);
    fields.id = id;
    if (bounds.eventIds === 'sequential') {
      const number = /^(0|[1-9]\d*)$/.test(id) ? Number(id) : NaN;
      if (!Number.isSafeInteger(number) || (lastNumber !== undefined && number !== lastNumber + 1)) return refuse('sse.id_gap');
      lastNumber = number;
    }
  }
  if (line.at(-1) === 0x0d) return refuse('sse.line_ending');
  if (Object.keys(fields).length > 0 || (line.length > 0 && line[0] !== 0x3a)) return refuse('sse.truncated');
  return { frames, rule: undefined };
}

function randomStream(random: Random): Buffer {
  let next = random.below(3);
  let text = random.below(40) === 0 ? '\xef\xbb\xbf' : '';
  const ending = (): string => (random.below(60) === 0 ? '\r' : random.pick(['\n', '\n', '\r\n']));
  const value = (): string => random.pick(['x', '', '{"a":[1,2]}', ' ', ':', '\xf0\x9f\x99\x82', 'x'.repeat(random.below(40))]);
  const id = (): string => {
    if (random.below(8) > 0) return `${next++}`;
    return random.pick([
      `${random.below(6)}`,
      '01',
      'a',
      'b',
      '\xc3\xa9',
      '\xc3',
      '',
      '\x00',
      '\xef\xbb\xbf',
      'y'.repeat(256),
      'y'.repeat(257),
    ]);
  };
  for (let events = random.below(6); events >= 0; events--) {
    const lines = [`data:${random.pick(['', ' '])}${value()}`, `id:${random.pick(['', ' '])}${id()}`];
    if (random.below(3) === 0) lines.push(`event: ${random.pick(['message', 'message', 'error', 'ping'])}`);
    if (random.below(4) === 0) lines.push(`:${value()}`);
    if (random.below(10) === 0) lines.splice(random.below(lines.length), 1);
    if (random.below(25) === 0)
      lines.push(random.pick(['retry: 1', 'data', 'id', ' ', 'data: twice', 'id: twice', 'Data: x', '\xef\xbb\xbfdata: x']));
    for (let i = lines.length - 1; i > 0; i--) {
      const j = random.below(i + 1);
      [lines[i], lines[j]] = [lines[j] ?? '', lines[i] ?? ''];
    }
    for (const line of lines) text += line + ending();
    text += ending().repeat(1 + random.below(2));
    if (random.below(5) === 0) text += `:${value()}${ending()}`;
  }
  const bytes = bytesOf(text);
  return random.below(6) === 0 ? bytes.subarray(0, random.below(bytes.length + 1)) : bytes;
}

function randomBounds(random: Random): SseBounds {
  const maybe = (bound: number): number => (random.below(5) === 0 ? 1 + random.below(bound) : Infinity);
  return {
    maxEventBytes: maybe(80),
    maxStreamBytes: maybe(300),
    maxStreamEvents: maybe(5),
    eventIds: random.pick(['required', 'optional', 'sequential']),
  };
}

test('Three thousand streams by chance get the verdict that a plain decoder gives, in any chunking', () => {
  const random = new Random(20_260_101);
  const rules = new Map<string, number>();
  for (let i = 0; i < 3000; i++) {
    const bytes = randomStream(random);
    const bounds = randomBounds(random);
    const expected = plainDecode(bytes, bounds);
    rules.set(expected.rule ?? 'accepted', (rules.get(expected.rule ?? 'accepted') ?? 0) + 1);
    const chunkings = [[bytes], cut(bytes, [...bytes.keys()].slice(1)), randomCuts(bytes, random), randomCuts(bytes, random)];
    for (const chunks of chunkings) {
      const pull = random.pick(['each', 'last'] as const);
      const message = `stream ${i}, ${JSON.stringify(bytes.toString('latin1'))}, ${JSON.stringify(bounds)}, ${pull}`;
      assert.deepEqual(decode(chunks, bounds, pull, true), expected, message);
    }
  }
  // The streams are of every sort.
  const sorts = ['accepted', 'limit.event_bytes', 'limit.stream_bytes', 'limit.stream_events', 'sse.bom', 'sse.line_ending', 'sse.field'];
  sorts.push('sse.data_lines', 'sse.id_invalid', 'sse.id_missing', 'sse.id_duplicate', 'sse.id_gap', 'sse.event_name', 'sse.truncated');
  for (const sort of sorts) assert.ok((rules.get(sort) ?? 0) >= 10, `${sort}: ${rules.get(sort) ?? 0}`);
});

test('A thousand accepted streams are the same events to eventsource-parser', () => {
  const random = new Random(7);
  let accepted = 0;
  let events = 0;
  for (let i = 0; accepted < 1000; i++) {
    const bytes = randomStream(random);
    const bounds: SseBounds = { ...UNBOUNDED, eventIds: 'optional' };
    const chunks = randomCuts(bytes, random);
    const ours = decode(chunks, bounds, 'each', true);
    if (ours.rule !== undefined) continue;
    accepted++;
    const theirs: Seen[] = [];
    const parser = createParser({
      onEvent: ({ data, id, event: name }) => {
        theirs.push({ data: Buffer.from(data).toString('latin1'), id, isError: name === 'error' });
      },
      onError: (error) => {
        throw error;
      },
    });
    const text = new TextDecoder('utf-8', { ignoreBOM: true });
    for (const chunk of chunks) parser.feed(text.decode(chunk, { stream: true }));
    parser.feed(text.decode());
    assert.deepEqual(ours.frames, theirs, `stream ${i}, ${JSON.stringify(bytes.toString('latin1'))}`);
    events += theirs.length;
  }
  assert.ok(events > 1000, `${events} events`);
});

// ---- Time ----

/** How much longer eight times the work takes: 8 where the work is linear, 64 where it is quadratic; in between, where it is one of the two. */
const TIMES = 8;
const LINEAR_AT_MOST = 22;

function timeOf(work: (size: number) => void, size: number): number {
  const startedAt = performance.now();
  work(size);
  return performance.now() - startedAt;
}

/** The ratio of the best of several runs each, taken in turns: whatever else the machine does makes a run longer, and never shorter. */
function growth(work: (size: number) => void): number {
  let size = 2000;
  while (Math.min(timeOf(work, size), timeOf(work, size), timeOf(work, size)) < 2) size *= 2;
  let small = Infinity;
  let large = Infinity;
  for (let attempt = 0; attempt < 5; attempt++) {
    small = Math.min(small, timeOf(work, size));
    large = Math.min(large, timeOf(work, size * TIMES));
    small = Math.min(small, timeOf(work, size));
    // So far beyond, more attempts would show nothing else.
    if (attempt > 0 && large / small > LINEAR_AT_MOST * 2) break;
  }
  return large / small;
}

const ONE_BYTE = bytesOf('x');

/** Looks at the whole line again with each chunk. */
function quadraticDecoder(size: number): void {
  let line = '';
  for (let i = 0; i < size; i++) {
    line += ONE_BYTE.toString('latin1');
    if (line.endsWith('\n') || /\n/.test(line)) return;
  }
}

/** Copies the whole line again with each chunk. */
function copyingDecoder(size: number): void {
  let line = Buffer.alloc(0);
  for (let i = 0; i < size; i++) line = Buffer.concat([line, ONE_BYTE]);
}

function parse(chunks: Iterable<Buffer>, pull: 'each' | 'last'): void {
  const parser = new SseParser({ ...UNBOUNDED, eventIds: 'optional' });
  for (const chunk of chunks) {
    parser.push(chunk);
    if (pull === 'each') while (parser.next() !== undefined);
  }
  while (parser.next() !== undefined);
}

function* repeated(size: number, ...chunks: Buffer[]): Generator<Buffer> {
  for (let i = 0; i < size; i++) yield* chunks;
}

describe('Decoding takes time linear in the bytes', () => {
  test('The detector finds decoders that look at a line, or copy it, again with each chunk', () => {
    assert.ok(growth(quadraticDecoder) > LINEAR_AT_MOST, 'looks again');
    assert.ok(growth(copyingDecoder) > LINEAR_AT_MOST, 'copies again');
  });

  const works: readonly [string, (size: number) => void][] = [
    [
      'an endless line in chunks of one byte',
      (size) => {
        parse(repeated(size, ONE_BYTE), 'each');
      },
    ],
    [
      'an endless line in chunks of one byte that all wait',
      (size) => {
        parse(repeated(size, ONE_BYTE), 'last');
      },
    ],
    [
      'an endless comment in chunks of one byte',
      (size) => {
        parse(repeated(size, bytesOf(':')), 'each');
      },
    ],
    [
      'a second line without end behind data',
      (size) => {
        parse([bytesOf('data: x\n:'), ...repeated(size, ONE_BYTE)], 'each');
      },
    ],
    [
      'blank lines in chunks of one byte',
      (size) => {
        parse(repeated(size, bytesOf('\n')), 'each');
      },
    ],
    [
      'blank lines in one chunk',
      (size) => {
        parse([Buffer.alloc(size * 8, '\n')], 'each');
      },
    ],
    [
      'events in one chunk',
      (size) => {
        parse([Buffer.alloc(size * 9, 'data: x\n\n')], 'each');
      },
    ],
    [
      'events in one chunk with a CR at its end',
      (size) => {
        parse([Buffer.concat([Buffer.alloc(size * 9, 'data: x\n\n'), bytesOf('\r\n')])], 'each');
      },
    ],
    [
      'events that are cut inside their lines',
      (size) => {
        parse(repeated(size, bytesOf('da'), bytesOf('ta: x'), bytesOf('\n\n')), 'each');
      },
    ],
    [
      'events in chunks that all wait',
      (size) => {
        parse(repeated(size, bytesOf('data: x\n\n')), 'last');
      },
    ],
  ];
  for (const [name, work] of works) {
    test(`of ${name}`, () => {
      // What is quadratic is so each time; what another process does to one measurement, it hardly does to three.
      let ratio = Infinity;
      for (let attempt = 0; attempt < 3 && ratio >= LINEAR_AT_MOST; attempt++) ratio = Math.min(ratio, growth(work));
      assert.ok(ratio < LINEAR_AT_MOST, `${TIMES} times the work took ${ratio.toFixed(1)} times as long`);
    });
  }
});

// ---- Memory ----

/** Memory of buffers that is really held. */
function held(): number {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
  gc();
  return process.memoryUsage().arrayBuffers;
}

/** Bytes as undici hands them over: a view of all that was read at once. */
function viewOf(text: string, read: number): Buffer {
  const buffer = Buffer.allocUnsafeSlow(Math.max(read, text.length));
  buffer.write(text, buffer.length - text.length, 'latin1');
  return buffer.subarray(buffer.length - text.length);
}

describe('What waits to be asked for', () => {
  const MiB = 1024 * 1024;

  test('keeps alive no more than a few reads, however little of each is ours', () => {
    const parser = new SseParser(UNBOUNDED);
    const before = held();
    for (let i = 0; i < 2000; i++) parser.push(viewOf(':', 64 * 1024));
    assert.ok(held() - before < 4 * MiB, `${held() - before} bytes for ${parser.buffered}`);
  });

  test('is not copied where it is nearly all that was read, again and again', () => {
    const parser = new SseParser(UNBOUNDED);
    for (let i = 0; i < 10; i++) {
      const chunk = viewOf(event(String(i)), 60 * 1024);
      parser.push(chunk);
      assert.equal(parser.next()?.data.buffer, chunk.buffer);
      assert.equal(parser.next(), undefined);
    }
  });

  test('is not copied where many chunks are of one read, which counts once', () => {
    const parser = new SseParser(UNBOUNDED);
    const read = viewOf(Array.from({ length: 50 }, (_, i) => event(String(100 + i))).join(''), 60 * 1024);
    const size = event('100').length;
    for (let at = 0; at < read.length; at += size) parser.push(read.subarray(at, at + size));
    for (let i = 0; i < 50; i++) assert.equal(parser.next()?.data.buffer, read.buffer);
  });

  test('is copied from the third large read on', () => {
    const parser = new SseParser(UNBOUNDED);
    const chunks = Array.from({ length: 3 }, (_, i) => viewOf(event(String(i)), 64 * 1024));
    for (const chunk of chunks) parser.push(chunk);
    assert.deepEqual(chunks.map((chunk) => parser.next()?.data.buffer === chunk.buffer), [true, true, false]);
  });

  test('is let go of once it has been asked for', () => {
    const parser = new SseParser(UNBOUNDED);
    const before = held();
    for (let i = 0; i < 20; i++) parser.push(viewOf(event(String(i), 'x'.repeat(MiB)), MiB));
    for (let i = 0; i < 19; i++) assert.ok(parser.next() !== undefined);
    assert.ok(held() - before < 4 * MiB, `${held() - before} bytes`);
    parser.discard();
    assert.ok(held() - before < MiB, `${held() - before} bytes are left`);
  });

  test('is not kept alive by an event that began in it', () => {
    const parser = new SseParser(UNBOUNDED);
    const chunk = viewOf('data: x\n', 64 * 1024);
    parser.push(chunk);
    assert.equal(parser.next(), undefined);
    parser.push(Buffer.from('id: 1\n\n'));
    const frame = parser.next();
    assert.equal(frame?.data.toString(), 'x');
    assert.notEqual(frame.data.buffer, chunk.buffer);
  });
});
