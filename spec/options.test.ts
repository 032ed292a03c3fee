import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import vm from 'node:vm';
import {
  Agent,
  BalancedPool,
  Client,
  EnvHttpProxyAgent,
  H2CClient,
  MockAgent,
  Pool,
  ProxyAgent,
  RetryAgent,
  RoundRobinPool,
  interceptors,
  type Dispatcher,
} from 'undici';
import { StrictClient } from '../lib/client.js';
import { userText, type SendMessageInput } from '../lib/dialect/request.js';
import { Failure, Refusal, type FailureRule } from '../lib/failure.js';
import type { CallInterceptor } from '../lib/interceptor.js';
import { checkCallOptions, checkStreamOptions, type CallOptions, type CallPolicy, type StreamOptions } from '../lib/options.js';
import { checkDispatcher } from '../lib/wire/dispatcher.js';
import { HOSTILE, Thrower, counting, countingList, revoked, thrower, throwing } from './support/caller_hostile.js';
import { endedTask, failureFrom, record, type Received, type Recorder } from './support/caller_server.js';

const MESSAGE: SendMessageInput = { message: userText('hi') };

/** What is refused without anything being sent: the same for a unary call and for a stream. */
async function refusedAs(rule: FailureRule, client: StrictClient, options: unknown): Promise<void> {
  const check = (failure: Failure): void => {
    assert.equal(failure.rule, rule);
    assert.equal(failure.kind, 'invalid_argument');
    assert.equal(failure.delivery, 'not_sent');
  };
  check(await failureFrom(() => client.sendMessage(options as CallOptions, MESSAGE)));
  await refusedStream(client, options).then(check);
}

async function refusedStream(client: StrictClient, options: unknown): Promise<Failure> {
  let stream;
  try {
    stream = client.sendStreamingMessage(options as StreamOptions, MESSAGE);
  } catch (error) {
    assert.fail(`thrown synchronously: ${String(error)}`);
  }
  const failure = await failureFrom(() => stream.next());
  assert.deepEqual(await stream.next(), { done: true, value: undefined });
  return failure;
}

/** The rule that a pure check refuses with, or the policy. */
function checked(options: unknown): FailureRule | CallPolicy {
  try {
    return checkCallOptions(options);
  } catch (error) {
    assert(error instanceof Refusal, String(error));
    return error.rule;
  }
}

