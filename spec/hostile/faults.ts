/**
 * The table of faults: what a broken or hostile server does at each stage of a call, and what the call ends with. `faults.test.ts`
 * runs it. An outcome is a line: the events of a stream, then `ok`, or kind, rule and delivery.
 */
import { readFileSync } from 'node:fs';
import type { LookupFunction, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Agent } from 'undici';
import type { Options } from './calls.js';
import { CERTIFICATE } from './certificate.js';
import {
  begun,
  begunHalf,
  bytes,
  chunkedHead,
  closesAfter,
  drip,
  ended,
  flood,
  goodAnswer,
  halfBody,
  halfEvent,
  mediaType,
  onceGood,
  resetsAfter,
  says,
  unread,
} from './faults_words.js';
import {
  JSON_FIELD,
  LAST_CHUNK,
  PROGRESS,
  RawServer,
  WORKING,
  chunk,
  errorText,
  event,
  good,
  goodStream,
  response,
  resultText,
  type Answer,
} from './raw_server.js';

/** One outcome, or several where the system decides which it is. */
type Outcome = string | readonly string[];

export interface Fault {
  readonly name: string;
  /** What the server does with a request; by default nothing. */
  readonly answer?: Answer;
  /** What it does with a connection. */
  readonly accepted?: (socket: Socket) => void;
  readonly tls?: TlsOptions;
  /** The settings of the caller's dispatcher. */
  readonly agent?: Agent.Options;
  /** Where the call goes, if not to the server's own address. */
  readonly endpoint?: (server: RawServer) => string;
  /** The caller's bounds and clocks. */
  readonly options?: Options;
  /** The clock that has to run out, in ms: the call ends no sooner. By default it ends by itself. */
  readonly clockMs?: number;
  /** A good call goes before, over the same connection; so long before, in ms. */
  readonly warmMs?: number;
  /** The request has megabytes. */
  readonly isLarge?: true;
  /** Requests that the server reads at most, the one before included; 1 by default. */
  readonly requests?: number;
  /** What of it may remain at the server until the dispatcher is closed; nothing by default. */
  readonly leaves?: 'an idle connection' | 'an idle connection or none';
  /** Absent where it makes no sense. */
  readonly unary?: Outcome;
  readonly stream?: Outcome;
}

// ---- What the caller's side is set to ----

const nobody: LookupFunction = (host, _options, callback) => {
  callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }), '', 4);
};
const here: LookupFunction = (_host, options, callback) => {
  if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
};
const EXPIRED = { ...CERTIFICATE, cert: readFileSync(new URL('../../fixtures/certificates/expired.pem', import.meta.url)) };
/** The dispatcher's own patience, longer than any clock of the caller here: what is left of a connection that was never made ends by it. */
const PATIENCE = { timeout: 500 };
const unknownName: Agent.Options = { connect: { lookup: nobody } };
const silentName: Agent.Options = { connect: { lookup: () => undefined, ...PATIENCE } };
/** Connections that time out after a while, as the system's own do. */
const slowConnection: Agent.Options = {
  connect: (_options, callback) => setTimeout(() => { callback(new Error('timed out'), null); }, PATIENCE.timeout),
};
const trusting: Agent.Options = { connect: { ca: CERTIFICATE.cert } };
const overTls = ({ port }: RawServer): string => `https://127.0.0.1:${port}/`;
const nowhere = (): string => 'http://nowhere.test/';

const CLOCK = 300;
/** Long enough for what a server says at once to be there, on a busy machine too. */
const LATE_CLOCK = 1000;

/** The same for a unary call and for a stream that has delivered nothing. */
const both = (line: string): Pick<Fault, 'unary' | 'stream'> => ({ unary: line, stream: `0 ${line}` });
const eitherOf = (...lines: string[]): Pick<Fault, 'unary' | 'stream'> => ({ unary: lines, stream: lines.map((line) => `0 ${line}`) });

