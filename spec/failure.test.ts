import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import util from 'node:util';
import { Agent, RetryAgent, type Dispatcher } from 'undici';
import { StrictClient } from '../lib/client.js';
import { userText } from '../lib/dialect/request.js';
import { FAILURE_RULES, Failure, Refusal, RemoteError, failureOf, type FailureKind, type FailureRule } from '../lib/failure.js';
import type { CallOptions, StreamOptions } from '../lib/options.js';
import { failureFrom, json, record, taskNotFound, type Answer, type Recorder } from './support/caller_server.js';
import { SINKS, inspectAll } from './support/caller_sinks.js';

const RULES: Readonly<Record<FailureKind, readonly FailureRule[]>> = {
  invalid_argument: [
    'agent.authorization',
    'agent.stream_read',
    'card.keys',
    'card.store',
    'interceptor.after',
    'interceptor.before',
    'network.refused',
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
    'text.address',
    'text.closed',
    'text.empty',
  ],
  protocol: [
    'a2a.identity',
    'a2a.payload',
    'a2a.schema',
    'agent.artifact_append',
    'card.interface',
    'card.signature',
    'card.unsigned',
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
  remote_agent: ['remote.error', 'text.failed'],
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
  response_too_large: ['agent.task_bytes', 'limit.event_bytes', 'limit.head_bytes', 'limit.response_bytes', 'limit.stream_bytes', 'limit.stream_events'],
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
    assert.match(util.inspect(failure), /^Failure: A2A transport unavailable/);
    assert.equal(Object.prototype.toString.call(failure), '[object Error]');
    assert.equal(failure.name, 'Failure');
  });

  test('has kind, rule and delivery as own properties, and no others that do not apply', () => {
    const failure = new Failure('http.connect', { delivery: 'not_sent', cause: new Error('cause') });
    assert.deepEqual(Object.keys(failure), ['kind', 'rule', 'delivery']);
    assert.deepEqual(Reflect.ownKeys(failure).sort(), ['delivery', 'kind', 'message', 'rule', 'stack']);
    assert.deepEqual(Object.fromEntries(Object.entries(failure)), { kind: 'unavailable', rule: 'http.connect', delivery: 'not_sent' });
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
    assert.throws(() => (Object.create(Failure.prototype) as Failure).unwrap(), TypeError);
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
    const endless = (): object => ({
      get cause(): unknown {
        // Stands in for "for ever": a walk that has no bound of its own would come this far.
        if (++links > 100_000) throw new Error('walked on and on');
        return endless();
      },
    });
    assert.equal(failureOf(endless()), undefined);
    assert(links < 100_000, 'the walk has a bound of its own');
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

/** Short, so that no excerpt of a text that holds it can cut it. */
const SECRET = 'FAKE-SECRET-5f';

interface Leak {
  readonly name: string;
  readonly rule: FailureRule;
  readonly call: (client: StrictClient, options: StreamOptions) => Promise<unknown>;
  readonly answer?: Answer;
  /** Whether `unwrap()` is to give what holds the secret. */
  readonly inCause?: boolean;
  readonly dispatcher?: (agent: Agent) => Dispatcher;
}

const send = (client: StrictClient, options: CallOptions): Promise<unknown> => client.sendMessage(options, { message: userText('hi') });
const stream = async (client: StrictClient, options: StreamOptions): Promise<unknown> => {
  const items: unknown[] = [];
  for await (const item of client.sendStreamingMessage(options, { message: userText('hi') })) items.push(item);
  return items;
};

/** Answers with a 200 of this body and media type. */
const body =
  (text: string, type = 'application/json'): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': type }).end(text);
  };
const result =
  (value: unknown): Answer =>
  ({ rpc }, response) => {
    json(response, { id: rpc.id, result: value });
  };
const events =
  (text: (id: string) => string): Answer =>
  ({ rpc }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text(String(rpc.id)));
  };
const working = (id: string): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    result: { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } },
  });

