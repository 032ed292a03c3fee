/**
 * The properties can fail: each, held against a stand-in with a fault that a careless implementation has, finds a case of it. A search that
 * finds nothing in sound code proves something only because of this.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Dispatcher } from 'undici';
import { StrictClient } from '../../lib/index.js';
import { Refusal } from '../../lib/failure.js';
import { parseInner, parseJson, type JsonText } from '../../lib/wire/json.js';
import { ResponseDecoder } from '../../lib/wire/jsonrpc.js';
import { SseParser, type Frame, type SseBounds } from '../../lib/wire/sse.js';
import { anyAnswerEnds } from './any_answer.js';
import { anyCallerIsAnswered } from './caller.js';
import { envelopesAreJudged, innerJsonIsJudged, jsonIsJudged } from './json.js';
import { ID, verdictOfAnswer, type Verdict } from './memory_agent.js';
import { repeatsAreRecognised } from './repeats.js';
import { requestsRoundTrip } from './requests.js';
import { answersRoundTrip, eventsRoundTrip } from './round_trip.js';
import { described, type Property } from './runner.js';
import { settles } from './settles.js';
import { framingIsJudged, framingIsTheStandards, refusedEventsEnd, type Parser } from './sse.js';

/** Batches, which no slow machine has fewer of. */
const BATCHES = 60;

async function findingOf(property: Property): Promise<string | undefined> {
  for (let seed = 1; seed <= BATCHES; seed++) {
    const finding = await property.runBatch({ seed, runs: property.batch }, new Map());
    if (finding === undefined) continue;
    // What is reported shows the case again.
    const again = await property.runBatch({ seed: finding.seed, runs: property.batch, path: finding.path }, new Map());
    assert.equal(again?.counterexample, finding.counterexample);
    return described(finding);
  }
  return undefined;
}

/** The strict parser, but for one rule. */
function lenient(rule: string): (bytes: Buffer) => JsonText {
  return (bytes) => {
    try {
      return parseJson(bytes);
    } catch (error) {
      if (!(error instanceof Refusal) || error.rule !== rule) throw error;
      return { value: JSON.parse(bytes.toString()) as unknown, members: [] };
    }
  };
}

function withoutMinus(bytes: Buffer): JsonText {
  const { value, members } = parseJson(bytes);
  return { value: value === 0 ? 0 : value, members };
}

function trimming(bytes: Buffer, start: number, end: number): unknown {
  const inner = Buffer.from(bytes.toString('latin1', start, end).trim(), 'latin1');
  return parseInner(inner, 0, inner.length);
}

/** A parser whose frames are not all what they should be. */
function changed(change: (frame: Frame) => Frame): (bounds: SseBounds) => Parser {
  return (bounds) => {
    const parser = new SseParser(bounds);
    return {
      get buffered() {
        return parser.buffered;
      },
      push: (chunk) => {
        parser.push(chunk);
      },
      next: () => {
        const frame = parser.next();
        return frame && change(frame);
      },
      end: () => {
        parser.end();
      },
      skipEvent: () => parser.skipEvent(),
    };
  };
}

/** Takes the first line feed for the end of the event. */
const hasty = (bounds: SseBounds): Parser => {
  const parser = new SseParser(bounds);
  let last: Buffer = Buffer.alloc(0);
  return {
    ...changed((frame) => frame)(bounds),
    push: (chunk) => {
      last = chunk;
      parser.push(chunk);
    },
    next: () => parser.next(),
    skipEvent: () => last.includes('\n'),
  };
};

const laxBounds = (bounds: SseBounds): Parser => new SseParser({ ...bounds, maxEventBytes: bounds.maxEventBytes + 1 });

const withoutLastSpace = changed((frame) => ({ ...frame, data: frame.data.at(-1) === 0x20 ? frame.data.subarray(0, -1) : frame.data }));

/** Takes an event's data for text, and each chunk for a whole one: characters that a cut goes through are lost. */
const perChunk: Parameters<typeof anyAnswerEnds>[0] = ({ operation, policy, status, headers, body, ending }, cut, pace) =>
  verdictOfAnswer(
    operation,
    policy,
    { status, headers, body, cut: (bytes) => cut(bytes).map((chunk) => Buffer.from(chunk.toString())), ending, pace },
  );

