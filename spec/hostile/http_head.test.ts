/** Heads and framing: first the judges alone, over tables; then over sockets, with the bytes of agents that mean no good. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { Agent, errors } from 'undici';
import type { CallInterceptor } from '../../lib/index.js';
import { Refusal } from '../../lib/failure.js';
import { judgeClientError, judgeHead, readHead, retryAfterMs, type HeadPolicy, type ResponseHead } from '../../lib/wire/http.js';
import { call, callOutcome, failureFrom, streamOutcome, until, type Options } from './calls.js';
import { keep, keepDispatcher } from './keep.js';
import { JSON_FIELD, LAST_CHUNK, RawServer, SSE_FIELD, chunk, errorText, good, response, resultText, streamBody, type Answer } from './raw_server.js';

const HEAD: ResponseHead = { status: 200, contentType: ['application/json'], contentLength: [], contentEncoding: [], transferEncoding: [], retryAfter: [] };
const UNARY: HeadPolicy = { stream: false, maxResponseBytes: 1000, errorMediaType: undefined, allowPlainTextResults: false };
const STREAM: HeadPolicy = { ...UNARY, stream: true };
/** 0.3: a 200 of text/plain may be an error. */
const LENIENT: HeadPolicy = { ...UNARY, errorMediaType: 'text/plain' };

/** The kind of body that is awaited, or the rule of the refusal. */
function verdict(head: Partial<ResponseHead>, policy: HeadPolicy = UNARY): string {
  try {
    const plan = judgeHead({ ...HEAD, ...head }, policy);
    return plan.kind === 'error' ? `error, otherwise ${plan.otherwise}` : plan.kind;
  } catch (error) {
    if (error instanceof Refusal) return error.rule;
    throw error;
  }
}

describe('The media type', () => {
  const json = [
    'application/json',
    'APPLICATION/JSON',
    'Application/Json; Charset=UTF-8',
    'application/json;charset=utf-8',
    'application/json ; charset=utf-8',
    'application/json\t;\tcharset=utf-8',
    'application/json; charset="utf-8"',
    'application/json; charset="UTF-8" ',
    'application/json;',
    'application/json; ;charset=utf-8;',
    'application/json; profile=a2a',
    'application/json; profile="https://a2a.test/x"; charset=utf-8',
    'application/json; charset=utf-8; q=1',
    'application/json; xcharset=latin1',
  ];
  for (const value of json) {
    test(`${JSON.stringify(value)} is JSON`, () => {
      assert.equal(verdict({ contentType: [value] }), 'answer');
      assert.equal(verdict({ contentType: [value] }, STREAM), 'error, otherwise http.content_type');
      assert.equal(verdict({ contentType: [value.replace(/json/i, 'xml')] }), 'http.content_type');
      const events = value.replace(/application\/json/i, 'text/event-stream');
      assert.equal(verdict({ contentType: [events] }, STREAM), 'events');
      assert.equal(verdict({ contentType: [events] }), 'http.content_type');
    });
  }

  const others = [
    '',
    ' ',
    ';',
    'json',
    'application',
    'application/',
    '/json',
    'application//json',
    'application/json/x',
    'application /json',
    'application/ json',
    'application/json2',
    'application/json+x',
    'xapplication/json',
    'application/problem+json',
    'application/a2a+json',
    'text/json',
    'text/plain',
    'text/event-stream2',
    '*/*',
    'application/*',
    'application/json, application/json',
    'application/json,',
    'application/json charset=utf-8',
    'application/json; charset',
    'application/json; charset=',
    'application/json; charset=""',
    'application/json; charset="utf-8',
    'application/json; charset=utf-8"',
    "application/json; charset='utf-8'",
    'application/json; charset = utf-8',
    'application/json; charset =utf-8',
    'application/json; charset= utf-8',
    'application/json; =utf-8',
    'application/json; charset=utf8',
    'application/json; charset=utf_8',
    'application/json; charset=utf-8-sig',
    'application/json; charset=utf-16',
    'application/json; charset=UTF-16LE',
    'application/json; charset=iso-8859-1',
    'application/json; charset=us-ascii',
    'application/json; CHARSET=latin1',
    'application/json; charset=utf-8; charset=utf-8',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; charset=latin1; charset=utf-8',
    'application/json; charset=utf-8, text/html',
    'application/json; a b=c',
    'application/json; x=a b',
    'application/json\u00a0',
    'application/json\0',
    'applicati\u00f6n/json',
  ];
  for (const value of others) {
    test(`${JSON.stringify(value)} is not one we take`, () => {
      assert.equal(verdict({ contentType: [value] }), 'http.content_type');
      assert.equal(verdict({ contentType: [value] }, STREAM), 'http.content_type');
    });
  }

  test('is told in time linear in its length', () => {
    const start = performance.now();
    for (const part of [';', ' ', ';a=b', '; a', 'a/', '\t;', '"', ';x="']) {
      verdict({ contentType: [`application/json${part.repeat(16_000)}`] });
      verdict({ contentType: [`${part.repeat(16_000)}application/json`] });
      verdict({ contentType: [`application/json${part.repeat(16_000)}=`] });
    }
    assert.ok(performance.now() - start < 1000);
  });

  test('that is missing, or there twice, is none', () => {
    for (const policy of [UNARY, STREAM, LENIENT]) {
      assert.equal(verdict({ contentType: [] }, policy), 'http.content_type');
      assert.equal(verdict({ contentType: ['application/json', 'application/json'] }, policy), 'http.content_type');
      assert.equal(verdict({ contentType: ['text/plain', 'application/json'] }, policy), 'http.content_type');
      assert.equal(verdict({ contentType: ['application/json', ''] }, policy), 'http.content_type');
    }
  });

  test('of plain text may hold an error in 0.3, and an answer never', () => {
    assert.equal(verdict({ contentType: ['text/plain'] }, LENIENT), 'error, otherwise http.content_type');
    assert.equal(verdict({ contentType: ['Text/Plain; charset=utf-8'] }, LENIENT), 'error, otherwise http.content_type');
    assert.equal(verdict({ contentType: ['text/plain; charset=latin1'] }, LENIENT), 'http.content_type');
    assert.equal(verdict({ contentType: ['text/html'] }, LENIENT), 'http.content_type');
    assert.equal(verdict({ contentType: ['text/plain'], status: 500 }, LENIENT), 'http.status');
  });
});

