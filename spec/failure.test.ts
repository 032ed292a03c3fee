import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FAILURE_RULES, Failure, Refusal, RemoteError, failureOf, type FailureKind, type FailureRule } from '../lib/failure.js';

const RULES: Readonly<Record<FailureKind, readonly FailureRule[]>> = {
  invalid_argument: [
    'interceptor.after',
    'interceptor.before',
    'options.cleartext_credentials',
    'options.dialect',
    'options.dispatcher',
    'options.endpoint',
    'options.headers',
    'options.interceptors',
    'options.limit',
    'options.operation',
    'options.signal',
    'options.time',
    'options.unknown',
    'request.bytes',
    'request.params',
  ],
  protocol: [
    'a2a.identity',
    'a2a.payload',
    'a2a.schema',
    'http.content_encoding',
    'http.content_type',
    'http.malformed',
    'json.depth',
    'json.duplicate_member',
    'json.forbidden_member',
    'json.number',
    'json.surrogate',
    'json.syntax',
    'json.utf8',
    'jsonrpc.error_object',
    'jsonrpc.id',
    'jsonrpc.members',
    'jsonrpc.result_or_error',
    'jsonrpc.version',
    'sse.bom',
    'sse.data_lines',
    'sse.event_name',
    'sse.field',
    'sse.id_duplicate',
    'sse.id_gap',
    'sse.id_invalid',
    'sse.id_missing',
    'sse.line_ending',
    'sse.truncated',
    'stream.after_end',
    'stream.first_event',
    'stream.identity',
    'stream.message_only',
  ],
  remote_agent: ['remote.error'],
  unavailable: [
    'http.connect',
    'http.connection_lost',
    'http.redirect',
    'http.status',
    'http.truncated',
    'stream.incomplete',
  ],
  deadline_exceeded: ['deadline.connect', 'deadline.idle', 'deadline.signal', 'deadline.total'],
  canceled: ['canceled.signal'],
  response_too_large: ['limit.event_bytes', 'limit.head_bytes', 'limit.response_bytes', 'limit.stream_bytes', 'limit.stream_events'],
};

const ALL_RULES = Object.keys(FAILURE_RULES) as FailureRule[];

/** A second copy of the module, as two versions of the package in one process would load it. */
const copy = (await import(new URL('../lib/failure.ts?copy', import.meta.url).href)) as typeof import('../lib/failure.js');

describe('A failure', () => {
  test('has one of seven kinds, and each rule of the profile has just one', () => {
    const byKind: Record<string, string[]> = {};
    for (const [rule, kind] of Object.entries(FAILURE_RULES)) (byKind[kind] ??= []).push(rule);
    for (const rules of Object.values(byKind)) rules.sort();
    assert.deepEqual(byKind, RULES);
  });

  test('has rules whose table nobody can change', () => {
    assert(Object.isFrozen(FAILURE_RULES));
  });

  test('says its kind and its rule, and nothing else, in its message', () => {
    for (const rule of ALL_RULES) {
      const failure = new Failure(rule, { delivery: 'unknown', status: 500, path: 'status.state', cause: new Error('cause') });
      assert.equal(failure.message, `A2A transport ${FAILURE_RULES[rule]} (${rule})`);
      assert.equal(String(failure), `Failure: A2A transport ${FAILURE_RULES[rule]} (${rule})`);
      assert.equal(failure.stack?.split('\n')[0], String(failure));
    }
  });

  test('is an Error by every test that there is', () => {
    const failure = new Failure('http.connect', { delivery: 'not_sent' });
    assert(failure instanceof Error);
    assert(Error.isError === undefined || Error.isError(failure));
    assert.equal(Object.prototype.toString.call(failure), '[object Error]');
    assert.equal(failure.name, 'Failure');
  });

  test('has kind, rule and delivery as own properties, and no others that do not apply', () => {
    const failure = new Failure('http.connect', { delivery: 'not_sent', cause: new Error('cause') });
    assert.deepEqual(Object.keys(failure), ['kind', 'rule', 'delivery']);
    assert.deepEqual(Reflect.ownKeys(failure).sort(), ['delivery', 'kind', 'message', 'rule', 'stack']);
    assert.deepEqual({ ...failure }, { kind: 'unavailable', rule: 'http.connect', delivery: 'not_sent' });
    for (const name of ['status', 'code', 'path', 'retryAfterMs', 'cause', 'name']) {
      assert.equal(Object.hasOwn(failure, name), false, name);
    }
    assert.equal('cause' in failure, false);
  });

  test('has the others as own properties where they apply, zero and the empty path included', () => {
    const failure = new Failure('remote.error', { delivery: 'answered', status: 400, code: 0, path: '', retryAfterMs: 0 });
    assert.deepEqual(JSON.parse(JSON.stringify(failure)), {
      kind: 'remote_agent',
      rule: 'remote.error',
      delivery: 'answered',
      status: 400,
      code: 0,
      path: '',
      retryAfterMs: 0,
    });
  });

  test('keeps absent what it is given as undefined', () => {
    const details = { status: undefined, code: undefined, path: undefined, retryAfterMs: undefined, cause: undefined };
    const failure = new Failure('http.status', { delivery: 'answered', ...details });
    assert.deepEqual(Object.keys(failure), ['kind', 'rule', 'delivery']);
    assert.equal(failure.unwrap(), undefined);
  });

  test('gives the very cause back, whatever it is', () => {
    for (const cause of [new Error('x'), new RemoteError(-1, 'x', null), 'text', 0, null, Symbol('x'), { a: 1 }]) {
      assert.equal(new Failure('http.connect', { delivery: 'not_sent', cause }).unwrap(), cause);
    }
  });

  test('gives its cause to nobody who only has its prototype', () => {
    assert.throws(() => Failure.prototype.unwrap.call({} as Failure), TypeError);
  });
});

