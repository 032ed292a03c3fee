/** What mutants showed that no other test would notice. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Dispatcher } from 'undici';
import { Failure, Refusal, RemoteError } from '../../lib/failure.js';
import { checkDispatcher } from '../../lib/wire/dispatcher.js';
import { judgeClientError, readHead, retryAfterMs, type ResponseHead } from '../../lib/wire/http.js';
import { MAX_DEPTH, parseInner } from '../../lib/wire/json.js';
import { ResponseDecoder } from '../../lib/wire/jsonrpc.js';
import { watchRawHeaders } from '../../lib/wire/raw_headers.js';
import { SseParser } from '../../lib/wire/sse.js';

describe('The short cut for envelopes that are like the one before', () => {
  const ID = '0123456789abcdef0123456789abcdef';

  /** The texts that were parsed. */
  function parsedBy(work: () => void): string[] {
    const parsed: string[] = [];
    const { parse } = JSON;
    JSON.parse = (text: string): unknown => {
      parsed.push(text);
      return parse(text) as unknown;
    };
    try {
      work();
    } finally {
      JSON.parse = parse;
    }
    return parsed;
  }

  test('parses the result alone, at first of an envelope as most servers write it', () => {
    const decoder = new ResponseDecoder(ID);
    const usual = Buffer.from(`{"jsonrpc":"2.0","id":"${ID}","result":{"a":1}}`);
    assert.deepEqual(parsedBy(() => decoder.decode(usual)), ['{"a":1}']);
    assert.deepEqual(parsedBy(() => decoder.decode(Buffer.from(`{"jsonrpc":"2.0","id":"${ID}","result":1}`))), ['1']);
  });

  test('learns how another server writes it, with the first one', () => {
    const decoder = new ResponseDecoder(ID);
    const other = (result: string): Buffer => Buffer.from(`{"result": ${result} , "id":"${ID}","jsonrpc":"2.0" }`);
    assert.deepEqual(parsedBy(() => decoder.decode(other('"x"'))), [other('"x"').toString()]);
    assert.deepEqual(parsedBy(() => decoder.decode(other('[2]'))), ['[2]']);
    const { value, raw } = decoder.decode(other('{"b":null}'));
    assert.deepEqual([value, Buffer.from(raw).toString()], [{ b: null }, '{"b":null}']);
  });

  test('takes no envelope for it that differs in a single byte, wherever that is', () => {
    const [before, result, after] = [`{"jsonrpc":"2.0","id":"${ID}","result":`, '{"a":1}', ' }\n'];
    const decoder = new ResponseDecoder(ID);
    const usual = Buffer.from(before + result + after);
    decoder.decode(usual);
    for (let at = 0; at < usual.length; at++) {
      if (at >= before.length && at < before.length + result.length) continue;
      const other = Buffer.from(usual);
      other[at] = 0x78;
      assert.throws(() => decoder.decode(other), Refusal, other.toString());
    }
    assert.throws(() => decoder.decode(usual.subarray(1)), Refusal);
    assert.deepEqual(parsedBy(() => decoder.decode(usual)), [result]);
  });

  test('counts the envelope among the levels', () => {
    const lists = (depth: number): Buffer => Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    const parsed = (depth: number): boolean => parseInner(lists(depth), 0, 2 * depth) !== undefined;
    assert.deepEqual([parsed(MAX_DEPTH - 1), parsed(MAX_DEPTH)], [true, false]);
  });
});

describe('The agent’s own error', () => {
  test('has its code, message and data', () => {
    const error = `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no","data":[1]}}`;
    assert.throws(
      () => new ResponseDecoder('x').decode(Buffer.from(error)),
      (refusal) => {
        assert.ok(refusal instanceof Refusal && refusal.reason instanceof RemoteError);
        const { code, message, data } = refusal.reason;
        assert.deepEqual([code, message, data], [-32001, 'no', [1]]);
        assert.deepEqual([refusal.rule, refusal.code], ['remote.error', -32001]);
        return true;
      },
    );
  });

  test('is a failure to other copies of the package by a mark that they agree on', () => {
    const failure = new Failure('remote.error', { delivery: 'answered' });
    assert.equal(Reflect.get(failure, Symbol.for('a2a-strict.Failure')), true);
  });
});