describe('Options', () => {
  let agent: Agent;
  let client: StrictClient;
  let recorder: Recorder;
  let base: StreamOptions;
  before(async () => {
    agent = new Agent();
    client = new StrictClient(agent);
    recorder = await record(endedTask);
    base = { endpoint: `${recorder.origin}/`, protocolVersion: '1.0', maxResponseBytes: 10_000, maxEventBytes: 10_000 };
  });
  after(async () => {
    await agent.destroy();
    await recorder.close();
  });
  beforeEach(() => {
    recorder.answer = endedTask;
  });

  /** Makes a call that is in order, and proves by it that none before it was sent: it is the first that the server sees. */
  async function nothingWasSent(since: number): Promise<void> {
    await client.sendMessage(base, MESSAGE);
    assert.equal(recorder.received.length, since + 1);
  }

  async function bothSend(options: unknown): Promise<readonly [unary: Received, stream: Received]> {
    const since = recorder.received.length;
    await client.sendMessage(options as CallOptions, MESSAGE);
    for await (const { event } of client.sendStreamingMessage(options as StreamOptions, MESSAGE)) assert.equal(event.$case, 'task');
    const [unary, stream, ...others] = recorder.received.slice(since);
    assert(unary !== undefined && stream !== undefined && others.length === 0);
    return [unary, stream];
  }

  describe('of a wrong value are refused, and nothing is sent', () => {
    for (const [option, rule, rows] of HOSTILE) {
      test(`${option} is ${rule}`, async (context) => {
        const since = recorder.received.length;
        const connections = recorder.connections;
        for (const [label, value] of rows) {
          await context.test(label, async () => {
            await refusedAs(rule, client, { ...base, [option]: value });
          });
        }
        assert.equal(recorder.connections, connections);
        await nothingWasSent(since);
      });
    }

    test('a getter that throws is refused as the option that it stands for, the throw behind unwrap()', async () => {
      const since = recorder.received.length;
      for (const [option, rule] of HOSTILE) {
        const options: unknown = Object.defineProperty({ ...base }, option, { get: thrower, enumerable: true });
        await refusedAs(rule, client, options);
        assert((await refusedStream(client, options)).unwrap() instanceof Thrower, option);
      }
      await nothingWasSent(since);
    });

    test('a key that is none of ours is options.unknown, however near it comes', async () => {
      const since = recorder.received.length;
      for (const key of ['timeout', 'timeoutms', 'timeOutMs', 'maxResponseByte', 'header', 'url', 'allowCleartextCredential', '']) {
        await refusedAs('options.unknown', client, { ...base, [key]: undefined });
        await refusedAs('options.unknown', client, { ...base, [key]: 1 });
      }
      for (const key of ['constructor', 'toString', 'hasOwnProperty', '__proto__']) {
        const options: object = JSON.parse(JSON.stringify(base).replace('{', `{"${key}":1,`)) as object;
        assert(Object.hasOwn(options, key));
        await refusedAs('options.unknown', client, options);
      }
      await nothingWasSent(since);
    });

    test('a key that is a symbol, or that is not enumerable, is options.unknown too', async () => {
      await refusedAs('options.unknown', client, { ...base, [Symbol('timeoutMs')]: 1 });
      await refusedAs('options.unknown', client, Object.defineProperty({ ...base }, 'timeout', { value: 1 }));
    });

    for (const member of ['aborted', 'reason', 'addEventListener', 'removeEventListener']) {
      for (const kind of ['unary call', 'stream'] as const) {
        test(`a signal whose ${member} throws is refused by a ${kind}, or that has no effect`, async () => {
          const controller = new AbortController();
          const options = { ...base, signal: Object.defineProperty(controller.signal, member, { get: thrower }) };
          recorder.answer = () => {
            controller.abort();
          };
          const { promise: hung, reject } = Promise.withResolvers<never>();
          const timer = setTimeout(() => {
            reject(new Error('the call never ends'));
          }, 1000);
          try {
            const failure = await failureFrom(() => {
              const call = kind === 'stream' ? client.sendStreamingMessage(options, MESSAGE).next() : client.sendMessage(options, MESSAGE);
              return Promise.race([call, hung]);
            });
            assert(failure.rule === 'options.signal' || failure.rule === 'canceled.signal', failure.rule);
          } finally {
            clearTimeout(timer);
          }
        });
      }
    }

    test('options that are no plain object are refused', async () => {
      class Policy {
        endpoint = base.endpoint;
        protocolVersion = base.protocolVersion;
        maxResponseBytes = base.maxResponseBytes;
        maxEventBytes = base.maxEventBytes;
      }
      const since = recorder.received.length;
      const hostile: unknown[] = [undefined, null, 0, 'http://127.0.0.1/', true, 1n, Symbol('x'), () => base];
      const instances: unknown[] = [new Policy(), Object.create(base), new Map(Object.entries(base)), [base], new Date(), new URL(recorder.origin)];
      const proxies = [revoked({ ...base }), throwing({ ...base })];
      for (const options of [...hostile, ...instances, ...proxies]) {
        const unary = await failureFrom(() => client.sendMessage(options as CallOptions, MESSAGE));
        const stream = await refusedStream(client, options);
        for (const failure of [unary, stream]) {
          assert.equal(failure.kind, 'invalid_argument');
          assert.equal(failure.delivery, 'not_sent');
          assert.match(failure.rule, /^options\./);
        }
      }
      for (const options of [...instances, ...proxies]) await refusedAs('options.unknown', client, options);
      await nothingWasSent(since);
    });

    test('a stream needs maxEventBytes, a unary call does not', async () => {
      const { maxEventBytes: _, ...unary } = base;
      await client.sendMessage(unary, MESSAGE);
      assert.equal((await refusedStream(client, unary)).rule, 'options.limit');
      assert.equal((await refusedStream(client, { ...base, maxEventBytes: undefined })).rule, 'options.limit');
    });

    test('each of the required ones that is missing is refused as what it is', async () => {
      const { endpoint, protocolVersion, maxResponseBytes, ...others } = base;
      await refusedAs('options.endpoint', client, { ...others, protocolVersion, maxResponseBytes });
      await refusedAs('options.dialect', client, { ...others, endpoint, maxResponseBytes });
      await refusedAs('options.limit', client, { ...others, endpoint, protocolVersion });
    });

    test('what is wrong is said to the caller, and not what it was', async () => {
      const wrong: readonly [keyof StreamOptions, unknown][] = [
        ['maxResponseBytes', undefined],
        ['timeoutMs', 1.5],
        ['protocolVersion', 'secret'],
        ['signal', 'secret'],
        ['eventIds', 'secret'],
        ['extensions', ['secret']],
        ['headers', { x: 'secret\n' }],
      ];
      for (const [name, value] of wrong) {
        const failure = await failureFrom(() => client.sendMessage({ ...base, [name]: value }, MESSAGE));
        const reason = failure.unwrap();
        assert.ok(reason instanceof TypeError && reason.message !== '', name);
        assert.ok(!reason.message.includes('secret'), reason.message);
        assert.equal(failure.path, name);
      }
    });

    test('plain text results are for 0.3', async () => {
      await refusedAs('options.dialect', client, { ...base, protocolVersion: '1.0', allowPlainTextResults: true });
      await refusedAs('options.dialect', client, { ...base, protocolVersion: '0.3', allowPlainTextResults: false as never });
      assert.notEqual(checked({ ...base, protocolVersion: '0.3', allowPlainTextResults: true }), 'options.dialect');
    });

    test('a tenant in 0.3 is options.dialect; an empty one is none', async () => {
      await refusedAs('options.dialect', client, { ...base, protocolVersion: '0.3', tenant: 'x' });
      assert.notEqual(checked({ ...base, protocolVersion: '0.3', tenant: '' }), 'options.dialect');
    });

    test('every operation refuses, not only the sending of messages', async () => {
      const since = recorder.received.length;
      const wrong = { ...base, maxResponseBytes: NaN };
      const config = { taskId: 'x', id: 'y' };
      const calls = [
        () => client.getTask(wrong, { id: 'x' }),
        () => client.listTasks(wrong),
        () => client.cancelTask(wrong, { id: 'x' }),
        () => client.createTaskPushNotificationConfig(wrong, { taskId: 'x', url: 'https://example.com/' }),
        () => client.getTaskPushNotificationConfig(wrong, config),
        () => client.listTaskPushNotificationConfigs(wrong, { taskId: 'x' }),
        () => client.deleteTaskPushNotificationConfig(wrong, config),
        () => client.getExtendedAgentCard(wrong),
        () => client.call(wrong, 'x'),
        () => client.subscribeToTask(wrong, { id: 'x' }).next(),
      ];
      for (const call of calls) assert.equal((await failureFrom(call)).rule, 'options.limit');
      await nothingWasSent(since);
    });

    test('a stream that is closed before its first next() refuses nothing', async () => {
      const stream = client.sendStreamingMessage({ ...base, maxEventBytes: 0 }, MESSAGE);
      assert.deepEqual(await stream.return(), { done: true, value: undefined });
      assert.deepEqual(await stream.next(), { done: true, value: undefined });
    });
  });

  describe('of the right value', () => {
    const bounds: readonly (readonly [keyof StreamOptions, unknown])[] = [
      ['maxResponseBytes', Number.MAX_SAFE_INTEGER],
      ['maxRequestBytes', Number.MAX_SAFE_INTEGER],
      ['maxEventBytes', Number.MAX_SAFE_INTEGER],
      ['maxStreamBytes', Number.MAX_SAFE_INTEGER],
      ['maxStreamEvents', 1],
      ['timeoutMs', 2 ** 31 - 1],
      ['connectTimeoutMs', 2 ** 31 - 1],
      ['idleTimeoutMs', 2 ** 31 - 1],
      ['headers', {}],
      ['extensions', []],
      ['tenant', ''],
      ['interceptors', []],
      ['interceptors', [{ after: () => undefined }]],
      ['signal', new AbortController().signal],
      ['signal', AbortSignal.any([new AbortController().signal])],
      ['secretHeaders', []],
      ['allowCleartextCredentials', true],
      ['eventIds', 'sequential'],
    ];

    test('are taken up to their bounds', async () => {
      for (const [option, value] of bounds) await bothSend({ ...base, [option]: value });
    });

    test('are the same as none where they are undefined', async () => {
      const all = Object.fromEntries(HOSTILE.map(([option]) => [option, undefined]));
      const [unary, stream] = await bothSend({ ...all, ...base });
      const [plainUnary, plainStream] = await bothSend(base);
      const names = (request: Received): string[] => request.headers.map(([name]) => name);
      assert.deepEqual(names(unary), names(plainUnary));
      assert.deepEqual(names(stream), names(plainStream));
      assert.deepEqual({ ...checkStreamOptions({ ...all, ...base }) }, { ...checkStreamOptions(base) });
    });

    test('are taken from an object that is frozen, that has no prototype, and from another realm', async () => {
      const full = {
        ...base,
        headers: Object.freeze({ 'x-key': 'a' }),
        extensions: Object.freeze(['https://example.com/ext']),
        interceptors: Object.freeze([Object.freeze({ before: () => undefined })]),
        secretHeaders: Object.freeze(['x-key']),
      };
      await bothSend(Object.freeze(full));
      await bothSend(Object.assign(Object.create(null), full));
      const foreign = vm.runInNewContext('({ options: {}, headers: { "x-key": "a" } })') as { options: object; headers: object };
      const [unary] = await bothSend(Object.assign(foreign.options, base, { headers: foreign.headers }));
      assert(unary.headers.some(([name, value]) => name === 'x-key' && value === 'a'));
    });

    test('are read once each, at the call', async () => {
      const full: StreamOptions = {
        ...base,
        maxRequestBytes: 10_000,
        maxStreamBytes: 10_000,
        maxStreamEvents: 10,
        timeoutMs: 10_000,
        connectTimeoutMs: 10_000,
        idleTimeoutMs: 10_000,
        headers: { 'x-key': 'a' },
        extensions: ['https://example.com/ext'],
        tenant: 'x',
        interceptors: [{ before: () => undefined }],
        signal: new AbortController().signal,
        secretHeaders: ['x-key'],
        allowCleartextCredentials: true,
        eventIds: 'required',
      };
      assert.deepEqual(Object.keys(full).sort(), HOSTILE.map(([option]) => option).sort());
      const [options, reads] = counting(full);
      await client.sendMessage(options, MESSAGE);
      assert.deepEqual(reads, Object.fromEntries(Object.keys(full).map((name) => [name, 1])));
      const [streamOptions, streamReads] = counting(full);
      const stream = client.sendStreamingMessage(streamOptions, MESSAGE);
      assert.deepEqual(streamReads, reads, 'at the call, not at the first next()');
      await stream.next();
      await stream.return();
      assert.deepEqual(streamReads, reads);
    });

    test('are read once each where they are members of an option', async () => {
      const [headers, headerReads] = counting({ 'x-a': '1', 'x-b': '2' });
      const [extensions, extensionReads] = countingList(['https://example.com/a', 'https://example.com/b']);
      const [interceptor, interceptorReads] = counting({ before: () => undefined, after: () => undefined });
      const [list, listReads] = countingList([interceptor]);
      const [secretHeaders, secretReads] = countingList(['x-a']);
      await client.sendMessage({ ...base, headers, extensions, interceptors: list, secretHeaders }, MESSAGE);
      assert.deepEqual(headerReads, { 'x-a': 1, 'x-b': 1 });
      assert.deepEqual(interceptorReads, { before: 1, after: 1 });
      assert.deepEqual(extensionReads, { 0: 1, 1: 1 });
      assert.deepEqual(listReads, { 0: 1 });
      assert.deepEqual(secretReads, { 0: 1 });
    });

    test('have their effect once the call is made, whatever becomes of them then', async () => {
      for (const kind of ['unary', 'stream'] as const) {
        const headers: Record<string, string> = { 'x-key': 'a' };
        const extensions = ['https://example.com/a'];
        const interceptor: CallInterceptor = { before: () => Promise.resolve() };
        const list = [interceptor];
        const endpoint = new URL(`${recorder.origin}/first?a=1`);
        const options = { ...base, endpoint, headers, extensions, interceptors: list, tenant: 'first' };
        const since = recorder.received.length;
        const stream = client.sendStreamingMessage(options, MESSAGE);
        const called = kind === 'unary' ? client.sendMessage(options, MESSAGE) : undefined;
        endpoint.pathname = '/second';
        headers['x-key'] = 'b';
        headers['x-other'] = 'c';
        extensions.push('https://example.com/b');
        list.push({
          before() {
            assert.fail('added after the call');
          },
        });
        interceptor.before = () => {
          assert.fail('changed after the call');
        };
        Object.assign(options, { endpoint: 'http://127.0.0.1:1/', protocolVersion: '0.3', maxResponseBytes: 1, maxEventBytes: 1, tenant: 'second' });
        if (called === undefined) await stream.next();
        else await called;
        const [request, ...others] = recorder.received.slice(since);
        assert(request !== undefined && others.length === 0);
        assert.equal(request.target, '/first?a=1');
        assert.equal((request.rpc.params as { tenant: string }).tenant, 'first');
        const sent = new Map(request.headers);
        assert.equal(sent.get('x-key'), 'a');
        assert.equal(sent.get('x-other'), undefined);
        assert.equal(sent.get('a2a-extensions'), 'https://example.com/a');
        assert.equal(sent.get('a2a-version'), '1.0');
        await stream.return();
      }
    });
  });

  describe('on a polluted Object.prototype', () => {
    /** Runs with a property on the prototype of everything. */
    function polluted<T>(name: string, value: unknown, enumerable: boolean, run: () => T): T {
      Object.defineProperty(Object.prototype, name, { value, enumerable, configurable: true, writable: true });
      try {
        return run();
      } finally {
        Reflect.deleteProperty(Object.prototype, name);
      }
    }

    const POLLUTION: readonly (readonly [name: string, value: unknown])[] = [
      ['allowCleartextCredentials', true],
      ['timeoutMs', 1],
      ['connectTimeoutMs', 1],
      ['idleTimeoutMs', 1],
      ['maxRequestBytes', 1],
      ['maxStreamBytes', 1],
      ['maxStreamEvents', 1],
      ['headers', { 'x-evil': '1' }],
      ['extensions', ['https://evil.example/']],
      ['tenant', 'evil'],
      ['interceptors', [{ before: thrower }]],
      ['signal', AbortSignal.abort()],
      ['secretHeaders', ['x-evil']],
      ['eventIds', 'optional'],
    ];

    test('nothing that is inherited has an effect', () => {
      const clean = { ...checkStreamOptions(base) };
      for (const [name, value] of POLLUTION) {
        for (const enumerable of [false, true]) {
          const policy = polluted(name, value, enumerable, () => {
            const checkedPolicy = checkStreamOptions(base);
            // As the code that uses the policy reads it: inherited members included.
            return Object.fromEntries(Object.keys(clean).map((key) => [key, checkedPolicy[key as keyof CallPolicy]]));
          });
          assert.deepEqual(policy, clean, name);
        }
      }
    });

    test('nothing that is inherited stands in for what is required', () => {
      for (const name of ['endpoint', 'protocolVersion', 'maxResponseBytes', 'maxEventBytes'] as const) {
        const { [name]: value, ...others } = base;
        for (const enumerable of [false, true]) {
          polluted(name, value, enumerable, () => {
            assert.throws(() => checkStreamOptions(others), Refusal, name);
          });
        }
      }
    });

    test('credentials stay where they are, and the call goes as it went before', async () => {
      const cleartext = { ...base, endpoint: 'http://192.0.2.1/', headers: { authorization: 'FAKE-SECRET' } };
      const refused = polluted('allowCleartextCredentials', true, false, () => failureFrom(() => client.sendMessage(cleartext, MESSAGE)));
      assert.equal((await refused).rule, 'options.cleartext_credentials');
      const since = recorder.received.length;
      await polluted('tenant', 'evil', false, () => client.sendMessage(base, MESSAGE));
      await polluted('headers', { 'x-evil': '1' }, false, () => client.sendMessage(base, MESSAGE));
      const [first, second] = recorder.received.slice(since);
      assert.equal((first?.rpc.params as { tenant?: string }).tenant, undefined);
      assert.equal(new Map(second?.headers).get('x-evil'), undefined);
    });
  });
});