const LEAKS: readonly Leak[] = [
  // The caller's own secrets, and calls that fail on the way.
  {
    name: 'the query of an endpoint where nobody listens',
    rule: 'http.connect',
    call: (client, options) => send(client, { ...options, endpoint: `http://127.0.0.1:1/?key=${SECRET}` }),
  },
  {
    name: 'the query of the endpoint and a header, and the agent hangs up',
    rule: 'http.connection_lost',
    answer: (_request, response) => response.socket?.destroy(),
    call: (client, options) =>
      send(client, { ...options, endpoint: `${String(options.endpoint)}?key=${SECRET}`, headers: { authorization: SECRET } }),
  },
  {
    name: 'an endpoint that is refused',
    rule: 'options.endpoint',
    call: (client, options) => send(client, { ...options, endpoint: `https://user:${SECRET}@agent.example/` }),
  },
  {
    name: 'the value of a header that is refused',
    rule: 'options.headers',
    call: (client, options) => send(client, { ...options, headers: { authorization: `${SECRET}\n` } }),
  },
  {
    name: 'the name of a header that is refused',
    rule: 'options.headers',
    call: (client, options) => send(client, { ...options, headers: { [`${SECRET} `]: 'x' } }),
  },
  {
    name: 'an extension that is refused',
    rule: 'options.headers',
    call: (client, options) => send(client, { ...options, extensions: [SECRET] }),
  },
  {
    name: 'the name of an unknown option',
    rule: 'options.unknown',
    call: (client, options) => send(client, Object.assign({ ...options }, { [SECRET]: SECRET })),
  },
  {
    name: 'an unknown protocol version',
    rule: 'options.dialect',
    call: (client, options) => send(client, { ...options, protocolVersion: SECRET as '1.0' }),
  },
  {
    name: 'what a getter among the options throws',
    rule: 'options.headers',
    inCause: true,
    call: (client, options) =>
      send(client, {
        ...options,
        get headers(): Record<string, string> {
          throw new Error(SECRET);
        },
      }),
  },
  {
    name: 'the name of an unknown member of the request',
    rule: 'request.params',
    call: (client, options) => client.getTask(options, Object.assign({ id: 'x' }, { [SECRET]: SECRET })),
  },
  {
    name: 'a member of the request that is refused',
    rule: 'request.params',
    call: (client, options) => client.getTask(options, { id: 'x', historyLength: SECRET as unknown as number }),
  },
  {
    name: 'a name in metadata that is refused',
    rule: 'request.params',
    call: (client, options) => client.cancelTask(options, { id: 'x', metadata: { [SECRET]: { [SECRET]: new Date() } } }),
  },
  {
    name: 'what a getter of the request throws',
    rule: 'request.params',
    inCause: true,
    call: (client, options) =>
      client.getTask(options, {
        get id(): string {
          throw new Error(SECRET);
        },
      }),
  },
  {
    name: 'what before of an interceptor throws',
    rule: 'interceptor.before',
    inCause: true,
    call: (client, options) =>
      send(client, {
        ...options,
        interceptors: [
          {
            before() {
              throw new Error(SECRET, { cause: { token: SECRET } });
            },
          },
        ],
      }),
  },
  {
    name: 'a text that after of an interceptor rejects with',
    rule: 'interceptor.after',
    inCause: true,
    answer: result({ task: { id: 't', status: { state: 'TASK_STATE_COMPLETED' } } }),
    call: (client, options) =>
      send(client, {
        ...options,
        interceptors: [
          {
            // What an interceptor of the caller's throws need not be an Error.
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
            after: () => Promise.reject(SECRET),
          },
        ],
      }),
  },
  {
    name: 'the reason of the signal, aborted before the call',
    rule: 'canceled.signal',
    inCause: true,
    call: (client, options) => send(client, { ...options, signal: AbortSignal.abort(new Error(SECRET)) }),
  },
  {
    name: 'the reason of the signal, a timeout, aborted during the call',
    rule: 'deadline.signal',
    inCause: true,
    answer: () => undefined,
    call: (client, options) => {
      const controller = new AbortController();
      const called = send(client, { ...options, signal: controller.signal });
      controller.abort(Object.assign(new Error(SECRET), { name: 'TimeoutError' }));
      return called;
    },
  },
  {
    name: 'what the dispatcher throws',
    rule: 'http.connect',
    inCause: true,
    call: send,
    dispatcher: () =>
      ({
        dispatch() {
          throw new Error(SECRET);
        },
      }) as unknown as Dispatcher,
  },
  // What the agent says.
  {
    name: "the agent's error message",
    rule: 'remote.error',
    inCause: true,
    answer: ({ rpc }, response) => {
      json(response, { id: rpc.id, error: { code: -32001, message: SECRET } });
    },
    call: send,
  },
  {
    name: "the agent's error data",
    rule: 'remote.error',
    inCause: true,
    answer: ({ rpc }, response) => {
      json(response, { id: rpc.id, error: { code: -32001, message: 'no', data: [{ [SECRET]: SECRET }] } });
    },
    call: send,
  },
  {
    name: "the agent's error, as the answer to a stream",
    rule: 'remote.error',
    inCause: true,
    answer: ({ rpc }, response) => {
      json(response, { id: rpc.id, error: { code: -32001, message: SECRET } });
    },
    call: stream,
  },
  {
    name: "the agent's error, as an event",
    rule: 'remote.error',
    inCause: true,
    answer: events((id) => `id: 1\nevent: error\ndata: {"jsonrpc":"2.0","id":"${id}","error":{"code":1,"message":"${SECRET}"}}\n\n`),
    call: stream,
  },
  {
    name: 'the body and the headers of another status',
    rule: 'http.status',
    answer: (_request, response) => {
      response.writeHead(500, { 'content-type': 'text/html', 'x-debug': SECRET }).end(SECRET);
    },
    call: send,
  },
  {
    name: 'the headers of a status that the retry of undici kept for itself',
    rule: 'http.status',
    inCause: true,
    answer: (_request, response) => {
      response.writeHead(503, { 'x-debug': SECRET }).end(SECRET);
    },
    call: send,
    dispatcher: (agent) => new RetryAgent(agent),
  },
  {
    name: 'the target of a redirect',
    rule: 'http.redirect',
    answer: (_request, response) => {
      response.writeHead(307, { location: `/?key=${SECRET}` }).end();
    },
    call: send,
  },
  { name: 'a media type', rule: 'http.content_type', answer: body('{}', `text/${SECRET}`), call: send },
  { name: 'a malformed body', rule: 'json.syntax', inCause: true, answer: body(SECRET), call: send },
  { name: 'a malformed event', rule: 'json.syntax', inCause: true, answer: events(() => `id: 1\ndata: ${SECRET}\n\n`), call: stream },
  { name: 'a member that comes twice', rule: 'json.duplicate_member', answer: body(`{"${SECRET}":1,"${SECRET}":2}`), call: send },
  { name: 'a member too many', rule: 'jsonrpc.members', answer: body(`{"jsonrpc":"2.0","${SECRET}":1}`), call: send },
  { name: 'a wrong id', rule: 'jsonrpc.id', answer: body(`{"jsonrpc":"2.0","id":"${SECRET}","result":null}`), call: send },
  { name: 'an unknown payload', rule: 'a2a.payload', answer: result({ [SECRET]: SECRET }), call: send },
  {
    name: 'a member of the wrong value',
    rule: 'a2a.schema',
    answer: result({ task: { id: 't', status: { state: SECRET } } }),
    call: send,
  },
  {
    name: 'a name in a map of the agent card',
    rule: 'a2a.schema',
    answer: result({ name: 'x', securitySchemes: { [SECRET]: SECRET } }),
    call: (client, options) => client.getExtendedAgentCard(options),
  },
  {
    name: 'the id of another task',
    rule: 'a2a.identity',
    answer: result({ id: SECRET, status: { state: 'TASK_STATE_WORKING' } }),
    call: (client, options) => client.getTask(options, { id: 'x' }),
  },
  { name: 'a field of an event', rule: 'sse.field', answer: events(() => `${SECRET}: ${SECRET}\n\n`), call: stream },
  {
    name: 'an event id that comes twice',
    rule: 'sse.id_duplicate',
    answer: events((id) => `id: ${SECRET}\ndata: ${working(id)}\n\n`.repeat(2)),
    call: stream,
  },
];