describe('The white space around a field’s value', () => {
  const headOf = (name: string, value: string): ResponseHead => readHead(200, {}, [name, value].map((text) => Buffer.from(text, 'latin1')));

  test('is no part of it, and what is inside is', () => {
    for (const [value, expected] of [
      [' a', 'a'],
      ['a ', 'a'],
      ['\t \ta b\t ', 'a b'],
      ['', ''],
      [' ', ''],
      [' \t ', ''],
      ['!a!', '!a!'],
      ['\na\v', '\na\v'],
    ] as const) {
      assert.deepEqual(headOf('content-type', value).contentType, [expected], JSON.stringify(value));
    }
  });

  test('stays where it would say where the body ends', () => {
    assert.deepEqual(headOf('transfer-encoding', ' chunked').transferEncoding, [' chunked']);
  });

  test('a name without a value is none', () => {
    assert.deepEqual(readHead(200, {}, [Buffer.from('content-type')]).contentType, []);
  });
});

describe('A dispatcher is taken for one that is bound to an origin', () => {
  const dispatch = (): boolean => true;
  /** An instance of a class of this name, or of one that extends it. */
  function instanceOf(name: string, isExtended = false): object {
    const { [name]: Named = Object } = { [name]: class { readonly dispatch = dispatch; } };
    const Extended = class extends Named {};
    return isExtended ? new Extended() : new Named();
  }
  const isRefused = (dispatcher: unknown): boolean => checkDispatcher(dispatcher)?.rule === 'options.dispatcher';

  test('by the name of its class, or of one that it extends', () => {
    for (const name of ['Client', 'Pool', 'BalancedPool', 'RoundRobinPool', 'H2CClient', 'MockClient', 'MockPool']) {
      assert.deepEqual([isRefused(instanceOf(name)), isRefused(instanceOf(name, true))], [true, true], name);
    }
    for (const name of ['Agent', 'ProxyAgent', 'Clients', '']) assert.equal(isRefused(instanceOf(name, true)), false, name);
  });

  test('by what undici notes on it, and by nothing like it', () => {
    const noted = (description: string | undefined, value: unknown): boolean => isRefused({ dispatch, [Symbol(description)]: value });
    assert.deepEqual([noted('url', 'x'), noted('url', ''), noted('originless', true)], [true, true, true]);
    const others = [
      noted('url', null),
      noted('url', undefined),
      noted('originless', false),
      noted('originless', 1),
      noted('origin', 'x'),
      noted(undefined, true),
    ];
    assert.deepEqual(others, others.map(() => false));
  });

  test('is none without a function to dispatch with', () => {
    for (const value of [undefined, null, 'x', () => true, {}, { dispatch: true }, Object.assign(() => true, { dispatch })]) {
      assert.equal(isRefused(value), true);
    }
    const bare = Object.assign(Object.create(null) as object, { dispatch });
    assert.deepEqual([isRefused(bare), isRefused(Object.create(bare))], [false, false]);
  });

  test('where looking at it throws, with what was thrown as the reason', () => {
    const thrown = new Error('a trap');
    const trap = new Proxy({}, { has: () => { throw thrown; } });
    assert.equal(checkDispatcher(trap)?.reason, thrown);
  });
});

describe('What an error of the HTTP client stands for', () => {
  const STAGES = ['waiting', 'sent', 'answered'] as const;
  const rules = (error: unknown): string[] => STAGES.map((stage) => judgeClientError(error, stage).rule);

  test('is told by its code, its message and how far the exchange had come', () => {
    assert.deepEqual(rules({ code: 'ERR_HTTP2_ERROR' }), ['http.connect', 'http.malformed', 'http.malformed']);
    const proxy = { code: 'UND_ERR_INVALID_ARG', message: 'Proxy Authentication Required (407)' };
    assert.deepEqual(judgeClientError(proxy, 'sent'), { rule: 'http.status', status: 407 });
    for (const other of [{ ...proxy, code: 'UND_ERR_OTHER' }, { ...proxy, message: 'invalid argument' }]) {
      assert.deepEqual(rules(other), ['http.connect', 'http.connection_lost', 'http.truncated']);
    }
  });

  test('where it holds a status that was kept, is that status, 300 to 399 a redirect', () => {
    const verdict = (statusCode: unknown, headers?: unknown): ReturnType<typeof judgeClientError> =>
      judgeClientError({ code: 'UND_ERR_REQ_RETRY', statusCode, headers }, 'sent');
    assert.deepEqual(
      [299, 300, 399, 400].map((status) => verdict(status).rule),
      ['http.status', 'http.redirect', 'http.redirect', 'http.status'],
    );
    assert.deepEqual(verdict(503, { 'retry-after': '7' }), { rule: 'http.status', status: 503, retryAfter: ['7'] });
    for (const headers of [undefined, null, 'x', 1]) assert.deepEqual(
      verdict('503', headers),
      { rule: 'http.status', status: 0, retryAfter: [] },
    );
  });

  test('that says nothing of itself, is what the stage says', () => {
    for (const error of [undefined, null, 'ERR_HTTP2_ERROR', 1, {}, { code: Symbol('x') }, { code: ['ERR_HTTP2_ERROR'] }]) {
      assert.deepEqual(rules(error), ['http.connect', 'http.connection_lost', 'http.truncated']);
    }
  });
});

