/**
 * Whether who takes an answer that we refuse is wrong. `specification`: the answer breaks one that the agent has to keep, and to take it
 * is to take something wrong. `choice`: it is valid under the bare grammar or left open by it; we are stricter because we chose to be, and
 * a peer that takes it may be right. Where a rule refuses both kinds, it counts as `choice`.
 */
import type { FailureRule } from '../../lib/index.js';

export type Basis = 'specification' | 'choice';

const broken = (reason: string): [Basis, string] => ['specification', reason];
const ours = (reason: string): [Basis, string] => ['choice', reason];

export const RULE_BASIS: Readonly<Partial<Record<FailureRule, readonly [basis: Basis, reason: string]>>> = {
  'http.connection_lost': broken('RFC 9112 §8: there is no response'),
  'http.malformed': broken('RFC 9112 §2 to §7: no HTTP/1.1 message, or one whose framing contradicts itself'),
  'http.truncated': broken('RFC 9112 §8: a message that is not complete'),
  'http.content_type': broken('A2A 1.0 §9.1: application/json, text/event-stream for streams'),
  'limit.head_bytes': ours('RFC 9110 §5.4: a limit is the recipient\'s own'),
  'http.redirect': ours('RFC 9110 §15.4: a user agent may follow a redirect; we do not'),
  'http.status': ours('RFC 9110 §15.3: any 2xx is a success; we take 200 alone'),
  'http.content_encoding': ours('RFC 9110 §8.4: a client that offered a content coding may be sent it; we offer none'),
  'limit.response_bytes': ours('a bound of the caller\'s'),
  'limit.event_bytes': ours('a bound of the caller\'s'),
  'limit.stream_bytes': ours('a bound of the caller\'s'),
  'limit.stream_events': ours('a bound of the caller\'s'),
  'deadline.total': ours('a clock of the caller\'s'),
  'deadline.idle': ours('a clock of the caller\'s'),
  'sse.bom': ours('HTML §9.2.6: one byte order mark is ignored'),
  'sse.line_ending': ours('HTML §9.2.5: a bare CR ends a line'),
  'sse.field': ours('HTML §9.2.6: retry is a field, others are ignored, the last of a repeated one counts'),
  'sse.data_lines': ours('HTML §9.2.6: data lines are joined, an event without any is not dispatched'),
  'sse.id_invalid': ours('HTML §9.2.6: an id is any text without NUL'),
  'sse.id_missing': ours('HTML §9.2.6: ids are optional; the caller may say so here, too'),
  'sse.id_duplicate': ours('HTML §9.2.6: ids need not be unique'),
  'sse.id_gap': ours('an order that the caller asked for'),
  'sse.event_name': ours('HTML §9.2.6: an event may have any name'),
  'sse.truncated': ours('HTML §9.2.6: an incomplete event at the end is discarded'),
  'json.utf8': broken('RFC 8259 §8.1: UTF-8, without a byte order mark'),
  'json.syntax': broken('RFC 8259 §2'),
  'json.depth': ours('RFC 8259 §9: a limit is the parser\'s own'),
  'json.duplicate_member': ours('RFC 8259 §4: names should be unique; RFC 7493 §2.3 says they must'),
  'json.forbidden_member': ours('RFC 8259 §4: any name; this one is a trap in JavaScript'),
  'json.surrogate': ours('RFC 8259 §8.2: unpredictable; RFC 7493 §2.1 forbids it'),
  'json.number': ours('RFC 8259 §6: precision is the parser\'s own; RFC 7493 §2.2 warns of it'),
  'jsonrpc.members': ours('JSON-RPC 2.0 §5: an object; that it has no further members is implied alone'),
  'jsonrpc.version': broken('JSON-RPC 2.0 §5: exactly "2.0"'),
  'jsonrpc.id': broken('JSON-RPC 2.0 §5: the id of the request'),
  'jsonrpc.result_or_error': broken('JSON-RPC 2.0 §5: one of the two, and not both'),
  'jsonrpc.error_object': broken('JSON-RPC 2.0 §5.1'),
  'a2a.payload': broken('A2A 1.0 §3.2.3, A2A 0.3 kind: exactly one known payload'),
  'a2a.schema': broken('a2a.proto and ProtoJSON, A2A 0.3 JSON schema: types and required members'),
  'a2a.identity': broken('A2A 1.0 §3.1: the operation answers about what it was asked'),
  'stream.first_event': broken('A2A 1.0 §3.1.2, §3.1.6: a stream begins with a task or a message'),
  'stream.message_only': broken('A2A 1.0 §3.1.2: exactly one message, and nothing beside it'),
  'stream.identity': broken('A2A 1.0 §3.1.2, §3.1.6: the updates of one task'),
  'stream.after_end': broken('A2A 1.0 §3.1.2: the stream closes when the task has ended'),
  'stream.incomplete': ours('A2A leaves open when an agent may close a stream early; we tell it from an end'),
};

const INFORMATIONAL = ours('RFC 9110 §15.2: any number of them; how many is too many is ours to say');
const FRAMING = ours('RFC 9110 §5.5, §8.6: what repeats the same, or has white space behind it, may be read as once and without');
const LINES = ours('RFC 9112 §2.2, §5.2: a client may take LF for a line end and a fold for a space');
const CHARSET = ours('RFC 8259 §11, HTML §9.2.5: always UTF-8, whatever a charset says');
const BY_NUMBER = ours('ProtoJSON: a parser takes the number of an enum, too');
const MESSAGE_0_3 = ours('A2A 0.3 leaves open what may stand beside a message');

/** Cases whose basis is not that of their rule, by name. */
export const CASE_BASIS: ReadonlyMap<string, readonly [basis: Basis, reason: string]> = new Map([
  ['Seventeen informational answers are one too many', INFORMATIONAL],
  ['A flood of informational answers is refused before it ends', INFORMATIONAL],
  ['Two content-length fields that agree are refused all the same', FRAMING],
  ['A content-length that is a list is refused', FRAMING],
  ['White space after a transfer-encoding is refused: parsers differ on what it frames', FRAMING],
  ['White space behind a content-length is refused: parsers differ on what it frames', FRAMING],
  ['A header that is folded over two lines is not HTTP', LINES],
  ['A media type on the line behind its name is not HTTP', LINES],
  ['A head whose lines end in LF alone is not HTTP', LINES],
  ['A field that hides behind a bare LF in a value is not HTTP', LINES],
  ['A charset of Latin-1 is refused', CHARSET],
  ['A charset of UTF-16 is refused', CHARSET],
  ['Two charsets are refused', CHARSET],
  ['An event stream in Latin-1 is refused', CHARSET],
  ['A byte order mark before the document is refused', ours('RFC 8259 §8.1: a parser may ignore it')],
  ['A state by number is refused', BY_NUMBER],
  ['A role by number is refused', BY_NUMBER],
  ['Base64 of both alphabets at once is refused', ours('ProtoJSON: either alphabet; that it is one at a time is our reading')],
  ['A push config of two authentication schemes is refused, for 1.0 has room for one', ours('valid in A2A 0.3; 1.0 cannot hold it')],
  ['A message after a task is refused in 0.3', MESSAGE_0_3],
  ['A task after a message is refused', MESSAGE_0_3],
  ['The same message again is refused', MESSAGE_0_3],
]);