// ---- Endpoint ----

const BASE = { protocolVersion: '1.0', maxResponseBytes: 1 } as const;

describe('An endpoint', () => {
  const ACCEPTED: readonly (readonly [endpoint: string | URL, origin: string, target: string])[] = [
    ['http://agent.example/', 'http://agent.example', '/'],
    ['https://agent.example/a2a', 'https://agent.example', '/a2a'],
    ['https://agent.example', 'https://agent.example', '/'],
    ['https://agent.example?key=1', 'https://agent.example', '/?key=1'],
    ['https://agent.example/?', 'https://agent.example', '/?'],
    ['https://AGENT.Example/A2a', 'https://agent.example', '/A2a'],
    ['https://agent.example:443/a', 'https://agent.example', '/a'],
    ['http://agent.example:80', 'http://agent.example', '/'],
    ['https://AGENT.example:443', 'https://agent.example', '/'],
    ['https://agent.example:80/', 'https://agent.example:80', '/'],
    ['https://agent.example:8443/a/b/?c=d&e', 'https://agent.example:8443', '/a/b/?c=d&e'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080', '/'],
    ['http://[::1]:8080/', 'http://[::1]:8080', '/'],
    ['http://[2001:DB8::1]/', 'http://[2001:db8::1]', '/'],
    ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example', '/'],
    ['https://agent.example./', 'https://agent.example.', '/'],
    ['https://agent.example//a//b', 'https://agent.example', '//a//b'],
    ['https://agent.example/%2e%2E%2F', 'https://agent.example', '/%2e%2E%2F'],
    ['https://agent.example/a%20b;c=d,e@f:g!$&()*+~', 'https://agent.example', '/a%20b;c=d,e@f:g!$&()*+~'],
    ['https://agent.example/?a=/../.&b=?&c=%zz', 'https://agent.example', '/?a=/../.&b=?&c=%zz'],
    ['https://agent.example/...', 'https://agent.example', '/...'],
    [new URL('https://agent.example/a?b=c'), 'https://agent.example', '/a?b=c'],
    [new URL('https://agent.example:443/a/../b c'), 'https://agent.example', '/b%20c'],
  ];
  for (const [endpoint, origin, target] of ACCEPTED) {
    test(`is taken as ${String(endpoint)}`, () => {
      const policy = checked({ ...BASE, endpoint });
      assert(typeof policy === 'object', 'refused');
      assert.equal(policy.endpoint.origin, origin);
      assert.equal(policy.endpoint.target, target);
    });
  }

  const REFUSED: readonly (readonly [why: string, endpoint: string])[] = [
    ['no URL', 'agent.example'],
    ['relative', '/a2a'],
    ['relative to a scheme', '//agent.example/'],
    ['no host', 'http://'],
    ['no host but a path', 'http:///a'],
    ['no slashes', 'http:agent.example'],
    ['one slash', 'http:/agent.example'],
    ['another scheme', 'ftp://agent.example/'],
    ['ws', 'ws://agent.example/'],
    ['file', 'file:///etc/passwd'],
    ['a scheme in upper case', 'HTTPS://agent.example/'],
    ['a user', 'https://user@agent.example/'],
    ['a user and a password', 'https://user:FAKE-SECRET@agent.example/'],
    ['a user and a password in lower case', 'https://user:not-a-secret@agent.example/'],
    ['a user and a number for a password', 'https://user:443@agent.example/'],
    ['a user that looks like a host', 'https://agent.example@evil.example/'],
    ['a password and no user', 'https://:not-a-secret@agent.example/'],
    ['an empty user', 'https://@agent.example/'],
    ['a fragment', 'https://agent.example/#a'],
    ['an empty fragment', 'https://agent.example/#'],
    ['a fragment after the host', 'https://agent.example#a'],
    ['a dot segment', 'https://agent.example/./a'],
    ['a double dot segment', 'https://agent.example/a/../b'],
    ['a double dot at the end', 'https://agent.example/a/..'],
    ['an escaped dot segment', 'https://agent.example/%2e/a'],
    ['an escaped double dot segment', 'https://agent.example/a/%2E%2e/b'],
    ['a backslash in the path', 'https://agent.example/a\\b'],
    ['a backslash for a slash', 'https:\\\\agent.example\\a'],
    ['a backslash behind the host', 'https://agent.example\\@evil.example/'],
    ['a space before', ' https://agent.example/'],
    ['a space behind', 'https://agent.example/ '],
    ['a space in the path', 'https://agent.example/a b'],
    ['a space in the query', 'https://agent.example/?a b'],
    ['a tab', 'https://agent.example/a\tb'],
    ['a tab in the host', 'https://agent\t.example/'],
    ['a line break', 'https://agent.example/a\r\nb'],
    ['a line break at the end', 'https://agent.example/\n'],
    ['NUL', 'https://agent.example/\0'],
    ['a quote in the query', "https://agent.example/?a='b'"],
    ['angle brackets', 'https://agent.example/<a>'],
    ['a letter beyond ASCII in the path', 'https://agent.example/\u00e9'],
    ['a letter beyond ASCII in the query', 'https://agent.example/?\u00e9'],
    ['a host beyond ASCII', 'https://b\u00fccher.example/'],
    ['a full-width host', 'https://\uff41gent.example/'],
    ['a soft hyphen in the host', 'https://agent\u00ad.example/'],
    ['an escaped host', 'https://%61gent.example/'],
    ['an IP of one number', 'http://2130706433/'],
    ['an IP of two numbers', 'http://127.1/'],
    ['an IP in hexadecimal', 'http://0x7f.0.0.1/'],
    ['an IP in octal', 'http://0177.0.0.1/'],
    ['an IP with a dot behind', 'http://127.0.0.1./'],
    ['an IPv6 that is not in its shortest form', 'http://[0:0:0:0:0:0:0:1]/'],
    ['an IPv6 that ends in an IPv4', 'http://[::ffff:127.0.0.1]/'],
    ['an IPv6 with a zone', 'http://[fe80::1%25eth0]/'],
    ['an IPv6 without brackets', 'http://::1/'],
    ['an empty port', 'https://agent.example:/'],
    ['a port with a zero before', 'https://agent.example:0443/'],
    ['a port that is too large', 'https://agent.example:65536/'],
    ['a negative port', 'https://agent.example:-1/'],
    ['a port in words', 'https://agent.example:https/'],
    ['half a surrogate pair', 'https://agent.example/\ud800'],
  ];

  for (const [why, endpoint] of REFUSED) {
    test(`is refused with ${why}`, () => {
      assert.equal(checked({ ...BASE, endpoint }), 'options.endpoint');
    });
  }

  test('reaches the agent with its path and query untouched', async () => {
    const agent = new Agent();
    const recorder = await record(endedTask);
    try {
      for (const target of ['/', '/?', '/%2e%2E%2F//a;b=c,d@e:f!$&()*+~|', '/a?b=%20&c=%zz&d=/../.&e?']) {
        await new StrictClient(agent).sendMessage({ ...BASE, maxResponseBytes: 1000, endpoint: `${recorder.origin}${target}` }, MESSAGE);
        assert.equal(recorder.received.at(-1)?.target, target);
        assert.equal(recorder.received.at(-1)?.method, 'POST');
      }
    } finally {
      await agent.destroy();
      await recorder.close();
    }
  });
});

// ---- Headers ----

describe('A header', () => {
  const withHeaders = (headers: object): unknown => checked({ ...BASE, endpoint: 'https://agent.example/', headers });

  test('that frames the message, or that the profile says itself, is refused in any spelling', () => {
    const reserved =
      'host content-length content-type accept accept-encoding transfer-encoding connection te trailer upgrade expect ' +
      'keep-alive proxy-connection a2a-version a2a-extensions x-a2a-extensions';
    for (const name of reserved.split(' ')) {
      const capital = name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
      for (const spelling of [name, name.toUpperCase(), capital]) {
        assert.equal(withHeaders({ [spelling]: 'x' }), 'options.headers', spelling);
      }
    }
  });

  test('whose name is no token is refused', () => {
    for (const name of ['', ' ', 'a b', ' a', 'a ', 'a:', ':a', ':path', 'a\r\nb', 'a\n', 'a\0', 'a\t', 'a/b', 'a(b)', 'a"b', 'é', 'a,b', 'a;b', 'a=b', 'a@b', 'host ']) {
      assert.equal(withHeaders({ [name]: 'x' }), 'options.headers', JSON.stringify(name));
    }
  });

  test('whose value is no field value is refused', () => {
    for (const value of ['a\r\nx-evil: 1', 'a\n', 'a\r', '\na', 'a\0', 'a\x01b', 'a\x7f', ' a', 'a ', '\ta', 'a\t', ' ', 'a\u0100', 'a\u20ac', '\ud83d\ude00', '\ud800']) {
      assert.equal(withHeaders({ 'x-key': value }), 'options.headers', JSON.stringify(value));
    }
  });

  test('of any other name and value arrives as it is', async () => {
    const agent = new Agent();
    const recorder = await record(endedTask);
    const headers = {
      'X-Key': 'a',
      authorization: 'Bearer FAKE-SECRET',
      'x-empty': '',
      'x-inner': 'a \t b,  c; d="e"',
      'x-latin': 'caf\u00e9\u00ff\u0080',
      "x-!#$%&'*+-.^_`|~09": 'odd',
      constructor: 'c',
      toString: 't',
      hasOwnProperty: 'h',
      'user-agent': 'mine',
      cookie: 'a=b; c=d',
      '1': 'one',
    };
    try {
      await new StrictClient(agent).sendMessage({ ...BASE, maxResponseBytes: 1000, endpoint: recorder.origin, headers }, MESSAGE);
      const sent = new Map(recorder.received[0]?.headers);
      for (const [name, value] of Object.entries(headers)) assert.equal(sent.get(name.toLowerCase()), value, name);
    } finally {
      await agent.destroy();
      await recorder.close();
    }
  });

  test('that names the extensions is made of absolute URIs, each of them as given', () => {
    const extensions = ['https://example.com/ext/v1?a=b#c', 'urn:example:a', 'x-a.b+c:d', "https://example.com/!$&'()*+;=:@~[]"];
    const policy = checked({ ...BASE, endpoint: 'https://agent.example/', extensions });
    assert.deepEqual((policy as CallPolicy).extensions, extensions);
  });
});

/** Takes what is dispatched, sends nothing, and fails. */
class Trap {
  readonly dispatched: string[] = [];

  constructor(private readonly error: unknown = new Error('a trap')) {}

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.dispatched.push(...(options.headers as string[]));
    handler.onResponseError?.({} as Dispatcher.DispatchController, this.error as Error);
    return true;
  }
}