describe('The content coding', () => {
  const table: [values: string[], expected: string][] = [
    [[], 'answer'],
    [['identity'], 'answer'],
    [['Identity'], 'answer'],
    [['identity', 'identity'], 'http.content_encoding'],
    [['identity, identity'], 'http.content_encoding'],
    [[''], 'http.content_encoding'],
    [['none'], 'http.content_encoding'],
    [['utf-8'], 'http.content_encoding'],
    [['identity;q=1'], 'http.content_encoding'],
    [['"identity"'], 'http.content_encoding'],
    ...['gzip', 'x-gzip', 'GZIP', 'deflate', 'br', 'zstd', 'compress', 'dcb', 'gzip, identity', 'identity, gzip'].map((value): [string[], string] => [[value], 'http.content_encoding']),
    [['gzip', 'identity'], 'http.content_encoding'],
  ];
  for (const [values, expected] of table) {
    test(`${JSON.stringify(values)} gives ${expected}`, () => {
      assert.equal(verdict({ contentEncoding: values }), expected);
      assert.equal(verdict({ contentEncoding: values, contentType: ['text/event-stream'] }, STREAM), expected === 'answer' ? 'events' : expected);
      assert.equal(verdict({ contentEncoding: values, status: 400 }), expected === 'answer' ? 'error, otherwise http.status' : 'http.status');
    });
  }
});

describe('The status', () => {
  for (const status of [201, 202, 203, 204, 205, 206, 226, 299]) {
    test(`${status} is not an answer, whatever it holds`, () => {
      assert.equal(verdict({ status }), 'http.status');
      assert.equal(verdict({ status, contentType: ['text/event-stream'] }, STREAM), 'http.status');
    });
  }
  for (const status of [300, 301, 302, 303, 304, 305, 307, 308, 399]) {
    test(`${status} is a redirect, whatever it holds`, () => {
      assert.equal(verdict({ status }), 'http.redirect');
      assert.equal(verdict({ status, contentType: [], contentEncoding: ['gzip'], contentLength: ['99999'] }), 'http.redirect');
      assert.equal(verdict({ status }, STREAM), 'http.redirect');
    });
  }
  for (const status of [400, 401, 404, 429, 451, 499, 500, 503, 599]) {
    test(`${status} may hold an agent's error`, () => {
      assert.equal(verdict({ status }), 'error, otherwise http.status');
      assert.equal(verdict({ status }, STREAM), 'error, otherwise http.status');
      assert.equal(verdict({ status, contentType: ['text/html'] }), 'http.status');
      assert.equal(verdict({ status, contentType: [] }), 'http.status');
      assert.equal(verdict({ status, contentType: ['text/event-stream'] }, STREAM), 'http.status');
      assert.equal(verdict({ status, contentEncoding: ['gzip'] }), 'http.status');
      assert.equal(verdict({ status, contentLength: ['1001'] }), 'http.status');
    });
  }
  for (const status of [0, 199, 600, 700, 999, Number.NaN, Infinity, -200, 200.5]) {
    test(`${status} is none that an agent's error counts on`, () => {
      assert.equal(verdict({ status }), 'http.status');
      assert.equal(verdict({ status }, STREAM), 'http.status');
    });
  }
});