describe('failureOf', () => {
  const failure = new Failure('http.connect', { delivery: 'not_sent' });
  const other = new Failure('http.status', { delivery: 'answered' });

  test('finds a failure as it is, behind causes, and among the errors of an AggregateError', () => {
    assert.equal(failureOf(failure), failure);
    assert.equal(failureOf(new Error('a', { cause: failure })), failure);
    assert.equal(failureOf(new Error('a', { cause: new TypeError('b', { cause: failure }) })), failure);
    assert.equal(failureOf(new AggregateError([new Error('a'), failure])), failure);
    assert.equal(failureOf(new AggregateError([new Error('a', { cause: new AggregateError([failure]) })])), failure);
    assert.equal(failureOf({ cause: failure }), failure);
  });

  test('finds the one that is nearest, and of several as near the first', () => {
    assert.equal(failureOf(new Error('a', { cause: new AggregateError([failure, other]) })), failure);
    const nested = new AggregateError([new Error('deep', { cause: failure }), other]);
    assert.equal(failureOf(nested), other);
    assert.equal(failureOf(new AggregateError([failure], 'a', { cause: other })), other);
  });

  test('finds none in what has none', () => {
    for (const value of [undefined, null, 0, '', 'Failure', Symbol('x'), 1n, true, () => failure, {}, [], new Error('a')]) {
      assert.equal(failureOf(value), undefined);
    }
    assert.equal(failureOf(new Error('a', { cause: 'Failure' })), undefined);
    assert.equal(failureOf({ errors: 'no list' }), undefined);
    assert.equal(failureOf(new Refusal('http.status')), undefined);
  });

  test('does not look behind a failure', () => {
    const outer = new Failure('interceptor.before', { delivery: 'not_sent', cause: failure });
    assert.equal(failureOf(outer), outer);
  });

  test('ends on a chain that loops', () => {
    const a = new Error('a');
    const b = new Error('b', { cause: a });
    a.cause = b;
    assert.equal(failureOf(a), undefined);
    const aggregate = new AggregateError([a]);
    aggregate.errors.push(aggregate, failure);
    assert.equal(failureOf(aggregate), failure);
    const self: { cause?: unknown } = {};
    self.cause = self;
    assert.equal(failureOf(self), undefined);
  });

  test('ends on a chain that grows as it is read', () => {
    let links = 0;
    class Endless extends Error {
      override get cause(): unknown {
        // Stands in for "for ever": a walk that has no bound of its own would come this far.
        if (++links > 200_000) throw new Error('walked on and on');
        return new Endless();
      }
    }
    assert.equal(failureOf(new Endless()), undefined);
    assert(links < 200_000, 'the walk has a bound of its own');
  });

  test('finds a failure at the end of a chain of a thousand', () => {
    let error: Error = failure;
    for (let i = 0; i < 1000; i++) error = new Error('link', { cause: error });
    assert.equal(failureOf(error), failure);
  });

  test('finds a failure that stands last among very many errors', () => {
    const errors: unknown[] = new Array<unknown>(300_000).fill('no error');
    errors.push(failure);
    assert.equal(failureOf(new AggregateError(errors)), failure);
  });

  test('never throws: getters and proxies that do hide what is behind them, nothing more', () => {
    const throwing = {
      get cause(): unknown {
        throw new Error('no');
      },
    };
    const throwingErrors = {
      get errors(): unknown {
        throw new Error('no');
      },
    };
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const revokedList = Proxy.revocable<unknown[]>([], {});
    revokedList.revoke();
    const traps = new Proxy(
      {},
      {
        has() {
          throw new Error('no');
        },
        get() {
          throw new Error('no');
        },
        getPrototypeOf() {
          throw new Error('no');
        },
      },
    );
    for (const hostile of [throwing, throwingErrors, revoked.proxy, traps, { errors: revokedList.proxy }]) {
      assert.equal(failureOf(hostile), undefined);
      assert.equal(failureOf(new AggregateError([hostile, failure])), failure);
      assert.equal(failureOf({ cause: hostile, errors: [failure] }), failure);
    }
  });

  test('gives nothing that is no failure but says so', () => {
    const brand = Symbol.for('a2a-strict.Failure');
    assert.equal(failureOf({ [brand]: true, kind: 'protocol' }), undefined);
    assert.equal(failureOf(Object.assign(new Error('x'), { [brand]: 'yes' })), undefined);
    assert.equal(failureOf(Failure.prototype), undefined);
    assert.equal(failureOf(Object.create(Failure.prototype)), undefined);
  });

  test('gives nothing whose unwrap() would throw', () => {
    const found = failureOf(new Proxy(failure, {}));
    assert(found === undefined || found.unwrap() === undefined);
  });

  test('works over two copies of the package, in both directions', () => {
    assert.notEqual(copy.Failure, Failure);
    const foreign = new copy.Failure('remote.error', { delivery: 'answered', code: -32001, cause: 'theirs' });
    assert.equal(foreign instanceof Failure, false);
    assert.equal(failureOf(foreign), foreign);
    assert.equal(failureOf(new Error('a', { cause: new AggregateError([foreign]) })), foreign);
    assert.equal(copy.failureOf(new Error('a', { cause: failure })), failure);
    const found = failureOf(foreign);
    assert.equal(found?.rule, 'remote.error');
    assert.equal(found.unwrap(), 'theirs');
  });
});