const NO_CONNECTION = 'unavailable http.connect not_sent';
const NO_ANSWER = 'unavailable http.connection_lost unknown';
const NO_HTTP = 'protocol http.malformed unknown';
const NOT_CONNECTED = { requests: 0, ...both(NO_CONNECTION) };
const LOST = both(NO_ANSWER);
const MALFORMED = both(NO_HTTP);
const TRUNCATED = 'unavailable http.truncated answered';
const FULL_HEAD = 'response_too_large limit.head_bytes';
const FULL_BODY = 'response_too_large limit.response_bytes answered';
const FULL_EVENT = '1 response_too_large limit.event_bytes answered';
const FULL_STREAM = 'response_too_large limit.stream_bytes answered';
const MANY_EVENTS = 'response_too_large limit.stream_events answered';
const STATUS = both('unavailable http.status answered');
const AGENT_ERROR = both('remote_agent remote.error answered');
const AFTER_END = '2 protocol stream.after_end answered';
const OTHER_ID = 'protocol jsonrpc.id answered';

// Each clock, and what a call ends with that it ends.
const connectClock = { options: { connectTimeoutMs: CLOCK }, clockMs: CLOCK };
const totalClock = { options: { timeoutMs: CLOCK }, clockMs: CLOCK };
const idleClock = { options: { idleTimeoutMs: CLOCK }, clockMs: CLOCK };
const lateTotalClock = { options: { timeoutMs: LATE_CLOCK }, clockMs: LATE_CLOCK };
const lateIdleClock = { options: { idleTimeoutMs: LATE_CLOCK }, clockMs: LATE_CLOCK };
/** Bytes keep the idle clock from running out, and not the other. */
const dripClocks = { options: { idleTimeoutMs: 600, timeoutMs: 1000 }, clockMs: 1000 };
const IDLE = 'deadline_exceeded deadline.idle answered';
const TOTAL = 'deadline_exceeded deadline.total answered';
const CONNECT_RUNS_OUT = { ...connectClock, requests: 0, ...both('deadline_exceeded deadline.connect not_sent') };
const TOTAL_RUNS_OUT = { ...totalClock, ...both('deadline_exceeded deadline.total unknown') };
const TOTAL_RUNS_OUT_UNSENT = { ...totalClock, requests: 0, ...both('deadline_exceeded deadline.total not_sent') };
const IDLE_RUNS_OUT = { ...idleClock, ...both('deadline_exceeded deadline.idle unknown') };
const IDLE_RUNS_OUT_ANSWERED = { ...lateIdleClock, ...both(IDLE) };
/** The wait behind the end of a stream, which is ours: a quarter of a second. */
const WAITED = { clockMs: 240, stream: '2 ok' };
const GOOD = { unary: 'ok', stream: '2 ok' };
const GOOD_OR_LOST = { unary: ['ok', NO_ANSWER], stream: ['2 ok', `0 ${NO_ANSWER}`] };
const GOOD_OR_LOST_OR_UNSENT = { unary: ['ok', NO_ANSWER, NO_CONNECTION], stream: ['2 ok', `0 ${NO_ANSWER}`, `0 ${NO_CONNECTION}`] };