describe('Credentials', () => {
  const remote = 'http://192.0.2.1/';
  const secret = { authorization: 'Bearer FAKE-SECRET' };

  /** Whether a call with these options is dispatched; where it is not, it is for `options.cleartext_credentials`. */
  async function leaves(options: Partial<StreamOptions>): Promise<boolean> {
    const full = { ...BASE, endpoint: remote, maxEventBytes: 1, ...options };
    const trap = new Trap();
    const client = new StrictClient(trap as unknown as Dispatcher);
    const unary = await failureFrom(() => client.sendMessage(full, MESSAGE));
    const stream = await refusedStream(client, full);
    assert.equal(unary.rule, stream.rule);
    assert.equal(unary.delivery, 'not_sent');
    assert.equal(unary.kind, unary.rule === 'http.connect' ? 'unavailable' : 'invalid_argument');
    const isDispatched = trap.dispatched.length > 0;
    assert.equal(unary.rule, isDispatched ? 'http.connect' : 'options.cleartext_credentials');
    return isDispatched;
  }

  test('do not travel over http to another machine', async () => {
    for (const name of ['authorization', 'Authorization', 'COOKIE', 'cookie', 'Proxy-Authorization', 'proxy-authorization']) {
      assert.equal(await leaves({ headers: { [name]: 'FAKE-SECRET' } }), false, name);
      assert.equal(await leaves({ headers: { [name]: '' } }), false, name);
    }
  });

  test('are also what the caller says they are', async () => {
    assert.equal(await leaves({ headers: { 'x-api-key': 'FAKE-SECRET' } }), true);
    for (const [secretName, name] of [['x-api-key', 'X-Api-Key'], ['X-API-KEY', 'x-api-key'], ['constructor', 'constructor']] as const) {
      assert.equal(await leaves({ headers: { [name]: 'FAKE-SECRET' }, secretHeaders: [secretName] }), false, name);
    }
    assert.equal(await leaves({ headers: { 'x-other': 'a' }, secretHeaders: ['x-api-key', 'toString'] }), true);
    assert.equal(await leaves({ headers: secret, secretHeaders: ['x-api-key'] }), false, 'the usual ones too');
  });

  test('are also what an interceptor adds', async () => {
    for (const value of ['FAKE-SECRET', '']) {
      const interceptor: CallInterceptor = {
        async before({ headers }) {
          await Promise.resolve();
          headers.set('Authorization', value);
        },
      };
      assert.equal(await leaves({ interceptors: [interceptor] }), false);
      assert.equal(await leaves({ interceptors: [interceptor], allowCleartextCredentials: true }), true);
      assert.equal(await leaves({ interceptors: [interceptor], endpoint: 'https://agent.example/' }), true);
    }
  });

  test('may travel where an interceptor takes them off', async () => {
    const interceptor: CallInterceptor = {
      before({ headers }) {
        headers.delete('authorization');
      },
    };
    assert.equal(await leaves({ headers: secret, interceptors: [interceptor] }), true);
  });

  test('travel over https, and where the caller says so over http', async () => {
    assert.equal(await leaves({ headers: secret, endpoint: 'https://192.0.2.1/' }), true);
    assert.equal(await leaves({ headers: secret, allowCleartextCredentials: true }), true);
  });

  test('travel over http to this machine, by whatever name it has', async () => {
    for (const host of ['127.0.0.1', '127.0.0.1:8080', '127.8.9.10', '127.255.255.255', 'localhost', 'LOCALHOST:80', 'agent.localhost', '[::1]', '[::1]:8080']) {
      assert.equal(await leaves({ headers: secret, endpoint: `http://${host}/` }), true, host);
    }
    const others =
      '0.0.0.0 10.0.0.1 128.0.0.1 126.255.255.255 localhost.example 127.0.0.1.example 127.example notlocalhost localhost.localdomain xn--localhost-abc [::2] [::] [2001:db8::1] [::ffff:c000:201]';
    for (const host of others.split(' ')) {
      assert.equal(await leaves({ headers: secret, endpoint: `http://${host}/` }), false, host);
    }
  });

  test('are no matter where there are none', async () => {
    assert.equal(await leaves({ headers: { 'x-request-id': '1' } }), true);
  });
});