describe('A date in retry-after', () => {
  const NOW = Date.UTC(2030, 0, 1, 12, 0, 0);
  const DATES = ['Tue, 01 Jan 2030 12:00:09 GMT', 'Tuesday, 01-Jan-30 12:00:09 GMT', 'Tue Jan  1 12:00:09 2030'];

  test('is in GMT, wherever we are', () => {
    const { TZ } = process.env;
    try {
      for (const zone of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
        process.env['TZ'] = zone;
        assert.deepEqual(DATES.map((date) => retryAfterMs([date], NOW)), [9000, 9000, 9000], zone);
      }
    } finally {
      if (TZ === undefined) delete process.env['TZ'];
      else process.env['TZ'] = TZ;
    }
  });

  test('is nothing else before or behind it', () => {
    for (const date of DATES) for (const other of [`x${date}`, `${date}x`, ` ${date}`, `${date} 1`, `(a) ${date}`, `${date} (a)`]) {
      assert.equal(retryAfterMs([other], NOW), undefined, other);
    }
  });
});

describe('The raw headers of a response, watched', () => {
  const controllerWith = (target?: object): Dispatcher.DispatchController =>
    (target === undefined ? {} : { target }) as unknown as Dispatcher.DispatchController;
  const bytes = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(text));

  test('are those that came first, whatever becomes of them, and then of the next head', () => {
    const inner: { rawHeaders?: unknown } = {};
    const firstHeaders = watchRawHeaders(controllerWith(inner));
    const list = bytes('content-encoding', 'gzip');
    inner.rawHeaders = list;
    assert.equal(inner.rawHeaders, list);
    inner.rawHeaders = bytes('x', 'y');
    list.length = 0;
    assert.deepEqual(firstHeaders?.(), bytes('content-encoding', 'gzip'));
    assert.equal(firstHeaders(), undefined);
    const object = { 'content-type': 'a/b' };
    inner.rawHeaders = object;
    assert.equal(inner.rawHeaders, object);
    Reflect.deleteProperty(object, 'content-type');
    assert.deepEqual(firstHeaders(), { 'content-type': 'a/b' });
  });

  test('may be watched again, by the next dispatch of the same controller', () => {
    const inner: { rawHeaders?: unknown } = {};
    watchRawHeaders(controllerWith(inner));
    const again = watchRawHeaders(controllerWith(inner));
    inner.rawHeaders = bytes('a', 'b');
    assert.deepEqual(again?.(), bytes('a', 'b'));
  });

  test('are left alone where nobody stands between', () => {
    const controller = controllerWith();
    assert.equal(watchRawHeaders(controller), undefined);
    assert.equal(Object.hasOwn(controller, 'rawHeaders'), false);
  });
});

test('Noise behind a rule that noise broke is no event, and does not end one', () => {
  const parser = new SseParser({ maxEventBytes: 100, maxStreamBytes: 1, maxStreamEvents: 1, eventIds: 'optional' });
  parser.push(Buffer.from(':x'));
  assert.throws(() => parser.next(), { rule: 'limit.stream_bytes' });
  const complete = ['y\n', '\n\r\n', ':\n\n', 'data: x\n', ':z\n', '\r\n'].map((text) => {
    parser.push(Buffer.from(text));
    return parser.skipEvent();
  });
  assert.deepEqual(complete, [false, false, false, false, false, true]);
});