function verdictWith(change: (value: Record<string, unknown>) => void): (verdict: Verdict) => Verdict {
  return (verdict) => {
    for (const { value } of verdict.items) change(value as Record<string, unknown>);
    return verdict;
  };
}

/** Takes what is as long as something before for the same. */
function rememberedByLength<T>(decode: (bytes: Buffer) => T): (bytes: Buffer) => T {
  const before = new Map<number, T>();
  return (bytes) => {
    const decoded = before.get(bytes.length) ?? decode(bytes);
    before.set(bytes.length, decoded);
    return decoded;
  };
}

function careless(): (bytes: Buffer) => ReturnType<ResponseDecoder['decode']> {
  const decoder = new ResponseDecoder(ID);
  return rememberedByLength((bytes) => decoder.decode(bytes));
}

const byLength: Parameters<typeof repeatsAreRecognised>[0] = (plain) => ({ decode: rememberedByLength(plain) });

class LooseClient extends StrictClient {
  override getTask(options: never, params: never): ReturnType<StrictClient['getTask']> {
    // What is read before it is checked.
    const { id } = params as { id: string };
    return super.getTask(options, { id: id.trim() });
  }
}

const FAULTS: readonly [fault: string, property: Property][] = [
  ['a JSON parser that lets a member pass twice', jsonIsJudged(lenient('json.duplicate_member'))],
  ['a JSON parser that lets __proto__ pass', jsonIsJudged(lenient('json.forbidden_member'))],
  ['a JSON parser that lets half a surrogate pair pass', jsonIsJudged(lenient('json.surrogate'))],
  ['a JSON parser that lets large integers pass', jsonIsJudged(lenient('json.number'))],
  ['a JSON parser that counts no levels', jsonIsJudged(lenient('json.depth'))],
  ['a JSON parser that mends bytes that are not UTF-8', jsonIsJudged((bytes) => parseJson(Buffer.from(bytes.toString())))],
  ['a JSON parser that takes -0 for 0', jsonIsJudged(withoutMinus)],
  ['a parser of inner values that takes white space around them', innerJsonIsJudged(trimming)],
  ['a decoder that takes envelopes of one length for the same', envelopesAreJudged(careless)],
  ['a framing that lets one byte too many pass', framingIsJudged(laxBounds)],
  ['a framing that trims data', framingIsJudged(withoutLastSpace)],
  ['a framing that trims data, held against another parser', framingIsTheStandards(withoutLastSpace)],
  ['a framing that loses names, held against another parser', framingIsTheStandards(changed((frame) => ({ ...frame, isError: false })))],
  ['a parser that takes a line for an event', refusedEventsEnd(hasty)],
  ['a client that decodes chunk by chunk', anyAnswerEnds(perChunk)],
  [
    'a client that throws what is no failure',
    anyAnswerEnds((...given) => (given[0].status === 404 ? Promise.reject(new TypeError('x')) : perChunk(...given))),
  ],
  [
    'a client that hangs',
    anyAnswerEnds((...given) => (given[0].ending === 'reset' ? settles(new Promise(() => undefined)) : perChunk(...given))),
  ],
  ['a decoder that loses a member of an answer', answersRoundTrip(verdictWith((value) => delete value['iconUrl']))],
  [
    'a decoder that loses a member of an event',
    eventsRoundTrip(verdictWith((event) => delete (event['value'] as Record<string, unknown>)['lastChunk'])),
  ],
  ['an encoder that loses a member of a request', requestsRoundTrip((params) => ({ ...(params as object), metadata: undefined }))],
  ['a recognition of repeats that looks at lengths alone', repeatsAreRecognised(byLength)],
  ['a client that reads what it has not checked', anyCallerIsAnswered((dispatcher: Dispatcher) => new LooseClient(dispatcher))],
];

describe('The fuzzers find', () => {
  for (const [fault, property] of FAULTS) {
    test(fault, async () => {
      const found = await findingOf(property);
      assert.ok(found?.includes('npm run fuzz -- --property'), 'nothing was found');
    });
  }
});