describe('The framing', () => {
  for (const lengths of [['5', '5'], ['5', '6'], ['5,5'], ['5, 5'], ['+5'], ['-5'], ['-0'], ['0x5'], ['5.0'], ['5e0'], ['5 '], [' 5'], [''], ['five'], ['٥'], ['5\n'], ['NaN'], ['Infinity']]) {
    test(`content-length ${JSON.stringify(lengths)} is no framing`, () => {
      for (const status of [200, 302, 500]) assert.equal(verdict({ status, contentLength: lengths }), 'http.malformed');
      assert.equal(verdict({ contentLength: lengths, contentType: ['text/event-stream'] }, STREAM), 'http.malformed');
    });
  }
  for (const codings of [['gzip, chunked'], ['chunked, chunked'], ['chunked', 'chunked'], ['identity'], ['gzip'], [''], ['chunked;q=1'], ['xchunked'], ['chunked '], ['identity, chunked'], ['chunked, identity']]) {
    test(`transfer-encoding ${JSON.stringify(codings)} is no framing`, () => {
      for (const status of [200, 302, 500]) assert.equal(verdict({ status, transferEncoding: codings }), 'http.malformed');
    });
  }
  test('is one or the other', () => {
    assert.equal(verdict({ transferEncoding: ['chunked'] }), 'answer');
    assert.equal(verdict({ transferEncoding: ['Chunked'] }), 'answer');
    assert.equal(verdict({ contentLength: ['0005'] }), 'answer');
    assert.equal(verdict({ contentLength: ['5'], transferEncoding: ['chunked'] }), 'http.malformed');
  });
  test('that promises too much is refused', () => {
    assert.equal(verdict({ contentLength: ['1000'] }), 'answer');
    assert.equal(verdict({ contentLength: ['1001'] }), 'limit.response_bytes');
    assert.equal(verdict({ contentLength: ['9'.repeat(400)] }), 'limit.response_bytes');
    assert.equal(verdict({ contentLength: ['1001'] }, STREAM), 'limit.response_bytes');
    assert.equal(verdict({ contentLength: ['99999'], contentType: ['text/event-stream'] }, STREAM), 'events');
    assert.equal(verdict({ contentLength: ['1001'], contentType: ['text/plain'] }, LENIENT), 'http.content_type');
  });
});

describe('What is judged first', () => {
  test('is the framing, the redirect, the status, the media type, the coding, the length', () => {
    const all = { status: 302, contentLength: ['x'], contentType: [], contentEncoding: ['gzip'] };
    assert.equal(verdict(all), 'http.malformed');
    assert.equal(verdict({ ...all, contentLength: ['99999'] }), 'http.redirect');
    assert.equal(verdict({ ...all, contentLength: ['99999'], status: 500 }), 'http.status');
    assert.equal(verdict({ ...all, contentLength: ['99999'], status: 200 }), 'http.content_type');
    assert.equal(verdict({ ...all, contentLength: ['99999'], status: 200, contentType: ['application/json'] }), 'http.content_encoding');
    assert.equal(verdict({ contentLength: ['99999'] }), 'limit.response_bytes');
  });
});

describe('The head is read', () => {
  const bytes = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(text, 'latin1'));

  test('from the raw headers, in any case, every value kept', () => {
    const raw = bytes('Content-Type', 'a/b', 'CONTENT-TYPE', 'c/d', 'content-length', '5', 'X-Other', 'content-length', 'Retry-After', '1', 'retry-after', '2');
    assert.deepEqual(readHead(200, { 'content-type': 'application/json' }, raw), {
      ...HEAD,
      contentType: ['a/b', 'c/d'],
      contentLength: ['5'],
      retryAfter: ['1', '2'],
    });
  });

  test('from raw headers that are texts, or an object, or lists in one', () => {
    assert.deepEqual(readHead(200, {}, ['content-encoding', 'gzip']).contentEncoding, ['gzip']);
    const object = { 'content-type': 'a/b', 'content-encoding': ['gzip', 'br'], 'transfer-encoding': Buffer.from('chunked') };
    const head = readHead(200, {}, object as never);
    assert.deepEqual([head.contentType, head.contentEncoding, head.transferEncoding], [['a/b'], ['gzip', 'br'], ['chunked']]);
  });

  test('from the parsed headers only where there are no raw ones', () => {
    const headers = { 'Content-Type': 'a/b', 'content-length': ['1', '2'] };
    assert.deepEqual(readHead(200, headers, null).contentType, ['a/b']);
    assert.deepEqual(readHead(200, headers, undefined as never).contentLength, ['1', '2']);
    assert.deepEqual(readHead(200, headers, []).contentType, []);
  });

  test('whatever the names are', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'content-type ', 'x'.repeat(10_000), 'contentType'];
    assert.deepEqual(readHead(200, {}, bytes(...names.flatMap((name) => [name, 'x']))), { ...HEAD, contentType: [] });
    const odd = Object.assign(Object.create(null) as Record<string, string>, { 'content-type': 'a/b' });
    assert.deepEqual(readHead(200, odd, null).contentType, ['a/b']);
  });

  test('byte by byte: what is not ASCII stays what it is', () => {
    assert.deepEqual(readHead(200, {}, bytes('content-type', 'application/json\u00ff')).contentType, ['application/json\u00ff']);
  });
});