// ---- Dispatcher ----

describe('A dispatcher', () => {
  const origin = 'http://127.0.0.1:1';
  const options = { ...BASE, endpoint: `${origin}/`, maxEventBytes: 1 };
  const mock = new MockAgent();
  class Derived extends Client {}

  const BOUND: Readonly<Record<string, () => unknown>> = {
    'a Client': () => new Client(origin),
    'a class derived from Client': () => new Derived(origin),
    'a Pool': () => new Pool(origin),
    'a BalancedPool': () => new BalancedPool([origin]),
    'a BalancedPool of nothing': () => new BalancedPool([]),
    'a RoundRobinPool': () => new RoundRobinPool(origin),
    'an H2CClient': () => new H2CClient(origin),
    'a MockClient': () => new MockAgent({ connections: 1 }).get(origin),
    'a MockPool': () => mock.get(origin),
    'a RetryAgent around a Client': () => new RetryAgent(new Client(origin)),
    'a RetryAgent around a Pool': () => new RetryAgent(new Pool(origin)),
    'a Client composed with an interceptor': () => new Client(origin).compose(interceptors.redirect({ maxRedirections: 1 })),
    'a Pool composed twice': () => new Pool(origin).compose(interceptors.retry()).compose(interceptors.dump()),
    'a RetryAgent around a Client composed': () => new RetryAgent(new Client(origin).compose(interceptors.retry())),
  };

  for (const [name, make] of Object.entries(BOUND)) {
    test(`that is bound to an origin is refused: ${name}`, async () => {
      await refusedAs('options.dispatcher', new StrictClient(make() as Dispatcher), options);
    });
  }

  test('that is none is refused, by each call and not by the constructor', async () => {
    const odd: unknown[] = [undefined, null, 0, 'agent', true, Symbol('x'), {}, [], { dispatch: 1 }, { dispatch: null }, Agent];
    odd.push(revoked(new Agent()), throwing(new Agent()), Object.defineProperty({}, 'dispatch', { get: thrower }));
    for (const dispatcher of odd) await refusedAs('options.dispatcher', new StrictClient(dispatcher as Dispatcher), options);
  });

  test('that is refused is refused by every operation, before its options are looked at', async () => {
    const none: unknown = {};
    const client = new StrictClient(none as Dispatcher);
    const calls = [
      () => client.getTask({} as CallOptions, { id: 'x' }),
      () => client.call({} as CallOptions, 'x'),
      () => client.subscribeToTask({} as StreamOptions, { id: 'x' }).next(),
    ];
    for (const call of calls) assert.equal((await failureFrom(call)).rule, 'options.dispatcher');
  });

  test('that goes where it is told is taken', () => {
    class Mine extends Agent {}
    const taken: Readonly<Record<string, unknown>> = {
      'an Agent': new Agent(),
      'an Agent with options': new Agent({ connections: 1, pipelining: 0 }),
      'a class derived from Agent': new Mine(),
      'a ProxyAgent': new ProxyAgent('http://127.0.0.1:1'),
      'an EnvHttpProxyAgent': new EnvHttpProxyAgent({ httpProxy: 'http://127.0.0.1:1' }),
      'a RetryAgent': new RetryAgent(new Agent()),
      'a MockAgent': mock,
      'an Agent composed': new Agent().compose(interceptors.redirect({ maxRedirections: 1 }), interceptors.retry(), interceptors.dns()),
      'one of other make': new Trap(),
      'one of other make without a prototype': Object.assign(Object.create(null) as object, { dispatch: () => true }),
    };
    for (const [name, dispatcher] of Object.entries(taken)) assert.equal(checkDispatcher(dispatcher), undefined, name);
  });

  test('of other make that throws, or that fails at once, ends the call as http.connect', async () => {
    const failing: unknown[] = [{ dispatch: thrower }, new Trap(), new Trap(null)];
    for (const dispatcher of failing) {
      const client = new StrictClient(dispatcher as Dispatcher);
      for (const failure of [await failureFrom(() => client.sendMessage(options, MESSAGE)), await refusedStream(client, options)]) {
        assert.equal(failure.rule, 'http.connect');
        assert.equal(failure.delivery, 'not_sent');
      }
    }
  });
});