describe('The secrecy of the cause', () => {
  let agent: Agent;
  let recorder: Recorder;
  before(async () => {
    agent = new Agent();
    recorder = await record();
  });
  after(async () => {
    await agent.destroy();
    await recorder.close();
  });

  test('is looked for where an error with a secret does show it', async () => {
    const leaky = Object.assign(new Error(SECRET, { cause: new Error(SECRET) }), { note: SECRET });
    for (const [name, sink] of Object.entries(SINKS)) assert((await sink(leaky)).includes(SECRET), name);
    const hidden = Object.defineProperty(new Error('x'), Symbol('hidden'), { value: SECRET });
    assert(inspectAll(hidden).includes(SECRET));
    assert(!String(hidden).includes(SECRET));
  });

  for (const { name, rule, call, answer = taskNotFound, inCause = false, dispatcher } of LEAKS) {
    test(`holds for ${name}`, async () => {
      recorder.answer = answer;
      const client = new StrictClient(dispatcher?.(agent) ?? agent);
      const options = { endpoint: `${recorder.origin}/`, protocolVersion: '1.0', maxResponseBytes: 1000, maxEventBytes: 1000 } as const;
      const failure = await failureFrom(() => call(client, options));
      assert.equal(failure.rule, rule);
      if (inCause) assert(inspectAll(failure.unwrap()).includes(SECRET), 'unwrap() gives the cause');
      for (const [sinkName, sink] of Object.entries(SINKS)) {
        const shown = await sink(failure);
        assert(!shown.includes(SECRET), `${sinkName} shows the secret`);
        assert(shown.includes(rule), `${sinkName} shows the rule`);
      }
    });
  }

  const ENDINGS: readonly (readonly [ending: string, exitCode: number])[] = [
    ['exception', 1],
    ['rejection', 1],
  ];

  describe('in a program that does not catch the failure', { concurrency: true }, () => {
    for (const [ending, exitCode] of ENDINGS) {
      test(`holds where it ends as ${ending}`, async () => {
        recorder.answer = ({ rpc }, response) => {
          json(response, { id: rpc.id, error: { code: -32001, message: SECRET, data: { note: SECRET } } });
        };
        const { code, output } = await run({ ENDING: ending, ENDPOINT: `${recorder.origin}/?key=${SECRET}`, HEADER: SECRET });
        assert.equal(code, exitCode, output);
        assert(output.includes('A2A transport remote_agent (remote.error)'), output);
        assert(!output.includes(SECRET), output);
      });
    }
  });
});

/** Runs the program of `support/caller_uncaught.ts` and gives its exit code and all that it wrote. */
function run(environment: Record<string, string>): Promise<{ code: unknown; output: string }> {
  const program = new URL('support/caller_uncaught.ts', import.meta.url).pathname;
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', import.meta.resolve('tsx'), program],
      { env: { ...inherited, ...environment }, timeout: 20_000 },
      (error, stdout, stderr) => {
        resolve({ code: error?.code ?? 0, output: `${stdout}\n${stderr}` });
      },
    );
  });
}