describe('retry-after', () => {
  const now = Date.UTC(2030, 0, 1, 12, 0, 0);
  const day = 86_400_000;
  const table: [value: string, expected: number | undefined][] = [
    ['0', 0],
    ['1', 1000],
    ['007', 7000],
    ['86400', day],
    ['86401', day],
    ['9'.repeat(400), day],
    ['', undefined],
    [' ', undefined],
    ['-1', undefined],
    ['+1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['1 s', undefined],
    ['1, 2', undefined],
    ['١', undefined],
    ['soon', undefined],
    ['NaN', undefined],
    ['Infinity', undefined],
    ['Tue, 01 Jan 2030 12:00:30 GMT', 30_000],
    ['Tue, 01 Jan 2030 12:00:00 GMT', 0],
    ['Tue, 01 Jan 2030 11:59:59 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['Wed, 02 Jan 2030 12:00:00 GMT', day],
    ['Wed, 02 Jan 2030 12:00:01 GMT', day],
    ['Fri, 31 Dec 9999 23:59:59 GMT', day],
    // RFC 9110 section 5.6.7: the two obsolete formats.
    ['Tuesday, 01-Jan-30 12:00:30 GMT', 30_000],
    ['Tue Jan  1 12:00:30 2030', 30_000],
    ['Tue Jan 01 12:00:30 2030', 30_000],
    ['Tue, 01 Jan 2030 12:00:30', undefined],
    ['Tue, 01 Jan 2030 12:00:30 UTC', undefined],
    ['Tue, 01 Jan 2030 12:00:30 +0000', undefined],
    ['Tue, 01 Jan 2030 12:00:30 GMT+1', undefined],
    ['Tue, 1 Jan 2030 12:00:30 GMT', undefined],
    ['tue, 01 jan 2030 12:00:30 gmt', undefined],
    ['01 Jan 2030 12:00:30 GMT', undefined],
    ['2030-01-01T12:00:30Z', undefined],
    ['Tue, 01 Foo 2030 12:00:30 GMT', undefined],
    ['Tue, 01 Jan 2030 25:00:30 GMT', undefined],
    ['Tue, 01 Jan 2030 12:60:30 GMT', undefined],
    ['Tue, 00 Jan 2030 12:00:30 GMT', undefined],
    ['Tue, 32 Jan 2030 12:00:30 GMT', undefined],
    ['Sat, 30 Feb 2030 12:00:30 GMT', undefined],
  ];
  for (const [value, expected] of table) {
    test(`${JSON.stringify(value.length > 50 ? `${value.slice(0, 10)}…` : value)} is ${expected} ms`, () => {
      assert.equal(retryAfterMs([value], now), expected);
    });
  }
  test('that is missing, or there twice, says nothing', () => {
    assert.equal(retryAfterMs([], now), undefined);
    assert.equal(retryAfterMs(['1', '1'], now), undefined);
  });
});

describe('An error of the HTTP client', () => {
  const of = (code: string, message = ''): Error => Object.assign(new Error(message), { code });
  const parserError = (reason: string): Error => new errors.HTTPParserError(`Response does not match the HTTP/1.1 protocol (${reason})`);
  const table: [name: string, error: unknown, waiting: string, sent: string, answered: string][] = [
    ['a refused connection', of('ECONNREFUSED'), 'http.connect', 'http.connection_lost', 'http.truncated'],
    ['a reset', of('ECONNRESET'), 'http.connect', 'http.connection_lost', 'http.truncated'],
    ['a broken pipe', of('EPIPE'), 'http.connect', 'http.connection_lost', 'http.truncated'],
    ['a socket that closed', of('UND_ERR_SOCKET', 'other side closed'), 'http.connect', 'http.connection_lost', 'http.truncated'],
    ['an answer nobody asked for', of('UND_ERR_SOCKET', 'bad response'), 'http.connect', 'http.malformed', 'http.malformed'],
    ['an upgrade nobody asked for', of('UND_ERR_SOCKET', 'bad upgrade'), 'http.connect', 'http.malformed', 'http.malformed'],
    ['a connect timeout', of('UND_ERR_CONNECT_TIMEOUT'), 'http.connect', 'http.connection_lost', 'http.truncated'],
    ['a bad certificate', of('ERR_TLS_CERT_ALTNAME_INVALID'), 'http.connect', 'http.connection_lost', 'http.truncated'],
    ['a head over its limit', of('UND_ERR_HEADERS_OVERFLOW'), 'http.connect', 'limit.head_bytes', 'limit.head_bytes'],
    ['a body over the limit of the dispatcher', of('UND_ERR_RES_EXCEEDED_MAX_SIZE'), 'http.connect', 'limit.response_bytes', 'limit.response_bytes'],
    ['lengths that differ', of('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), 'http.connect', 'http.malformed', 'http.truncated'],
    // undici leaves the code of these undefined: what the parser thinks is in the message alone.
    ['an end inside a message', parserError('Invalid EOF state'), 'http.connect', 'http.connection_lost', 'http.truncated'],
    ['bytes that are not HTTP', parserError('Expected HTTP/'), 'http.connect', 'http.malformed', 'http.malformed'],
    ['a chunk size that is none', parserError('Invalid character in chunk size'), 'http.connect', 'http.malformed', 'http.malformed'],
    ['an error without a code', new Error('?'), 'http.connect', 'http.connection_lost', 'http.truncated'],
    ['a code that is no text', Object.assign(new Error('?'), { code: 7 }), 'http.connect', 'http.connection_lost', 'http.truncated'],
    ['nothing', undefined, 'http.connect', 'http.connection_lost', 'http.truncated'],
    ['null', null, 'http.connect', 'http.connection_lost', 'http.truncated'],
    ['a text', 'ECONNRESET', 'http.connect', 'http.connection_lost', 'http.truncated'],
  ];
  for (const [name, error, waiting, sent, answered] of table) {
    test(`that is ${name} has its rule at each stage`, () => {
      const stages = ['waiting', 'sent', 'answered'] as const;
      assert.deepEqual(stages.map((stage) => judgeClientError(error, stage).rule), [waiting, sent, answered]);
      for (const stage of stages) assert.equal(judgeClientError(error, stage).status, undefined);
    });
  }

  test('that holds a status is that status', () => {
    for (const code of ['UND_ERR_REQ_RETRY', 'UND_ERR_RESPONSE']) {
      const failed = Object.assign(of(code), { statusCode: 503, headers: { 'retry-after': '3' } });
      assert.deepEqual(judgeClientError(failed, 'sent'), { rule: 'http.status', status: 503, retryAfter: ['3'] });
      assert.equal(judgeClientError(Object.assign(of(code), { statusCode: 302 }), 'sent').rule, 'http.redirect');
      assert.deepEqual(judgeClientError(Object.assign(of(code), { statusCode: 404, headers: null }), 'sent').status, 404);
    }
  });

  test('that holds the status of a good answer means that its body was not whole', () => {
    const failed = Object.assign(of('UND_ERR_REQ_RETRY', 'Content-Range mismatch'), { statusCode: 200, headers: {} });
    assert.equal(judgeClientError(failed, 'sent').rule, 'http.truncated');
  });
});

// ---- Over sockets ----

async function listen(t: TestContext, answer: Answer): Promise<[server: RawServer, agent: Agent]> {
  return [keep(t, await RawServer.listen(answer)), keepDispatcher(t, new Agent())];
}

describe('Over a socket, an answer', { concurrency: 4 }, () => {
  type Bytes = (id: string) => string | Buffer;
  interface Case {
    readonly expected: string;
    readonly bytes: Bytes;
    /** How the connection ends behind the bytes; absent: it does not. */
    readonly ending?: 'end' | 'reset';
    readonly options?: Options;
  }
  const whole = (id: string): string => resultText(id);
  const lines = (...parts: string[]): string => parts.join('\r\n');
  const chunkedHead = response(200, [JSON_FIELD, 'transfer-encoding: chunked']);
  const pieces = (...parts: (string | Buffer)[]): Buffer => Buffer.concat(parts.map((part) => Buffer.from(part)));
  const cases: Record<string, Case> = {
    'with a head of a few bytes too many is over the limit': {
      expected: 'limit.head_bytes unknown',
      bytes: (id) => response(200, [JSON_FIELD, `x-padding: ${'x'.repeat(17_000)}`], whole(id)),
    },
    'with a head that never ends is over the limit': { expected: 'limit.head_bytes unknown', bytes: () => `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(20_000)}` },
    'with a header name that never ends is over the limit': { expected: 'limit.head_bytes unknown', bytes: () => `HTTP/1.1 200 OK\r\n${'x'.repeat(200_000)}` },
    'behind an informational head of too many bytes is over the limit': {
      expected: 'limit.head_bytes unknown',
      bytes: (id) => pieces(`HTTP/1.1 103 Early\r\nx: ${'x'.repeat(17_000)}\r\n\r\n`, good(id)),
    },
    'behind sixteen informational ones is read': { expected: 'ok', bytes: (id) => pieces('HTTP/1.1 103 Early\r\nlink: </a>\r\n\r\n'.repeat(16), good(id)) },
    'behind informational ones of all kinds is read': {
      expected: 'ok',
      bytes: (id) => pieces('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early\r\n\r\nHTTP/1.1 104 Upload\r\n\r\nHTTP/1.1 199 Odd\r\n\r\n', good(id)),
    },
    'behind seventeen informational ones is refused': {
      expected: 'http.malformed unknown',
      bytes: (id) => pieces('HTTP/1.1 103 Early\r\n\r\n'.repeat(17), good(id)),
    },
    'of nothing but informational ones is refused': { expected: 'http.malformed unknown', bytes: () => 'HTTP/1.1 103 Early\r\n\r\n'.repeat(50_000) },
    // undici has no use for a 100 that it did not ask for, and ends the connection.
    'behind a 100 that nobody asked for is refused': { expected: 'http.malformed unknown', bytes: (id) => pieces('HTTP/1.1 100 Continue\r\n\r\n', good(id)) },
    'that switches protocols is refused': {
      expected: 'http.malformed unknown',
      bytes: () => lines('HTTP/1.1 101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket', '', ''),
    },
    'that switches protocols without naming one is refused': { expected: 'http.malformed unknown', bytes: (id) => pieces('HTTP/1.1 101 Go\r\n\r\n', good(id)) },
    'that is 200 and upgrades all the same is refused or read, and never upgraded': {
      expected: 'ok',
      bytes: (id) => response(200, [JSON_FIELD, 'connection: upgrade', 'upgrade: h2c'], whole(id)),
    },
    'with two lengths that differ is refused': { expected: 'http.malformed unknown', bytes: () => lines('HTTP/1.1 200 OK', JSON_FIELD, 'content-length: 2', 'content-length: 3', '', '{}') },
    'with two lengths that agree is refused': { expected: 'http.malformed unknown', bytes: () => lines('HTTP/1.1 200 OK', JSON_FIELD, 'content-length: 2', 'content-length: 2', '', '{}') },
    'with a length and chunks is refused': {
      expected: 'http.malformed unknown',
      bytes: (id) => pieces(response(200, [JSON_FIELD, 'content-length: 5', 'transfer-encoding: chunked']), chunk(whole(id)), LAST_CHUNK),
    },
    'with chunks and a length is refused': {
      expected: 'http.malformed unknown',
      bytes: (id) => pieces(response(200, [JSON_FIELD, 'transfer-encoding: chunked', 'content-length: 5']), chunk(whole(id)), LAST_CHUNK),
    },
    'with a folded header is refused': { expected: 'http.malformed unknown', bytes: () => lines('HTTP/1.1 200 OK', 'content-type: application/json;', ' charset=utf-8', 'content-length: 2', '', '{}') },
    'with a space before a colon is refused': { expected: 'http.malformed unknown', bytes: () => lines('HTTP/1.1 200 OK', 'content-length : 2', JSON_FIELD, '', '{}') },
    'of HTTP/1.0 with a length is read': { expected: 'ok', bytes: (id) => lines('HTTP/1.0 200 OK', JSON_FIELD, `content-length: ${whole(id).length}`, '', whole(id)) },
    'of HTTP/1.0 that the close delimits is read': { expected: 'ok', bytes: (id) => lines('HTTP/1.0 200 OK', JSON_FIELD, '', whole(id)), ending: 'end' },
    'with bare line feeds is refused': { expected: 'http.malformed unknown', bytes: () => `HTTP/1.1 200 OK\n${JSON_FIELD}\ncontent-length: 2\n\n{}` },
    'of an HTTP version that there is not is refused': { expected: 'http.malformed unknown', bytes: (id) => lines('HTTP/3.1 200 OK', JSON_FIELD, `content-length: ${whole(id).length}`, '', whole(id)) },
    'of HTTP/0.9 is refused': { expected: 'http.malformed unknown', bytes: whole, ending: 'end' },
    'that the close delimits is read': { expected: 'ok', bytes: (id) => lines('HTTP/1.1 200 OK', JSON_FIELD, '', whole(id)), ending: 'end' },
    'that the close delimits too early is no JSON': { expected: 'json.syntax answered', bytes: (id) => lines('HTTP/1.1 200 OK', JSON_FIELD, '', whole(id).slice(0, -1)), ending: 'end' },
    'that closes before its length is truncated': { expected: 'http.truncated answered', bytes: (id) => response(200, [JSON_FIELD, 'content-length: 500'], whole(id)), ending: 'end' },
    'that is reset before its length is truncated': { expected: 'http.truncated answered', bytes: (id) => response(200, [JSON_FIELD, 'content-length: 500'], whole(id)), ending: 'reset' },
    'that closes a connection it said to close before its length is truncated': {
      expected: 'http.truncated answered',
      bytes: (id) => response(200, [JSON_FIELD, 'content-length: 500', 'connection: close'], whole(id)),
      ending: 'end',
    },
    'that resets a connection it said to close before its length is truncated': {
      expected: 'http.truncated answered',
      bytes: (id) => response(200, [JSON_FIELD, 'content-length: 500', 'connection: close'], whole(id)),
      ending: 'reset',
    },
    'that closes behind its head is truncated': { expected: 'http.truncated answered', bytes: () => response(200, [JSON_FIELD, 'content-length: 500']), ending: 'end' },
    'that closes inside a chunk size is truncated': { expected: 'http.truncated answered', bytes: () => pieces(chunkedHead, '4'), ending: 'end' },
    'that closes inside a chunk is truncated': { expected: 'http.truncated answered', bytes: (id) => pieces(chunkedHead, chunk(whole(id)).subarray(0, -4)), ending: 'end' },
    'that closes behind a chunk is truncated': { expected: 'http.truncated answered', bytes: (id) => pieces(chunkedHead, chunk(whole(id))), ending: 'end' },
    'that closes inside the last chunk is truncated': { expected: 'http.truncated answered', bytes: (id) => pieces(chunkedHead, chunk(whole(id)), '0\r\n'), ending: 'end' },
    'that closes inside its trailers is truncated': { expected: 'http.truncated answered', bytes: (id) => pieces(chunkedHead, chunk(whole(id)), '0\r\nx-a: b\r\n'), ending: 'end' },
    'that is reset behind a chunk is truncated': { expected: 'http.truncated answered', bytes: (id) => pieces(chunkedHead, chunk(whole(id))), ending: 'reset' },
    'that closes a connection it said to close behind a chunk is truncated': {
      expected: 'http.truncated answered',
      bytes: (id) => pieces(response(200, [JSON_FIELD, 'transfer-encoding: chunked', 'connection: close']), chunk(whole(id))),
      ending: 'end',
    },
    'that resets a connection it said to close behind a chunk is truncated': {
      expected: 'http.truncated answered',
      bytes: (id) => pieces(response(200, [JSON_FIELD, 'transfer-encoding: chunked', 'connection: close']), chunk(whole(id))),
      ending: 'reset',
    },
    'with trailers is read, and what they say of the head means nothing': {
      expected: 'ok',
      bytes: (id) => pieces(chunkedHead, chunk(whole(id)), '0\r\ncontent-encoding: gzip\r\ncontent-type: text/html\r\nretry-after: 1\r\n\r\n'),
    },
    'with a length in its trailers is refused': { expected: 'http.malformed answered', bytes: (id) => pieces(chunkedHead, chunk(whole(id)), '0\r\ncontent-length: 80\r\n\r\n') },
    'with trailers over the limit of a head is over it': {
      expected: 'limit.head_bytes answered',
      bytes: (id) => pieces(chunkedHead, chunk(whole(id)), `0\r\n${'x-a: b\r\n'.repeat(20_000)}`),
    },
    'in chunks with an extension is read': { expected: 'ok', bytes: (id) => pieces(chunkedHead, `${whole(id).length.toString(16)};a=b\r\n${whole(id)}\r\n`, LAST_CHUNK) },
    'with a chunk of more bytes than it says is refused': { expected: 'http.malformed answered', bytes: (id) => pieces(chunkedHead, `5\r\n${whole(id)}\r\n`, LAST_CHUNK) },
    'in larger chunks than the bound allows is over it': {
      expected: 'limit.response_bytes answered',
      bytes: () => pieces(chunkedHead, chunk(' '.repeat(3_000_000))),
    },
    'of one byte too many is over the bound': {
      expected: 'limit.response_bytes answered',
      bytes: (id) => pieces(chunkedHead, chunk(whole(id)), LAST_CHUNK),
      options: { maxResponseBytes: resultText('x'.repeat(32)).length - 1 },
    },
    'of the last byte allowed is within the bound': { expected: 'ok', bytes: (id) => pieces(chunkedHead, chunk(whole(id)), LAST_CHUNK), options: { maxResponseBytes: resultText('x'.repeat(32)).length } },
    "that is the agent's error under a 400 is the agent's": { expected: 'remote.error answered 400', bytes: (id) => response(400, [JSON_FIELD], errorText(id)) },
    "that is the agent's error under a 500 that the close delimits is the agent's": {
      expected: 'remote.error answered 500',
      bytes: (id) => response(500, [JSON_FIELD, 'connection: close'], errorText(id)),
      ending: 'end',
    },
    "that is the agent's error for nobody, under a 400, is the agent's": {
      expected: 'remote.error answered 400',
      bytes: () => response(400, [JSON_FIELD], JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } })),
    },
    "that is the agent's error for another is a status": { expected: 'http.status answered 400', bytes: () => response(400, [JSON_FIELD], errorText('another')) },
    'that is a result under a 500 is a status': { expected: 'http.status answered 500', bytes: (id) => response(500, [JSON_FIELD], whole(id)) },
    'that is an error cut under a 500 is a status': { expected: 'http.status answered 500', bytes: (id) => response(500, [JSON_FIELD, 'content-length: 500'], errorText(id)), ending: 'end' },
    'that is an error reset under a 500 is a status': { expected: 'http.status answered 500', bytes: (id) => response(500, [JSON_FIELD, 'content-length: 500'], errorText(id)), ending: 'reset' },
    'that is an endless error under a 500 is a status': { expected: 'http.status answered 500', bytes: () => pieces(response(500, [JSON_FIELD, 'transfer-encoding: chunked']), chunk(' '.repeat(3_000_000))) },
    'that is an error in broken chunks under a 500 is a status': { expected: 'http.status answered 500', bytes: () => pieces(response(500, [JSON_FIELD, 'transfer-encoding: chunked']), chunk('{'), 'zz\r\n') },
    'that is an error in chunks cut at the close it announced under a 500 is a status': {
      expected: 'http.status answered 500',
      bytes: (id) => pieces(response(500, [JSON_FIELD, 'transfer-encoding: chunked', 'connection: close']), chunk(errorText(id))),
      ending: 'end',
    },
    "that is the agent's error under a 600 is a status": { expected: 'http.status answered 600', bytes: (id) => response(600, [JSON_FIELD], errorText(id)) },
    'that is 204 has no body, whatever comes behind it': { expected: 'http.status answered 204', bytes: (id) => pieces('HTTP/1.1 204 No Content\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n', good(id)) },
  };
  for (const [name, { expected, bytes, ending, options }] of Object.entries(cases)) {
    test(name, async (t) => {
      const [server, agent] = await listen(t, (socket, { id }) => {
        socket.write(bytes(id), () => {
          if (ending === 'end') socket.end();
          // Behind the bytes, not over them.
          if (ending === 'reset') setTimeout(() => socket.resetAndDestroy(), 10);
        });
      });
      assert.equal(await callOutcome(agent, server.origin, { timeoutMs: 5000, ...options }), expected);
      assert.equal(server.requests.length, 1);
    });
  }

  test('with a head over the limit of its dispatcher is over it, whatever that limit is', async (t) => {
    const server = keep(t, await RawServer.listen((socket, { id }) => socket.write(response(200, [JSON_FIELD, `x: ${'x'.repeat(2000)}`], whole(id)))));
    const narrow = keepDispatcher(t, new Agent({ maxHeaderSize: 1000 }));
    assert.equal(await callOutcome(narrow, server.origin), 'limit.head_bytes unknown');
    assert.equal(await streamOutcome(narrow, server.origin), '0 limit.head_bytes unknown');
    const wide = keepDispatcher(t, new Agent({ maxHeaderSize: 3000 }));
    assert.equal(await callOutcome(wide, server.origin), 'ok');
  });
});

describe('Before a byte of the body is read', { concurrency: 4 }, () => {
  const seen = (): [CallInterceptor, () => number | undefined] => {
    let bytes: number | undefined;
    return [
      {
        before: () => undefined,
        after: (finished) => {
          bytes = finished.bytes;
        },
      },
      () => bytes,
    ];
  };

  for (const [name, fields, status, expected] of [
    ['a length over the bound', [JSON_FIELD, 'content-length: 1048577'], 200, 'limit.response_bytes answered'],
    ['a length of an exabyte', [JSON_FIELD, 'content-length: 1000000000000000000'], 200, 'limit.response_bytes answered'],
    ['a wrong media type', ['content-type: text/html', 'content-length: 10'], 200, 'http.content_type answered'],
    ['a content coding', [JSON_FIELD, 'content-encoding: gzip', 'content-length: 10'], 200, 'http.content_encoding answered'],
    ['a redirect', ['content-length: 10', 'location: /'], 302, 'http.redirect answered 302'],
    ['an error status that is no JSON', ['content-length: 10'], 500, 'http.status answered 500'],
    ['an error status of too many bytes', [JSON_FIELD, 'content-length: 1048577'], 500, 'http.status answered 500'],
  ] as const) {
    test(`${name} is refused, and the connection closed`, async (t) => {
      const [server, agent] = await listen(t, (socket) => socket.write(response(status, fields)));
      const [interceptor, bytes] = seen();
      assert.equal(await callOutcome(agent, server.origin, { interceptors: [interceptor], timeoutMs: 2000 }), expected);
      assert.equal(bytes(), 0);
      await until(() => server.sockets.size === 0, 'the connection is let go of');
    });
  }

  test('and where there are many, no more are read than the bound and a chunk', async (t) => {
    let written = 0;
    const [server, agent] = await listen(t, (socket) => {
      socket.write(response(200, [JSON_FIELD, 'transfer-encoding: chunked']));
      const block = chunk(' '.repeat(16_384));
      const more = (): void => {
        while (!socket.destroyed && written < 100_000_000) {
          written += block.length;
          if (!socket.write(block)) {
            socket.once('drain', more);
            return;
          }
        }
      };
      more();
    });
    const [interceptor, bytes] = seen();
    assert.equal(await callOutcome(agent, server.origin, { interceptors: [interceptor], maxResponseBytes: 100_000 }), 'limit.response_bytes answered');
    assert.ok((bytes() ?? Infinity) <= 100_000 + 65_536, `${bytes()}`);
    await until(() => server.sockets.size === 0, 'the connection is let go of');
    assert.ok(written < 20_000_000, `${written}`);
  });

  test('a stream may be of any length', async (t) => {
    const [server, agent] = await listen(t, (socket, { id }) => {
      const padded = `:${'x'.repeat(1000)}\n`.repeat(2000) + streamBody(id);
      socket.write(response(200, [SSE_FIELD], padded));
    });
    assert.equal(await streamOutcome(agent, server.origin, { maxEventBytes: 3 << 20 }), '2 ok');
  });
});

describe('A failure that was answered', () => {
  test('says when to come back, where the head does', async (t) => {
    const [server, agent] = await listen(t, (socket, { id, line }) => {
      const [, status = '', after = ''] = /\/(\d+)\?(\S+) /.exec(line) ?? [];
      const body = status === '400' ? errorText(id) : '';
      socket.write(response(Number(status), [...(body === '' ? [] : [JSON_FIELD]), ...after.split(';').map((value) => `retry-after: ${value}`)], body));
    });
    const table: [path: string, rule: string, retryAfterMs: number | undefined][] = [
      ['/503?7', 'http.status', 7000],
      ['/302?7', 'http.redirect', 7000],
      ['/400?7', 'remote.error', 7000],
      ['/200?7', 'http.content_type', undefined],
      ['/503?99999999', 'http.status', 86_400_000],
      ['/503?-1', 'http.status', undefined],
      ['/503?1;1', 'http.status', undefined],
    ];
    for (const [path, rule, expected] of table) {
      const failure = await failureFrom(call(agent, server.origin + path));
      assert.deepEqual([failure.rule, failure.retryAfterMs, 'retryAfterMs' in failure], [rule, expected, expected !== undefined], path);
    }
  });
});