/** By what the server does. */
export const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  'A server that refuses': [
    { name: 'the connection', endpoint: () => 'http://127.0.0.1:1/', ...NOT_CONNECTED },
    { name: 'its name', endpoint: nowhere, agent: unknownName, ...NOT_CONNECTED },
    { name: 'by a status', answer: says(() => response(503, [])), ...STATUS, leaves: 'an idle connection or none' },
    {
      name: 'by an error',
      answer: says(({ id }) => response(200, [JSON_FIELD], errorText(id))),
      ...AGENT_ERROR,
      leaves: 'an idle connection',
    },
  ],

  'A server that stalls': [
    { name: 'while its name is looked up', endpoint: nowhere, agent: silentName, ...CONNECT_RUNS_OUT },
    { name: 'while its name is looked up, under the clock for all', endpoint: nowhere, agent: silentName, ...TOTAL_RUNS_OUT_UNSENT },
    {
      name: "while its name is looked up, under the dispatcher's own clock",
      endpoint: nowhere,
      agent: silentName,
      clockMs: PATIENCE.timeout,
      ...NOT_CONNECTED,
    },
    { name: 'while the connection is made', agent: slowConnection, ...CONNECT_RUNS_OUT },
    { name: 'before the TLS handshake', endpoint: overTls, agent: { connect: PATIENCE }, ...CONNECT_RUNS_OUT },
    {
      name: 'inside the TLS handshake',
      // The head of a record that never comes.
      accepted: (socket) => socket.once('data', () => socket.write(Buffer.from([0x16, 0x03, 0x03, 0x01, 0x00, 0x02]))),
      endpoint: overTls,
      agent: { connect: PATIENCE },
      ...TOTAL_RUNS_OUT_UNSENT,
    },
    { name: 'before it reads the request', accepted: unread(''), isLarge: true, ...TOTAL_RUNS_OUT },
    { name: 'before the head', ...IDLE_RUNS_OUT },
    { name: 'before the head, under the clock for all', ...TOTAL_RUNS_OUT },
    { name: 'before the head, over TLS', tls: CERTIFICATE, agent: trusting, ...IDLE_RUNS_OUT },
    { name: 'behind an informational answer', answer: says(() => 'HTTP/1.1 102 Processing\r\n\r\n'), ...IDLE_RUNS_OUT },
    { name: 'inside the status line', answer: says(() => 'HTTP/1.1 20'), ...IDLE_RUNS_OUT },
    { name: 'inside the head', answer: says(() => 'HTTP/1.1 200 OK\r\ncontent-ty'), ...IDLE_RUNS_OUT },
    { name: 'behind the head', answer: says(chunkedHead), ...IDLE_RUNS_OUT_ANSWERED },
    {
      name: 'inside a body of a known length',
      answer: says(({ id }) => response(200, [JSON_FIELD, 'content-length: 500'], resultText(id))),
      ...lateIdleClock,
      unary: IDLE,
    },
    { name: 'inside a chunk', answer: says((request) => bytes(chunkedHead(request), '500\r\n:')), ...IDLE_RUNS_OUT_ANSWERED },
    {
      name: 'before the last chunk',
      answer: says((request) => bytes(chunkedHead(request), chunk(resultText(request.id)))),
      ...lateIdleClock,
      unary: IDLE,
    },
    { name: 'inside an event', answer: says(begunHalf), ...lateIdleClock, stream: `1 ${IDLE}` },
    { name: 'between events', answer: says(begun), ...lateIdleClock, stream: `1 ${IDLE}` },
    { name: 'between events, under the clock for all', answer: says(begun), ...lateTotalClock, stream: `1 ${TOTAL}` },
    { name: 'behind the end event', answer: says(ended), ...WAITED },
    {
      name: 'inside an event behind the end event',
      answer: says((request) => bytes(ended(request), chunk(halfEvent(request)))),
      ...WAITED,
    },
  ],

  'A server that resets the connection': [
    // The system may tell of the reset before it tells of the connection.
    { name: 'as soon as it is made', accepted: (socket) => socket.resetAndDestroy(), ...eitherOf(NO_CONNECTION, NO_ANSWER) },
    {
      name: 'inside the TLS handshake',
      accepted: (socket) => socket.once('data', () => socket.resetAndDestroy()),
      endpoint: overTls,
      ...NOT_CONNECTED,
    },
    { name: 'inside a large request', accepted: (socket) => socket.once('data', () => socket.resetAndDestroy()), isLarge: true, ...LOST },
    { name: 'before the head', answer: (socket) => socket.resetAndDestroy(), ...LOST },
    { name: 'before the head, over TLS', tls: CERTIFICATE, agent: trusting, answer: (socket) => socket.destroy(), ...LOST },
    { name: 'inside the head', answer: resetsAfter(() => 'HTTP/1.1 200 OK\r\ncontent-ty'), ...LOST },
    { name: 'behind the head', answer: resetsAfter(chunkedHead), ...both(TRUNCATED) },
    { name: 'inside the body', answer: resetsAfter(halfBody), unary: TRUNCATED },
    { name: 'inside an event', answer: resetsAfter(begunHalf), stream: `1 ${TRUNCATED}` },
    { name: 'between events', answer: resetsAfter(begun), stream: `1 ${TRUNCATED}` },
    { name: 'behind the end event', answer: resetsAfter(ended), stream: '2 ok' },
    { name: 'behind its answer', answer: resetsAfter(goodAnswer), ...GOOD },
  ],

  'A server that closes the connection': [
    {
      name: 'inside the TLS handshake',
      accepted: (socket) => socket.once('data', () => socket.end()),
      endpoint: overTls,
      ...NOT_CONNECTED,
    },
    { name: 'before the head', answer: closesAfter(() => ''), ...LOST },
    { name: 'inside the head', answer: closesAfter(() => 'HTTP/1.1 200 OK\r\ncontent-ty'), ...LOST },
    { name: 'behind the head', answer: closesAfter(chunkedHead), ...both(TRUNCATED) },
    { name: 'inside the body', answer: closesAfter(halfBody), unary: TRUNCATED },
    { name: 'inside an event', answer: closesAfter(begunHalf), stream: `1 ${TRUNCATED}` },
    { name: 'between events', answer: closesAfter(begun), stream: `1 ${TRUNCATED}` },
    {
      name: 'where the close is the end of the body',
      answer: closesAfter((request) => response(200, [mediaType(request), 'connection: close'], event(request.id, 1, WORKING))),
      stream: '1 unavailable stream.incomplete answered',
    },
    {
      name: 'where the close is the end of half an event',
      answer: closesAfter((request) =>
        response(200, [mediaType(request), 'connection: close'], event(request.id, 1, WORKING) + halfEvent(request)),
      ),
      stream: '1 protocol sse.truncated answered',
    },
    { name: 'behind the end event', answer: closesAfter(ended), stream: '2 ok' },
    { name: 'behind its answer', answer: closesAfter(goodAnswer), ...GOOD },
  ],

  'A server that closes a connection that was kept': [
    { name: 'as it reads the next request', answer: onceGood((socket) => socket.end()), warmMs: 5, requests: 2, ...LOST },
    {
      name: 'by a reset, as it reads the next request',
      answer: onceGood((socket) => socket.resetAndDestroy()),
      warmMs: 5,
      requests: 2,
      ...LOST,
    },
    {
      name: 'inside the head of its next answer',
      answer: onceGood((socket) => socket.end('HTTP/1.1 200')),
      warmMs: 5,
      requests: 2,
      ...LOST,
    },
    {
      name: 'as the next request is written',
      answer: (socket, request) => {
        socket.write(goodAnswer(request));
        setImmediate(() => socket.end());
      },
      warmMs: 0,
      requests: 2,
      leaves: 'an idle connection or none',
      ...GOOD_OR_LOST,
    },
    {
      name: 'by a reset, as the next request is written',
      answer: (socket, request) => {
        socket.write(goodAnswer(request));
        setImmediate(() => socket.resetAndDestroy());
      },
      warmMs: 0,
      requests: 2,
      leaves: 'an idle connection or none',
      // The reset may be there before a byte of the request was written.
      ...GOOD_OR_LOST_OR_UNSENT,
    },
    {
      name: 'while it is idle',
      answer: (socket, request) => {
        socket.write(goodAnswer(request));
        setTimeout(() => socket.end(), 20);
      },
      warmMs: 100,
      requests: 2,
      leaves: 'an idle connection or none',
      ...GOOD,
    },
  ],

  'A server that drips': [
    {
      name: 'its head',
      answer: drip(() => 'HTTP/1.1 200 OK\r\nx: ', () => 'x'),
      options: { timeoutMs: 500 },
      clockMs: 500,
      ...both('deadline_exceeded deadline.total unknown'),
    },
    {
      name: 'informational answers',
      answer: drip(() => '', () => 'HTTP/1.1 102 Processing\r\n\r\n'),
      options: { timeoutMs: 500 },
      clockMs: 500,
      ...both('deadline_exceeded deadline.total unknown'),
    },
    {
      name: 'its body',
      answer: drip((request) => response(200, [mediaType(request), 'content-length: 100000']), () => ' '),
      ...dripClocks,
      unary: TOTAL,
    },
    {
      name: 'an event',
      answer: drip((request) => bytes(begun(request), '100000\r\ndata: '), () => 'x'),
      ...dripClocks,
      stream: `1 ${TOTAL}`,
    },
    { name: 'comments', answer: drip((request) => bytes(begun(request), '100000\r\n'), () => ':\n'), ...dripClocks, stream: `1 ${TOTAL}` },
    // What frames the body is none of it: the idle clock does not see it.
    { name: 'a chunk extension', answer: drip((request) => bytes(chunkedHead(request), '5;'), () => 'x'), ...IDLE_RUNS_OUT_ANSWERED },
  ],

  'A server that floods': [
    { name: 'its head with fields', answer: flood(() => 'HTTP/1.1 200 OK\r\n', 'x-a: b\r\n'.repeat(500)), ...both(`${FULL_HEAD} unknown`) },
    { name: 'its head with one field', answer: flood(() => 'HTTP/1.1 200 OK\r\nx: ', 'x'.repeat(8000)), ...both(`${FULL_HEAD} unknown`) },
    // undici keeps no reason phrase and counts none: the clock ends it.
    { name: 'its status line', answer: flood(() => 'HTTP/1.1 200 ', 'x'.repeat(8000)), ...IDLE_RUNS_OUT },
    { name: 'informational answers', answer: flood(() => '', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)), ...MALFORMED },
    {
      name: 'a body that says how long it is',
      answer: flood(() => response(200, [JSON_FIELD, 'content-length: 1000000000000']), ' '.repeat(8000)),
      unary: FULL_BODY,
    },
    { name: 'a body in chunks', answer: flood(chunkedHead, chunk(' '.repeat(8000))), unary: FULL_BODY },
    {
      name: 'the body of an error status',
      answer: flood(() => response(500, [JSON_FIELD, 'transfer-encoding: chunked']), chunk(' '.repeat(8000))),
      ...STATUS,
    },
    {
      name: 'one event',
      answer: flood((request) => bytes(begun(request), chunk('id: 2\ndata: ')), chunk('x'.repeat(8000))),
      stream: FULL_EVENT,
    },
    { name: 'comments', answer: flood(begun, chunk(':\n'.repeat(4000))), stream: FULL_EVENT },
    { name: 'blank lines', answer: flood(begun, chunk('\n'.repeat(8000))), stream: FULL_EVENT },
    { name: 'one id', answer: flood((request) => bytes(begun(request), chunk('id: ')), chunk('1'.repeat(8000))), stream: FULL_EVENT },
    {
      name: 'events',
      answer: flood(begun, (n, { id }) => chunk(event(id, n + 1, PROGRESS))),
      options: { maxStreamEvents: 500 },
      stream: `500 ${MANY_EVENTS}`,
    },
    {
      name: 'a stream of bytes',
      answer: flood(begun, chunk(':\n'.repeat(4000))),
      options: { maxStreamBytes: 20_000 },
      stream: `1 ${FULL_STREAM}`,
    },
    {
      name: 'events, for ever',
      answer: flood(begun, (n, { id }) => chunk(event(id, n + 1, PROGRESS))),
      options: { timeoutMs: 1500 },
      clockMs: 1500,
      stream: `any ${TOTAL}`,
    },
    { name: 'events behind the end event', answer: flood(ended, (n, { id }) => chunk(event(id, n + 2, PROGRESS))), stream: AFTER_END },
    { name: 'comments behind the end event', answer: flood(ended, chunk(':\n'.repeat(4000))), stream: '2 ok' },
    {
      name: 'trailers',
      answer: flood((request) => bytes(chunkedHead(request), '0\r\n'), 'x-a: b\r\n'.repeat(500)),
      ...both(`${FULL_HEAD} answered`),
    },
    {
      name: 'a chunk extension',
      answer: flood((request) => bytes(chunkedHead(request), '5;'), 'x'.repeat(8000)),
      options: { idleTimeoutMs: 1000 },
      clockMs: 1000,
      ...both(IDLE),
    },
  ],

  'A server that answers more than it was asked': [
    { name: 'twice at once', answer: says((request) => bytes(goodAnswer(request), goodAnswer(request))), ...GOOD },
    {
      name: 'a hundred times at once',
      answer: says((request) => bytes(...Array.from({ length: 100 }, () => goodAnswer(request)))),
      ...GOOD,
    },
    {
      name: 'twice, a little apart',
      answer: (socket, request) => {
        socket.write(goodAnswer(request));
        setTimeout(() => socket.write(goodAnswer(request)), 20);
      },
      ...GOOD,
    },
    { name: 'and goes on with bytes that are not HTTP', answer: says((request) => bytes(goodAnswer(request), '\0\0\0\0')), ...GOOD },
    {
      name: 'two events that end a stream',
      answer: says((request) => bytes(ended(request), chunk(event(request.id, 3, WORKING)), LAST_CHUNK)),
      leaves: 'an idle connection',
      stream: AFTER_END,
    },
  ],

  'A server that answers before it has read the request': [
    { name: 'with an id that it guessed', accepted: unread(good('guessed')), leaves: 'an idle connection', unary: OTHER_ID },
    { name: 'with a stream whose id it guessed', accepted: unread(goodStream('guessed')), stream: `0 ${OTHER_ID}` },
    {
      name: 'with an error for nobody',
      accepted: unread(response(400, [JSON_FIELD], JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'no' } }))),
      ...AGENT_ERROR,
      leaves: 'an idle connection or none',
    },
    { name: 'with a status, and closes', accepted: (socket) => void socket.end(response(413, [])), isLarge: true, ...STATUS },
  ],

  'A server with a certificate': [
    { name: 'that nobody signed whom we trust', tls: CERTIFICATE, ...NOT_CONNECTED },
    {
      name: 'for another host',
      tls: CERTIFICATE,
      agent: { connect: { ca: CERTIFICATE.cert, lookup: here } },
      endpoint: ({ port }) => `https://elsewhere.test:${port}/`,
      ...NOT_CONNECTED,
    },
    { name: 'that has expired', tls: EXPIRED, agent: { connect: { ca: EXPIRED.cert } }, ...NOT_CONNECTED },
    {
      name: 'that we trust is answered',
      tls: CERTIFICATE,
      agent: trusting,
      answer: says(goodAnswer),
      leaves: 'an idle connection',
      ...GOOD,
    },
    {
      name: 'and no TLS beyond 1.1',
      tls: { ...CERTIFICATE, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
      agent: trusting,
      ...NOT_CONNECTED,
    },
    {
      name: 'that wants one of ours, in TLS 1.2',
      tls: { ...CERTIFICATE, requestCert: true, maxVersion: 'TLSv1.2' },
      agent: trusting,
      ...NOT_CONNECTED,
    },
    // In TLS 1.3 the client may write before the server has judged its certificate.
    {
      name: 'that wants one of ours, in TLS 1.3',
      tls: { ...CERTIFICATE, requestCert: true, minVersion: 'TLSv1.3' },
      agent: trusting,
      requests: 0,
      ...LOST,
    },
    {
      name: 'is none, and speaks no TLS',
      accepted: (socket) => socket.write('220 mail.test ESMTP\r\n'),
      endpoint: overTls,
      ...NOT_CONNECTED,
    },
    {
      name: 'is asked without TLS',
      tls: CERTIFICATE,
      endpoint: ({ port }) => `http://127.0.0.1:${port}/`,
      requests: 0,
      ...eitherOf(NO_ANSWER, NO_HTTP),
    },
  ],
};
