/** What all answers together say of the rules that hold for each of them, layer by layer. */
import type { FailureRule } from '../../failure.js';
import { broken, kept, notExercised, type Finding, type Topic } from './finding.js';
import type { Answer } from './subject.js';
import { wordsOf } from '../failure_report.js';

interface Layer extends Topic {
  readonly rules: readonly (FailureRule | `${string}.*`)[];
  /** Which answers go through it. */
  readonly of: 'all' | 'streams' | 'results';
  readonly keptWords: string;
  readonly advice: string;
}

/** In the order in which an answer meets them. */
const LAYERS: readonly Layer[] = [
  {
    check: 'http.answer',
    title: 'HTTP',
    of: 'all',
    rules: ['http.connect', 'http.connection_lost', 'http.malformed', 'http.redirect', 'http.truncated', 'limit.head_bytes', 'deadline.*'],
    keptWords: 'whole, well-framed answers, no redirect',
    advice: 'answer every request at its own URL, with one well-framed response (RFC 9112), in time',
  },
  {
    check: 'http.content_type',
    title: 'content types',
    of: 'all',
    rules: ['http.content_type'],
    keptWords: 'application/json, and text/event-stream for streams',
    advice: 'send content-type: application/json for answers and errors, text/event-stream for streams, once, in UTF-8',
  },
  {
    check: 'http.content_encoding',
    title: 'content encoding',
    of: 'all',
    rules: ['http.content_encoding'],
    keptWords: 'none, as asked for',
    advice: 'do not compress what was asked for with accept-encoding: identity',
  },
  {
    check: 'sse.framing',
    title: 'event framing',
    of: 'streams',
    rules: ['sse.bom', 'sse.line_ending', 'sse.field', 'sse.data_lines', 'sse.event_name', 'sse.truncated'],
    keptWords: 'events of one data line each',
    advice: 'write events as data lines of one JSON text each, ended by an empty line, with no fields but id, event and data',
  },
  {
    check: 'sse.ids_unique',
    title: 'unique event ids',
    of: 'streams',
    rules: ['sse.id_invalid', 'sse.id_duplicate'],
    keptWords: 'no id is malformed or comes twice',
    advice: 'give each event of a stream an id of its own, of at most 256 bytes',
  },
  {
    check: 'limits',
    title: 'bounds',
    of: 'all',
    rules: ['limit.response_bytes', 'limit.event_bytes', 'limit.stream_bytes', 'limit.stream_events'],
    keptWords: 'no answer was over its bound',
    advice: 'send less, or let callers set a larger bound',
  },
  {
    check: 'json',
    title: 'JSON',
    of: 'all',
    rules: ['json.*'],
    keptWords: 'I-JSON (RFC 7493)',
    advice: 'write I-JSON (RFC 7493): UTF-8, no member twice, no number that a double does not hold',
  },
  {
    check: 'jsonrpc.envelope',
    title: 'JSON-RPC',
    of: 'all',
    rules: ['jsonrpc.members', 'jsonrpc.version', 'jsonrpc.result_or_error', 'jsonrpc.error_object'],
    keptWords: 'closed envelopes with one of result and error',
    advice: 'answer with jsonrpc "2.0", the id, and one of result and error, and nothing else (JSON-RPC 2.0 section 5)',
  },
  {
    check: 'jsonrpc.id',
    title: 'request ids',
    of: 'all',
    rules: ['jsonrpc.id'],
    keptWords: "every answer has its request's id",
    advice: 'answer with the id of the request, in value and type (JSON-RPC 2.0 section 5)',
  },
  {
    check: 'a2a.payload',
    title: 'payloads',
    of: 'results',
    rules: ['a2a.payload', 'a2a.schema'],
    keptWords: 'results have the shape that the protocol gives them',
    advice: "give results the protocol's shape: the path says which member",
  },
  {
    check: 'a2a.identity',
    title: 'identity',
    of: 'results',
    rules: ['a2a.identity', 'stream.identity'],
    keptWords: 'answers are about what was asked for',
    advice: 'answer about the task and context that were asked for',
  },
];

/** One finding a layer. */
export function judgeLayers(answers: readonly Answer[]): Finding[] {
  return LAYERS.map((layer, at) => {
    const culprit = answers.find(({ failure }) => failure !== undefined && layerOf(failure.rule) === at);
    if (culprit?.failure !== undefined) {
      const { failure, asked } = culprit;
      const path = failure.path === undefined ? '' : `, at ${failure.path}`;
      return broken(layer, `${wordsOf(failure)}${path} (${asked})`, layer.advice, failure.rule);
    }
    const count = answers.filter((answer) => passed(answer, layer, at)).length;
    const answered = `${String(count)} ${layer.of === 'streams' ? 'stream' : 'answer'}${count === 1 ? '' : 's'}`;
    return count === 0 ? notExercised(layer, 'no answer went that far') : kept(layer, `${layer.keptWords} (${answered})`);
  });
}

/** Whether an answer has shown that it keeps a layer's rules. */
function passed({ failure, events, isStream }: Answer, { of }: Layer, at: number): boolean {
  // Each event that was delivered has kept them all.
  if (events > 0) return true;
  if (of === 'streams') return false;
  if (failure === undefined) return of === 'all' || !isStream;
  // The agent's own error is no result; what has no rule here is a status, of which nothing more is read.
  if (failure.rule === 'remote.error') return of === 'all';
  const failedAt = layerOf(failure.rule);
  return failedAt > at && !isStream;
}

function layerOf(rule: FailureRule): number {
  return LAYERS.findIndex(({ rules }) => rules.some((one) => (one.endsWith('.*') ? rule.startsWith(one.slice(0, -1)) : one === rule)));
}

/** Whether a failure is told by a layer's finding. */
export function isOfLayer(rule: FailureRule): boolean {
  return layerOf(rule) >= 0;
}
