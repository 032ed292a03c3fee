/** Properties of the framing of event streams. */
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { Refusal, type FailureRule } from '../../lib/failure.js';
import { SseParser, type Frame, type SseBounds } from '../../lib/wire/sse.js';
import { anyBytes, chunkSizes, chunksOf, mutated } from './arbitraries_bytes.js';
import { eventStream, sseBounds } from './arbitraries_sse.js';
import { completedAt, judgeStream, type OracleFrame } from './oracle_sse.js';
import { property, type Property } from './runner.js';

/** As much of a parser as the properties need. */
export interface Parser {
  readonly buffered: number;
  push(chunk: Buffer): void;
  next(): Frame | undefined;
  end(): void;
  skipEvent(): boolean;
}
type MakeParser = (bounds: SseBounds) => Parser;
const strict: MakeParser = (bounds) => new SseParser(bounds);

interface Verdict {
  readonly frames: readonly OracleFrame[];
  readonly rule: FailureRule | undefined;
  /** How many bytes had been handed over when it was refused. */
  readonly bytes: number | undefined;
}

/** @param everyChunk whether frames are asked for after each chunk, or once all have arrived */
function verdictOf(parser: Parser, chunks: readonly Buffer[], everyChunk: boolean): Verdict {
  const frames: OracleFrame[] = [];
  let bytes: number | undefined = 0;
  const drain = (): void => {
    for (let frame = parser.next(); frame !== undefined; frame = parser.next()) {
      frames.push({ data: frame.data.toString('latin1'), id: frame.id, isError: frame.isError });
    }
    assert.equal(parser.buffered, 0, 'asked for more while there was some');
  };
  try {
    for (const chunk of chunks) {
      parser.push(chunk);
      bytes += chunk.length;
      if (everyChunk) drain();
    }
    drain();
    bytes = undefined;
    parser.end();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { frames, rule: error.rule, bytes };
  }
  return { frames, rule: undefined, bytes };
}

const streams = fc.oneof({ weight: 7, arbitrary: mutated(eventStream) }, { weight: 1, arbitrary: anyBytes });

const SSE_RULES = [
  ...['limit.event_bytes', 'limit.stream_bytes', 'limit.stream_events', 'sse.bom', 'sse.line_ending', 'sse.field', 'sse.data_lines'],
  ...['sse.id_invalid', 'sse.id_missing', 'sse.id_duplicate', 'sse.id_gap', 'sse.event_name', 'sse.truncated'],
];

export function framingIsJudged(make: MakeParser = strict): Property {
  return property({
    name: 'An event stream is framed, or refused, as a reading of it byte by byte says, at the very byte, and in any chunks the same',
    batch: 200,
    outcomes: ['accepted', ...SSE_RULES],
    cases: fc.tuple(streams, sseBounds, chunkSizes),
    check: ([bytes, bounds, sizes]) => {
      const expected = judgeStream(bytes, bounds);
      const { eventStart: _, ...verdict } = expected;
      assert.deepEqual(verdictOf(make(bounds), Array.from(bytes, (byte) => Buffer.of(byte)), true), verdict);
      for (const chunks of [[bytes], chunksOf(bytes, sizes)]) {
        for (const everyChunk of [true, false]) {
          const { frames, rule } = verdictOf(make(bounds), chunks, everyChunk);
          assert.deepEqual({ frames, rule }, { frames: expected.frames, rule: expected.rule });
        }
      }
      return expected.rule ?? 'accepted';
    },
  });
}

const OPEN: SseBounds = { maxEventBytes: Infinity, maxStreamBytes: Infinity, maxStreamEvents: Infinity, eventIds: 'optional' };

export function framingIsTheStandards(make: MakeParser = strict): Property {
  return property({
    name: 'A stream that is accepted has the events that eventsource-parser splits it into, and one that is refused later began with them',
    batch: 200,
    outcomes: ['accepted', 'refused', 'several events'],
    cases: fc.tuple(streams, chunkSizes),
    check: ([bytes, sizes]) => {
      const { frames, rule } = verdictOf(make(OPEN), chunksOf(bytes, sizes), true);
      const theirs: OracleFrame[] = [];
      const parser = createParser({
        onEvent: ({ data, id, event }) => {
          // An id is a text, and was made of the bytes as one character each.
          theirs.push({ data, id: id === undefined ? undefined : Buffer.from(id, 'latin1').toString('utf8'), isError: event === 'error' });
        },
      });
      // One character a byte, so that it is the framing alone that is compared.
      parser.feed(bytes.toString('latin1'));
      assert.deepEqual(frames, rule === undefined ? theirs : theirs.slice(0, frames.length));
      return [rule === undefined ? 'accepted' : 'refused', ...(frames.length > 1 ? (['several events'] as const) : [])];
    },
  });
}

/** How many bytes had been handed over when the event that broke a rule was complete; infinity where it never was. */
function completionOf(parser: Parser, chunks: readonly Buffer[]): number {
  let isRefused = false;
  let bytes = 0;
  for (const chunk of chunks) {
    parser.push(chunk);
    bytes += chunk.length;
    try {
      while (!isRefused && parser.next() !== undefined);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      isRefused = true;
    }
    if (isRefused && parser.skipEvent()) return bytes;
  }
  return Infinity;
}

export function refusedEventsEnd(make: MakeParser = strict): Property {
  return property({
    name: 'An event that broke a rule is complete with the empty line behind it, at the very byte, and in any chunks',
    batch: 200,
    outcomes: ['completed later', 'completed at once', 'never'],
    cases: fc.tuple(streams, sseBounds, chunkSizes).filter(([bytes, bounds]) => judgeStream(bytes, bounds).bytes !== undefined),
    check: ([bytes, bounds, sizes]) => {
      const { bytes: refusedAt = 0, eventStart } = judgeStream(bytes, bounds);
      const expected = completedAt(bytes, eventStart);
      assert.equal(completionOf(make(bounds), Array.from(bytes, (byte) => Buffer.of(byte))), expected);
      for (const chunks of [[bytes], chunksOf(bytes, sizes)]) {
        // In larger chunks it is known with the chunk.
        assert.equal(completionOf(make(bounds), chunks) < Infinity, expected < Infinity);
      }
      if (expected === Infinity) return 'never';
      return expected === refusedAt ? 'completed at once' : 'completed later';
    },
  });
}
