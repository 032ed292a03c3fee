import {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  Message,
  Part,
  Role,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
  TaskState,
} from '@a2a-js/sdk';
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import vm from 'node:vm';
import { Agent } from 'undici';
import { StrictClient } from '../lib/client.js';
import { STREAM_REQUESTS, UNARY_REQUESTS, checkJsonParams, checkRequest, userText, type MessageInput, type PartInput } from '../lib/dialect/request.js';
import { v0_3 } from '../lib/dialect/v0_3.js';
import { v1_0 } from '../lib/dialect/v1_0.js';
import { Refusal, type Failure } from '../lib/failure.js';
import type { CallOptions, StreamOptions } from '../lib/options.js';
import { MAX_DEPTH } from '../lib/wire/json.js';
import { requestId } from '../lib/wire/jsonrpc.js';
import { revoked, thrower } from './support/caller_hostile.js';
import { failureFrom, record, type Received, type Recorder } from './support/caller_server.js';

type Call = (client: StrictClient, options: StreamOptions) => Promise<unknown>;
type Version = '1.0' | '0.3';
interface Rpc {
  readonly method: string;
  readonly params: unknown;
}

const VERSIONS: readonly Version[] = ['1.0', '0.3'];

const MINIMAL: MessageInput = { messageId: 'm-1', role: Role.ROLE_USER, parts: [{ content: { $case: 'text', value: 'hi' } }] };

/** Says all that a message can say in either dialect. */
const FULL: MessageInput = {
  messageId: 'm-1',
  role: Role.ROLE_AGENT,
  contextId: 'c-1',
  taskId: 't-1',
  parts: [
    { content: { $case: 'text', value: 'Grüße, 世界 🌍 \u0000 "\\' }, metadata: { a: { b: [1, null, true, ''] } } },
    { content: { $case: 'raw', value: Uint8Array.from([0, 1, 254, 255]) }, filename: 'a.bin', mediaType: 'application/octet-stream' },
    { content: { $case: 'url', value: 'https://example.com/a' }, filename: 'a', mediaType: 'text/plain', metadata: { c: 1 } },
    { content: { $case: 'data', value: { x: [1.5, { y: null }] } } },
  ],
  metadata: { trace: 'x', list: [] },
  extensions: ['https://example.com/ext'],
  referenceTaskIds: ['t-0', 't-00'],
};

const CONFIGURATION = {
  acceptedOutputModes: ['text/plain', 'application/json'],
  historyLength: 0,
  returnImmediately: true,
  taskPushNotificationConfig: {
    id: 'p-1',
    url: 'https://example.com/push',
    token: 'FAKE-SECRET-token',
    authentication: { scheme: 'Bearer', credentials: 'FAKE-SECRET-credentials' },
  },
};

const FULL_SENT: Readonly<Record<Version, object>> = {
  '1.0': {
    message: {
      messageId: 'm-1',
      role: 'ROLE_AGENT',
      contextId: 'c-1',
      taskId: 't-1',
      parts: [
        { text: 'Grüße, 世界 🌍 \u0000 "\\', metadata: { a: { b: [1, null, true, ''] } } },
        { raw: 'AAH+/w==', filename: 'a.bin', mediaType: 'application/octet-stream' },
        { url: 'https://example.com/a', filename: 'a', mediaType: 'text/plain', metadata: { c: 1 } },
        { data: { x: [1.5, { y: null }] } },
      ],
      metadata: { trace: 'x', list: [] },
      extensions: ['https://example.com/ext'],
      referenceTaskIds: ['t-0', 't-00'],
    },
    configuration: CONFIGURATION,
    metadata: { m: {} },
  },
  '0.3': {
    message: {
      kind: 'message',
      messageId: 'm-1',
      role: 'agent',
      contextId: 'c-1',
      taskId: 't-1',
      parts: [
        { kind: 'text', text: 'Grüße, 世界 🌍 \u0000 "\\', metadata: { a: { b: [1, null, true, ''] } } },
        { kind: 'file', file: { bytes: 'AAH+/w==', name: 'a.bin', mimeType: 'application/octet-stream' } },
        { kind: 'file', file: { uri: 'https://example.com/a', name: 'a', mimeType: 'text/plain' }, metadata: { c: 1 } },
        { kind: 'data', data: { x: [1.5, { y: null }] } },
      ],
      metadata: { trace: 'x', list: [] },
      extensions: ['https://example.com/ext'],
      referenceTaskIds: ['t-0', 't-00'],
    },
    configuration: {
      blocking: false,
      acceptedOutputModes: ['text/plain', 'application/json'],
      historyLength: 0,
      pushNotificationConfig: {
        id: 'p-1',
        url: 'https://example.com/push',
        token: 'FAKE-SECRET-token',
        authentication: { schemes: ['Bearer'], credentials: 'FAKE-SECRET-credentials' },
      },
    },
    metadata: { m: {} },
  },
};

const MINIMAL_SENT: Readonly<Record<Version, object>> = {
  '1.0': { message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } },
  '0.3': {
    message: { kind: 'message', messageId: 'm-1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] },
    configuration: { blocking: true },
  },
};

const fullSend = { message: FULL, configuration: CONFIGURATION, metadata: { m: {} } };

interface Operation {
  readonly name: string;
  readonly call: Call;
  readonly stream?: true;
  readonly sent: Readonly<Record<Version, Rpc | undefined>>;
}

const OPERATIONS: readonly Operation[] = [
  {
    name: 'sendMessage, at its least',
    call: (client, options) => client.sendMessage(options, { message: MINIMAL }),
    sent: {
      '1.0': { method: 'SendMessage', params: MINIMAL_SENT['1.0'] },
      '0.3': { method: 'message/send', params: MINIMAL_SENT['0.3'] },
    },
  },
  {
    name: 'sendMessage, at its most',
    call: (client, options) => client.sendMessage(options, fullSend),
    sent: {
      '1.0': { method: 'SendMessage', params: FULL_SENT['1.0'] },
      '0.3': { method: 'message/send', params: FULL_SENT['0.3'] },
    },
  },
  {
    name: 'sendStreamingMessage, at its least',
    stream: true,
    call: (client, options) => client.sendStreamingMessage(options, { message: MINIMAL }).next(),
    sent: {
      '1.0': { method: 'SendStreamingMessage', params: MINIMAL_SENT['1.0'] },
      '0.3': { method: 'message/stream', params: MINIMAL_SENT['0.3'] },
    },
  },
  {
    name: 'sendStreamingMessage, at its most',
    stream: true,
    call: (client, options) => client.sendStreamingMessage(options, fullSend).next(),
    sent: {
      '1.0': { method: 'SendStreamingMessage', params: FULL_SENT['1.0'] },
      '0.3': { method: 'message/stream', params: FULL_SENT['0.3'] },
    },
  },
  {
    name: 'getTask',
    call: (client, options) => client.getTask(options, { id: 't-1' }),
    sent: { '1.0': { method: 'GetTask', params: { id: 't-1' } }, '0.3': { method: 'tasks/get', params: { id: 't-1' } } },
  },
  {
    name: 'getTask without its history',
    call: (client, options) => client.getTask(options, { id: 't-1', historyLength: 0 }),
    sent: {
      '1.0': { method: 'GetTask', params: { id: 't-1', historyLength: 0 } },
      '0.3': { method: 'tasks/get', params: { id: 't-1', historyLength: 0 } },
    },
  },
  {
    name: 'listTasks, at its least',
    call: (client, options) => client.listTasks(options),
    sent: { '1.0': { method: 'ListTasks', params: {} }, '0.3': undefined },
  },
  {
    name: 'listTasks, at its most',
    call: (client, options) =>
      client.listTasks(options, {
        contextId: 'c-1',
        status: TaskState.TASK_STATE_INPUT_REQUIRED,
        pageSize: 10,
        pageToken: 'next',
        historyLength: 2 ** 31 - 1,
        statusTimestampAfter: '2025-01-02T03:04:05.678Z',
        includeArtifacts: true,
      }),
    sent: {
      '1.0': {
        method: 'ListTasks',
        params: {
          contextId: 'c-1',
          status: 'TASK_STATE_INPUT_REQUIRED',
          pageSize: 10,
          pageToken: 'next',
          historyLength: 2 ** 31 - 1,
          statusTimestampAfter: '2025-01-02T03:04:05.678Z',
          includeArtifacts: true,
        },
      },
      '0.3': undefined,
    },
  },
  {
    name: 'cancelTask',
    call: (client, options) => client.cancelTask(options, { id: 't-1', metadata: { why: 'enough' } }),
    sent: {
      '1.0': { method: 'CancelTask', params: { id: 't-1', metadata: { why: 'enough' } } },
      '0.3': { method: 'tasks/cancel', params: { id: 't-1', metadata: { why: 'enough' } } },
    },
  },
  {
    name: 'subscribeToTask',
    stream: true,
    call: (client, options) => client.subscribeToTask(options, { id: 't-1' }).next(),
    sent: {
      '1.0': { method: 'SubscribeToTask', params: { id: 't-1' } },
      '0.3': { method: 'tasks/resubscribe', params: { id: 't-1' } },
    },
  },
  {
    name: 'createTaskPushNotificationConfig, at its least',
    call: (client, options) => client.createTaskPushNotificationConfig(options, { taskId: 't-1', url: 'https://example.com/' }),
    sent: {
      '1.0': { method: 'CreateTaskPushNotificationConfig', params: { taskId: 't-1', url: 'https://example.com/' } },
      '0.3': {
        method: 'tasks/pushNotificationConfig/set',
        params: { taskId: 't-1', pushNotificationConfig: { url: 'https://example.com/' } },
      },
    },
  },
  {
    name: 'createTaskPushNotificationConfig, at its most',
    call: (client, options) =>
      client.createTaskPushNotificationConfig(options, { taskId: 't-1', ...CONFIGURATION.taskPushNotificationConfig }),
    sent: {
      '1.0': {
        method: 'CreateTaskPushNotificationConfig',
        params: { taskId: 't-1', ...CONFIGURATION.taskPushNotificationConfig },
      },
      '0.3': {
        method: 'tasks/pushNotificationConfig/set',
        params: {
          taskId: 't-1',
          pushNotificationConfig: {
            id: 'p-1',
            url: 'https://example.com/push',
            token: 'FAKE-SECRET-token',
            authentication: { schemes: ['Bearer'], credentials: 'FAKE-SECRET-credentials' },
          },
        },
      },
    },
  },
  {
    name: 'getTaskPushNotificationConfig',
    call: (client, options) => client.getTaskPushNotificationConfig(options, { taskId: 't-1', id: 'p-1' }),
    sent: {
      '1.0': { method: 'GetTaskPushNotificationConfig', params: { taskId: 't-1', id: 'p-1' } },
      '0.3': { method: 'tasks/pushNotificationConfig/get', params: { id: 't-1', pushNotificationConfigId: 'p-1' } },
    },
  },
  {
    name: 'listTaskPushNotificationConfigs',
    call: (client, options) => client.listTaskPushNotificationConfigs(options, { taskId: 't-1' }),
    sent: {
      '1.0': { method: 'ListTaskPushNotificationConfigs', params: { taskId: 't-1' } },
      '0.3': { method: 'tasks/pushNotificationConfig/list', params: { id: 't-1' } },
    },
  },
  {
    name: 'deleteTaskPushNotificationConfig',
    call: (client, options) => client.deleteTaskPushNotificationConfig(options, { taskId: 't-1', id: 'p-1' }),
    sent: {
      '1.0': { method: 'DeleteTaskPushNotificationConfig', params: { taskId: 't-1', id: 'p-1' } },
      '0.3': { method: 'tasks/pushNotificationConfig/delete', params: { id: 't-1', pushNotificationConfigId: 'p-1' } },
    },
  },
  {
    name: 'getExtendedAgentCard',
    call: (client, options) => client.getExtendedAgentCard(options),
    sent: {
      '1.0': { method: 'GetExtendedAgentCard', params: {} },
      '0.3': { method: 'agent/getAuthenticatedExtendedCard', params: {} },
    },
  },
  {
    name: 'call',
    call: (client, options) => client.call(options, 'x/Any', [1, { a: null }]),
    sent: { '1.0': { method: 'x/Any', params: [1, { a: null }] }, '0.3': { method: 'x/Any', params: [1, { a: null }] } },
  },
];

let agent: Agent;
let client: StrictClient;
let recorder: Recorder;
before(async () => {
  agent = new Agent();
  client = new StrictClient(agent);
  recorder = await record();
});
after(async () => {
  await agent.destroy();
  await recorder.close();
});

function optionsFor(protocolVersion: Version, more: Partial<StreamOptions> = {}): StreamOptions {
  return { endpoint: `${recorder.origin}/a2a?x=1`, protocolVersion, maxResponseBytes: 10_000, maxEventBytes: 10_000, ...more };
}

/** What a call sends. The agent answers that it knows no such task. */
async function sentBy(call: Call, options: StreamOptions): Promise<Received> {
  const since = recorder.received.length;
  const failure = await failureFrom(() => call(client, options));
  assert.equal(failure.rule, 'remote.error', failure.path);
  const [request, ...others] = recorder.received.slice(since);
  assert(request !== undefined && others.length === 0);
  return request;
}

/** The failure of a call that sends nothing. */
async function refused(call: Call, options: StreamOptions): Promise<Failure> {
  const since = recorder.received.length;
  const failure = await failureFrom(() => call(client, options));
  assert.equal(failure.kind, 'invalid_argument');
  assert.equal(failure.delivery, 'not_sent');
  await sentBy((_, proof) => client.getTask(proof, { id: 'proof' }), optionsFor('1.0'));
  assert.equal(recorder.received.length, since + 1, 'something was sent');
  return failure;
}

describe('A request', () => {
  for (const version of VERSIONS) {
    for (const { name, call, sent, stream } of OPERATIONS) {
      const rpc = sent[version];
      if (rpc === undefined) {
        test(`of ${name} is not sent in ${version}: options.operation`, async () => {
          assert.equal((await refused(call, optionsFor(version))).rule, 'options.operation');
        });
        continue;
      }
      test(`of ${name} in ${version} has the method, params and headers of the profile, and no others`, async () => {
        const request = await sentBy(call, optionsFor(version));
        assert.equal(request.method, 'POST');
        assert.equal(request.target, '/a2a?x=1');
        assert.deepEqual(Object.keys(request.rpc).sort(), ['id', 'jsonrpc', 'method', 'params']);
        assert.equal(request.rpc.jsonrpc, '2.0');
        assert.equal(request.rpc.method, rpc.method);
        assert.deepEqual(request.rpc.params, rpc.params);
        const headers = [
          ['accept', stream === true ? 'text/event-stream, application/json' : 'application/json'],
          ['accept-encoding', 'identity'],
          ...(version === '1.0' ? [['a2a-version', '1.0']] : []),
          ['connection', 'keep-alive'],
          ['content-length', String(Buffer.byteLength(request.body))],
          ['content-type', 'application/json'],
          ['host', new URL(recorder.origin).host],
        ];
        assert.deepEqual(sorted(request.headers), sorted(headers as [string, string][]));
      });
    }

    test(`in ${version} names the extensions in the header of its dialect, once`, async () => {
      const extensions = ['https://example.com/a', 'urn:example:b'];
      for (const call of [OPERATIONS[0]?.call, OPERATIONS[2]?.call]) {
        const { headers } = await sentBy(call!, optionsFor(version, { extensions }));
        const named = headers.filter(([name]) => name.endsWith('a2a-extensions'));
        assert.deepEqual(named, [[version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions', 'https://example.com/a, urn:example:b']]);
      }
    });

    test(`in ${version} carries the headers of the caller beside its own, each once`, async () => {
      const { headers } = await sentBy(OPERATIONS[0]!.call, optionsFor(version, { headers: { 'X-Key': 'a', Authorization: 'b' } }));
      assert.deepEqual(
        headers.filter(([name]) => name === 'x-key' || name === 'authorization'),
        [['x-key', 'a'], ['authorization', 'b']],
      );
      assert.equal(new Set(headers.map(([name]) => name)).size, headers.length);
    });
  }

  test('of the streaming kind sends nothing before its first next()', async () => {
    const since = recorder.received.length;
    const stream = client.sendStreamingMessage(optionsFor('1.0'), { message: MINIMAL });
    await sentBy((_, proof) => client.getTask(proof, { id: 'proof' }), optionsFor('1.0'));
    assert.equal(recorder.received.length, since + 1);
    await failureFrom(() => stream.next());
    assert.equal(recorder.received.length, since + 2);
  });

  test('of call() is sent verbatim: with the params given, or with none', async () => {
    const { rpc } = await sentBy((_, options) => client.call(options, 'tasks/get'), optionsFor('0.3'));
    assert.deepEqual(Object.keys(rpc).sort(), ['id', 'jsonrpc', 'method']);
    for (const method of ['rpc.discover', 'SendMessage', 'Ünïcode 🌍', ' ', '\u0000"\\']) {
      const request = await sentBy((_, options) => client.call(options, method, { tenant: 'mine' }), optionsFor('1.0', { tenant: 'x' }));
      assert.equal(request.rpc.method, method);
      assert.deepEqual(request.rpc.params, { tenant: 'mine' });
    }
  });

  test('of call() with params that are not structured, or a method that is none, is refused', async () => {
    for (const params of [null, true, 1, 'x', 1n, Symbol('x'), () => undefined, NaN, new Map(), new Date(), { a: undefined, b: 1n }]) {
      const failure = await failureFrom(() => client.call(optionsFor('1.0'), 'x', params as never));
      assert.equal(failure.rule, 'request.params');
    }
    for (const method of ['', 'a\ud800', undefined, null, 1, {}, ['x'], new String('x')]) {
      const failure = await failureFrom(() => client.call(optionsFor('1.0'), method as string));
      assert.equal(failure.rule, 'request.params');
      assert.equal(failure.delivery, 'not_sent');
    }
  });

  test('has an id of 128 random bits', () => {
    const ids = Array.from({ length: 4000 }, requestId);
    assert.equal(new Set(ids).size, ids.length);
    const ones = new Array<number>(128).fill(0);
    for (const id of ids) {
      assert.match(id, /^[0-9a-f]{32}$/);
      const bits = BigInt(`0x${id}`);
      for (let bit = 0; bit < 128; bit++) if ((bits >> BigInt(bit)) & 1n) ones[bit]!++;
    }
    // 4000 fair bits: 2000 ± 32; twelve times as far is no chance.
    for (const [bit, count] of ones.entries()) assert(Math.abs(count - 2000) < 380, `bit ${bit} is set ${count} times of 4000`);
  });

  test('has an id of its own each time, a stream too, that no other request shares', async () => {
    const since = recorder.received.length;
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const operation = OPERATIONS[i % 4]!;
        await failureFrom(() => operation.call(client, optionsFor('1.0')));
      }),
    );
    const ids = recorder.received.slice(since).map(({ rpc }) => rpc.id);
    assert.equal(ids.length, 20);
    assert.equal(new Set(ids).size, 20);
    for (const id of ids) assert.match(String(id), /^[0-9a-f]{32}$/);
  });

  test('says in 0.3 whether it blocks, whatever else it says', async () => {
    const cases: readonly (readonly [boolean | undefined, boolean])[] = [[undefined, true], [false, true], [true, false]];
    for (const [returnImmediately, blocking] of cases) {
      const { rpc } = await sentBy(
        (_, options) => client.sendMessage(options, { message: MINIMAL, configuration: { returnImmediately } }),
        optionsFor('0.3'),
      );
      assert.deepEqual((rpc.params as { configuration: unknown }).configuration, { blocking });
    }
  });

  test('is bounded by maxRequestBytes, in bytes and not in characters', async () => {
    const message: MessageInput = { ...MINIMAL, parts: [{ content: { $case: 'text', value: 'é'.repeat(100) } }] };
    const calls: readonly Call[] = [
      (_, options) => client.sendMessage(options, { message }),
      (_, options) => client.sendStreamingMessage(options, { message }).next(),
      (_, options) => client.call(options, 'x', { text: 'é'.repeat(100) }),
    ];
    for (const call of calls) {
      const { body } = await sentBy(call, optionsFor('1.0'));
      const bytes = Buffer.byteLength(body);
      assert(bytes >= body.length + 100);
      assert.equal((await sentBy(call, optionsFor('1.0', { maxRequestBytes: bytes }))).body.length, body.length);
      assert.equal((await refused(call, optionsFor('1.0', { maxRequestBytes: bytes - 1 }))).rule, 'request.bytes');
      assert.equal((await refused(call, optionsFor('1.0', { maxRequestBytes: 1 }))).rule, 'request.bytes');
    }
  });
});

function sorted(headers: readonly (readonly [string, string])[]): string[] {
  return headers.map(([name, value]) => `${name}: ${value}`).sort();
}

// ---- Tenant ----

describe('The tenant', () => {
  const named = OPERATIONS.filter(({ name, sent }) => sent['1.0'] !== undefined && name !== 'call');

  test('of a call is put into every request of 1.0', async () => {
    for (const { call, sent } of named) {
      const { rpc } = await sentBy(call, optionsFor('1.0', { tenant: 'tenant-1' }));
      assert.deepEqual(rpc.params, { ...(sent['1.0']?.params as object), tenant: 'tenant-1' });
    }
  });

  test('of a request alone is sent, and goes with the same of the call', async () => {
    for (const options of [optionsFor('1.0'), optionsFor('1.0', { tenant: 't' }), optionsFor('1.0', { tenant: '' })]) {
      const { rpc } = await sentBy((_, o) => client.getTask(o, { id: 'x', tenant: 't' }), options);
      assert.deepEqual(rpc.params, { id: 'x', tenant: 't' });
    }
  });

  test('of a request that contradicts that of the call is refused', async () => {
    const calls: readonly Call[] = [
      (_, options) => client.getTask(options, { id: 'x', tenant: 'other' }),
      (_, options) => client.sendMessage(options, { message: MINIMAL, tenant: 'other' }),
      (_, options) => client.subscribeToTask(options, { id: 'x', tenant: 'other' }).next(),
    ];
    for (const call of calls) {
      const failure = await refused(call, optionsFor('1.0', { tenant: 'tenant-1' }));
      assert.equal(failure.rule, 'request.params');
      assert.equal(failure.path, 'tenant');
    }
  });

  test('is nothing that 0.3 can say, on the call or in the request', async () => {
    for (const { call, sent } of OPERATIONS) {
      if (sent['0.3'] === undefined) continue;
      assert.equal((await failureFrom(() => call(client, optionsFor('0.3', { tenant: 'x' })))).rule, 'options.dialect');
    }
    const calls: readonly Call[] = [
      (_, options) => client.getTask(options, { id: 'x', tenant: 'x' }),
      (_, options) => client.sendMessage(options, { message: MINIMAL, tenant: 'x' }),
      (_, options) => client.createTaskPushNotificationConfig(options, { taskId: 'x', url: 'https://example.com/', tenant: 'x' }),
      (_, options) => client.sendStreamingMessage(options, { message: MINIMAL, tenant: 'x' }).next(),
    ];
    for (const call of calls) assert.equal((await refused(call, optionsFor('0.3'))).rule, 'options.dialect');
  });
});

// ---- Params ----

/** The path that a check refuses with; fails where it accepts. */
function pathOf(check: () => unknown): string | undefined {
  try {
    check();
  } catch (error) {
    assert(error instanceof Refusal, String(error));
    assert.equal(error.rule, 'request.params');
    return error.path;
  }
  assert.fail('accepted');
}

const checkSend = (params: unknown): SendMessageRequest => checkRequest(UNARY_REQUESTS.sendMessage, params);
const withMessage = (more: object): unknown => ({ message: { ...MINIMAL, ...more } });
const withPart = (part: unknown): unknown => withMessage({ parts: [...MINIMAL.parts, part] });
const withConfiguration = (configuration: unknown): unknown => ({ message: MINIMAL, configuration });
const withPush = (more: object): unknown => withConfiguration({ taskPushNotificationConfig: { url: 'https://example.com/', ...more } });

type Check = (params: unknown) => unknown;
const checkUnary =
  (name: keyof typeof UNARY_REQUESTS): Check =>
  (params) =>
    checkRequest<unknown>(UNARY_REQUESTS[name], params);
const checkGet = checkUnary('getTask');
const checkList = checkUnary('listTasks');
const checkCreate = checkUnary('createTaskPushNotificationConfig');
const checkConfigs = checkUnary('listTaskPushNotificationConfigs');

const NO_PARAMS: readonly unknown[] = [undefined, null, 0, '', 'x', true, 1n, Symbol('x'), () => ({ id: 'x' })];
const NO_OBJECTS: readonly unknown[] = [[], [{ id: 'x' }], new Map([['id', 'x']]), new Set(), new Date(), /x/, Buffer.from('x')];

const WRONG: readonly (readonly [what: string, path: string | undefined, check: Check, params: unknown])[] = [
  ['no message', 'message', checkSend, {}],
  ['an undefined message', 'message', checkSend, { message: undefined }],
  ['a message of text', 'message', checkSend, { message: 'hi' }],
  ['no message id', 'message.messageId', checkSend, withMessage({ messageId: undefined })],
  ['an empty message id', 'message.messageId', checkSend, withMessage({ messageId: '' })],
  ['a message id that is a number', 'message.messageId', checkSend, withMessage({ messageId: 1 })],
  ['a boxed message id', 'message.messageId', checkSend, withMessage({ messageId: new String('x') })],
  ['a message id with half a surrogate pair', 'message.messageId', checkSend, withMessage({ messageId: 'x\udc00' })],
  ['no role', 'message.role', checkSend, withMessage({ role: undefined })],
  ['an unspecified role', 'message.role', checkSend, withMessage({ role: Role.ROLE_UNSPECIFIED })],
  ['an unrecognized role', 'message.role', checkSend, withMessage({ role: Role.UNRECOGNIZED })],
  ['a role by its name', 'message.role', checkSend, withMessage({ role: 'ROLE_USER' })],
  ['a role of 0.3', 'message.role', checkSend, withMessage({ role: 'user' })],
  ['a role beyond the enum', 'message.role', checkSend, withMessage({ role: 3 })],
  ['no parts', 'message.parts', checkSend, withMessage({ parts: undefined })],
  ['empty parts', 'message.parts', checkSend, withMessage({ parts: [] })],
  ['parts that are no list', 'message.parts', checkSend, withMessage({ parts: { 0: MINIMAL.parts[0], length: 1 } })],
  ['a part of text', 'message.parts[1]', checkSend, withPart('hi')],
  ['a part that is null', 'message.parts[1]', checkSend, withPart(null)],
  ['a part without content', 'message.parts[1].content', checkSend, withPart({})],
  ['a part as it is on the wire', 'message.parts[1].content', checkSend, withPart({ text: 'hi' })],
  ['content without a case', 'message.parts[1].content', checkSend, withPart({ content: { value: 'x' } })],
  ['content of another case', 'message.parts[1].content', checkSend, withPart({ content: { $case: 'file', value: 'x' } })],
  ['a text that is a number', 'message.parts[1].content.value', checkSend, withPart({ content: { $case: 'text', value: 1 } })],
  ['no text', 'message.parts[1].content.value', checkSend, withPart({ content: { $case: 'text' } })],
  ['a text with half a surrogate pair', 'message.parts[1].content.value', checkSend, withPart({ content: { $case: 'text', value: '\ud800x' } })],
  ['bytes that are a text', 'message.parts[1].content.value', checkSend, withPart({ content: { $case: 'raw', value: 'AAAA' } })],
  ['bytes that are a list', 'message.parts[1].content.value', checkSend, withPart({ content: { $case: 'raw', value: [1, 2] } })],
  ['bytes that are an ArrayBuffer', 'message.parts[1].content.value', checkSend, withPart({ content: { $case: 'raw', value: new ArrayBuffer(1) } })],
  ['bytes of two bytes each', 'message.parts[1].content.value', checkSend, withPart({ content: { $case: 'raw', value: new Uint16Array(1) } })],
  ['a url that is a URL', 'message.parts[1].content.value', checkSend, withPart({ content: { $case: 'url', value: new URL('https://a.example/') } })],
  ['data that is missing', 'message.parts[1].content.value', checkSend, withPart({ content: { $case: 'data' } })],
  ['a filename that is a number', 'message.parts[1].filename', checkSend, withPart({ ...MINIMAL.parts[0], filename: 1 })],
  ['a media type that is null', 'message.parts[1].mediaType', checkSend, withPart({ ...MINIMAL.parts[0], mediaType: null })],
  ['part metadata that is a list', 'message.parts[1].metadata', checkSend, withPart({ ...MINIMAL.parts[0], metadata: [] })],
  ['part metadata that is null', 'message.parts[1].metadata', checkSend, withPart({ ...MINIMAL.parts[0], metadata: null })],
  ['a task id that is null', 'message.taskId', checkSend, withMessage({ taskId: null })],
  ['a context id that is a number', 'message.contextId', checkSend, withMessage({ contextId: 1 })],
  ['metadata that is a text', 'message.metadata', checkSend, withMessage({ metadata: '{}' })],
  ['an extension that is a number', 'message.extensions[1]', checkSend, withMessage({ extensions: ['x', 1] })],
  ['extensions that are a text', 'message.extensions', checkSend, withMessage({ extensions: 'x' })],
  ['a referenced task that is null', 'message.referenceTaskIds[0]', checkSend, withMessage({ referenceTaskIds: [null] })],
  ['a configuration that is true', 'configuration', checkSend, withConfiguration(true)],
  ['a configuration that is a list', 'configuration', checkSend, withConfiguration([])],
  ['a configuration that is a Map', 'configuration', checkSend, withConfiguration(new Map())],
  ['a negative history length', 'configuration.historyLength', checkSend, withConfiguration({ historyLength: -1 })],
  ['a fraction of a history length', 'configuration.historyLength', checkSend, withConfiguration({ historyLength: 0.5 })],
  ['a history length that is NaN', 'configuration.historyLength', checkSend, withConfiguration({ historyLength: NaN })],
  ['a history length beyond 32 bits', 'configuration.historyLength', checkSend, withConfiguration({ historyLength: 2 ** 31 })],
  ['a history length that is a text', 'configuration.historyLength', checkSend, withConfiguration({ historyLength: '1' })],
  ['a history length that is a BigInt', 'configuration.historyLength', checkSend, withConfiguration({ historyLength: 1n })],
  ['returnImmediately that is 1', 'configuration.returnImmediately', checkSend, withConfiguration({ returnImmediately: 1 })],
  ['output modes that are a text', 'configuration.acceptedOutputModes', checkSend, withConfiguration({ acceptedOutputModes: 'text/plain' })],
  ['a push config without a url', 'configuration.taskPushNotificationConfig.url', checkSend, withConfiguration({ taskPushNotificationConfig: {} })],
  ['a push config with an empty url', 'configuration.taskPushNotificationConfig.url', checkSend, withPush({ url: '' })],
  ['a push config whose authentication is a text', 'configuration.taskPushNotificationConfig.authentication', checkSend, withPush({ authentication: 'Bearer' })],
  ['a push config without a scheme', 'configuration.taskPushNotificationConfig.authentication.scheme', checkSend, withPush({ authentication: { credentials: 'x' } })],
  ['request metadata that is a list', 'metadata', checkSend, { message: MINIMAL, metadata: [] }],
  ['a tenant that is null', 'tenant', checkSend, { message: MINIMAL, tenant: null }],
  ['no task id', 'id', checkGet, {}],
  ['an empty task id', 'id', checkGet, { id: '' }],
  ['a task id that is a number', 'id', checkGet, { id: 1 }],
  ['a history length that is Infinity', 'historyLength', checkGet, { id: 'x', historyLength: Infinity }],
  ['a cancellation without an id', 'id', checkUnary('cancelTask'), { metadata: {} }],
  ['metadata of a cancellation that is a Date', 'metadata', checkUnary('cancelTask'), { id: 'x', metadata: new Date() }],
  ['a state by its name', 'status', checkList, { status: 'TASK_STATE_WORKING' }],
  ['an unrecognized state', 'status', checkList, { status: TaskState.UNRECOGNIZED }],
  ['a state beyond the enum', 'status', checkList, { status: 99 }],
  ['a negative page', 'pageSize', checkList, { pageSize: -1 }],
  ['a time that is a Date', 'statusTimestampAfter', checkList, { statusTimestampAfter: new Date() }],
  ['a time without an offset', 'statusTimestampAfter', checkList, { statusTimestampAfter: '2025-01-01T00:00:00' }],
  ['a day that is none', 'statusTimestampAfter', checkList, { statusTimestampAfter: '2025-02-30T00:00:00Z' }],
  ['a config without its task', 'taskId', checkCreate, { url: 'https://example.com/' }],
  ['a config of an empty task', 'taskId', checkCreate, { url: 'https://example.com/', taskId: '' }],
  ['a config without a url', 'url', checkCreate, { taskId: 'x' }],
  ['no config id', 'id', checkUnary('getTaskPushNotificationConfig'), { taskId: 'x' }],
  ['no task of a config', 'taskId', checkUnary('deleteTaskPushNotificationConfig'), { id: 'x' }],
  ['configs of no task', 'taskId', checkConfigs, {}],
  ['a page of configs that is a text', 'pageSize', checkConfigs, { taskId: 'x', pageSize: '1' }],
];

describe('Params', () => {
  for (const [what, path, check, params] of WRONG) {
    test(`with ${what} are refused there`, () => {
      assert.equal(pathOf(() => check(params)), path);
    });
  }

  test('that are wrong are refused before anything is sent, for unary calls and streams of both dialects', async () => {
    const wrong = { ...MINIMAL, parts: [] };
    for (const version of VERSIONS) {
      for (const call of [
        (_: StrictClient, options: StreamOptions) => client.sendMessage(options, { message: wrong }),
        (_: StrictClient, options: StreamOptions) => client.sendStreamingMessage(options, { message: wrong }).next(),
      ]) {
        const failure = await refused(call, optionsFor(version));
        assert.equal(failure.rule, 'request.params');
        assert.equal(failure.path, 'message.parts');
      }
    }
  });

  test('that are no object are refused as a whole', () => {
    for (const check of [checkSend, checkGet, checkList, checkUnary('getExtendedAgentCard'), (params: unknown) => checkRequest(STREAM_REQUESTS.subscribeToTask, params)]) {
      for (const params of NO_PARAMS) assert.equal(pathOf(() => check(params)), undefined);
    }
  });

  test('that are an object of another kind are refused, not read as empty', () => {
    for (const params of NO_OBJECTS) {
      assert.equal(pathOf(() => checkList(params)), undefined);
      assert.equal(pathOf(() => checkSend(withConfiguration(params))), 'configuration');
      assert.equal(pathOf(() => checkSend(withMessage({ metadata: params }))), 'message.metadata');
    }
  });

  test('with a member that none has are refused, by a path that does not name it', () => {
    const unknown: readonly (readonly [check: Check, params: unknown, path: string | undefined])[] = [
      [checkGet, { id: 'x', historylength: 1 }, undefined],
      [checkGet, { id: 'x', taskId: 'x' }, undefined],
      [checkGet, { id: 'x', constructor: 1 }, undefined],
      [checkGet, JSON.parse('{"id":"x","__proto__":{}}'), undefined],
      [checkSend, { message: MINIMAL, blocking: true }, undefined],
      [checkSend, withMessage({ kind: 'message' }), 'message'],
      [checkSend, withPart({ ...MINIMAL.parts[0], text: 'x' }), 'message.parts[1]'],
      [checkSend, withPart({ content: { $case: 'text', value: 'x', text: 'x' } }), 'message.parts[1].content'],
      [checkSend, withConfiguration({ blocking: true }), 'configuration'],
      [checkSend, withPush({ schemes: [] }), 'configuration.taskPushNotificationConfig'],
    ];
    for (const [check, params, path] of unknown) assert.equal(pathOf(() => check(params)), path);
  });

  test('whose members throw are refused, the throw behind the failure', async () => {
    const hostile: unknown[] = [
      Object.defineProperty({}, 'id', { get: thrower, enumerable: true }),
      revoked({ id: 'x' }),
      new Proxy({ id: 'x' }, { get: thrower }),
      new Proxy({ id: 'x' }, { ownKeys: thrower }),
    ];
    for (const params of hostile) {
      const failure = await failureFrom(() => client.getTask(optionsFor('1.0'), params as { id: string }));
      assert.equal(failure.rule, 'request.params');
      assert(failure.unwrap() instanceof Error);
      const streamed = await failureFrom(() => client.subscribeToTask(optionsFor('1.0'), params as { id: string }).next());
      assert.equal(streamed.rule, 'request.params');
    }
  });

  test('are sent as they were checked, however they change meanwhile', () => {
    let reads = 0;
    const lying = {
      get id(): unknown {
        return reads++ === 0 ? 'x' : 1;
      },
    };
    assert.deepEqual(checkGet(lying), { tenant: '', id: 'x', historyLength: undefined });
    let cases = 0;
    const part = {
      content: {
        get $case(): string {
          return cases++ % 2 === 0 ? 'text' : 'raw';
        },
        value: 'x',
      },
    };
    try {
      assert.deepEqual(checkSend(withPart(part)).message?.parts[1]?.content, { $case: 'text', value: 'x' });
    } catch (error) {
      assert(error instanceof Refusal);
    }
  });

  test('have no object of the caller in them once they are checked', () => {
    const bytes = Uint8Array.from([1, 2, 3]);
    const data = { list: [1] };
    const metadata = { a: { b: 1 } };
    const extensions = ['x'];
    const checked = checkSend({
      message: { ...MINIMAL, metadata, extensions, parts: [{ content: { $case: 'raw', value: bytes } }, { content: { $case: 'data', value: data } }] },
    });
    bytes[0] = 9;
    data.list.push(2);
    metadata.a.b = 2;
    extensions.push('y');
    assert.deepEqual(checked.message?.parts[0]?.content, { $case: 'raw', value: Buffer.from([1, 2, 3]) });
    assert.deepEqual(checked.message.parts[1]?.content?.value, { list: [1] });
    assert.deepEqual(checked.message.metadata, { a: { b: 1 } });
    assert.deepEqual(checked.message.extensions, ['x']);
  });

  test('that change after the call have no effect, on a stream that has not begun neither', async () => {
    const text = { $case: 'text' as const, value: 'first' };
    const message = { ...MINIMAL, parts: [{ content: text }] };
    const stream = client.sendStreamingMessage(optionsFor('1.0'), { message });
    text.value = 'second';
    message.messageId = 'second';
    const { rpc } = await sentBy(() => stream.next(), optionsFor('1.0'));
    assert.deepEqual(rpc.params, { message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'first' }] } });
  });

  test('inherit nothing, from a polluted Object.prototype neither', () => {
    const path = pathOf(() => checkGet(Object.create({ id: 'x' })));
    assert(path === undefined || path === 'id');
    for (const enumerable of [false, true]) {
      Object.defineProperty(Object.prototype, 'tenant', { value: 'evil', configurable: true, writable: true, enumerable });
      try {
        assert.equal((checkGet({ id: 'x' }) as { tenant: string }).tenant, '');
      } finally {
        Reflect.deleteProperty(Object.prototype, 'tenant');
      }
    }
  });

  test('may be frozen, without a prototype, of another realm, and say undefined for what they do not say', () => {
    const expected = { tenant: '', id: 'x', historyLength: undefined };
    assert.deepEqual(checkGet(Object.freeze({ id: 'x' })), expected);
    assert.deepEqual(checkGet(Object.assign(Object.create(null), { id: 'x' })), expected);
    assert.deepEqual(checkGet(vm.runInNewContext('({ id: "x" })')), expected);
    assert.deepEqual(checkGet({ id: 'x', historyLength: undefined, tenant: undefined }), expected);
    const { message } = checkSend(withMessage({ taskId: undefined, contextId: undefined, metadata: undefined, extensions: undefined }));
    assert.deepEqual(message, checkSend({ message: MINIMAL }).message);
  });

  test('of a list of tasks take each state there is', () => {
    for (const [name, state] of Object.entries(TaskState)) {
      if (typeof state === 'string' || state === TaskState.UNRECOGNIZED) continue;
      const encoded = v1_0.unary.listTasks?.encode(checkRequest(UNARY_REQUESTS.listTasks, { status: state }));
      assert.deepEqual(encoded, state === TaskState.TASK_STATE_UNSPECIFIED ? {} : { status: name });
    }
  });
});

describe('What 0.3 cannot say', () => {
  const encode = (params: unknown): unknown => v0_3.unary.sendMessage?.encode(checkSend(params));
  const UNSAYABLE: readonly (readonly [what: string, path: string, encode: () => unknown])[] = [
    ['the filename of a text', 'message.parts[1].filename', () => encode(withPart({ ...MINIMAL.parts[0], filename: 'a' }))],
    ['the media type of a text', 'message.parts[1].mediaType', () => encode(withPart({ ...MINIMAL.parts[0], mediaType: 'text/html' }))],
    ['the filename of data', 'message.parts[1].filename', () => encode(withPart({ content: { $case: 'data', value: {} }, filename: 'a' }))],
    ['the media type of data', 'message.parts[1].mediaType', () => encode(withPart({ content: { $case: 'data', value: 1 }, mediaType: 'a/b' }))],
    ['the task of a push config in a message', 'configuration.taskPushNotificationConfig.taskId', () => encode(withPush({ taskId: 'x' }))],
    ['the tenant of a push config in a message', 'configuration.taskPushNotificationConfig.tenant', () => encode(withPush({ tenant: 'x' }))],
    [
      'a page size of push configs',
      'pageSize',
      () => v0_3.unary.listTaskPushNotificationConfigs?.encode(checkRequest(UNARY_REQUESTS.listTaskPushNotificationConfigs, { taskId: 'x', pageSize: 1 })),
    ],
    [
      'a page token of push configs',
      'pageToken',
      () => v0_3.unary.listTaskPushNotificationConfigs?.encode(checkRequest(UNARY_REQUESTS.listTaskPushNotificationConfigs, { taskId: 'x', pageToken: 'x' })),
    ],
  ];
  for (const [what, path, run] of UNSAYABLE) {
    test(`is refused: ${what}`, () => {
      assert.equal(pathOf(run), path);
    });
  }

  test('is refused before anything is sent', async () => {
    const message: MessageInput = { ...MINIMAL, parts: [{ ...MINIMAL.parts[0], filename: 'a' }] };
    for (const call of [
      (_: StrictClient, options: StreamOptions) => client.sendMessage(options, { message }),
      (_: StrictClient, options: StreamOptions) => client.sendStreamingMessage(options, { message }).next(),
    ]) {
      assert.equal((await refused(call, optionsFor('0.3'))).path, 'message.parts[0].filename');
      await sentBy(call, optionsFor('1.0'));
    }
  });

  test('is refused where it would be read as something else: data that bears the mark of wrapped data', () => {
    const marked = { data_part_compat: true };
    assert.equal(pathOf(() => encode(withPart({ content: { $case: 'data', value: { value: 1 } }, metadata: marked }))), 'message.parts[1].metadata');
    const other = { data_part_compat: 'mine' };
    assert.equal(pathOf(() => encode(withPart({ content: { $case: 'data', value: 1 }, metadata: other }))), 'message.parts[1].metadata');
  });
});

// ---- Parts ----

describe('A part', () => {
  /** The part as it is sent. */
  function sentPart(version: Version, part: PartInput): unknown {
    const dialect = version === '1.0' ? v1_0 : v0_3;
    const params = dialect.unary.sendMessage?.encode(checkSend(withMessage({ parts: [part] })));
    return (params as { message: { parts: unknown[] } }).message.parts[0];
  }

  test('of bytes is sent as base64 in the standard alphabet, padded', () => {
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    const rows: readonly (readonly [Uint8Array, string])[] = [
      [new Uint8Array(0), ''],
      [Uint8Array.from([0]), 'AA=='],
      [Uint8Array.from([0, 0]), 'AAA='],
      [Uint8Array.from([251, 255, 254]), '+//+'],
      [all, Buffer.from(all).toString('base64')],
      [all.subarray(3, 5), 'AwQ='],
      [Buffer.from('hi'), 'aGk='],
      [new Uint8Array(new SharedArrayBuffer(1)), 'AA=='],
      [vm.runInNewContext('Uint8Array.from([1])') as Uint8Array, 'AQ=='],
    ];
    for (const [value, base64] of rows) {
      assert.deepEqual(sentPart('1.0', { content: { $case: 'raw', value } }), { raw: base64 });
      assert.deepEqual(sentPart('0.3', { content: { $case: 'raw', value } }), { kind: 'file', file: { bytes: base64 } });
    }
  });

  test('that is empty is sent as such, not left out', () => {
    assert.deepEqual(sentPart('1.0', { content: { $case: 'text', value: '' } }), { text: '' });
    assert.deepEqual(sentPart('0.3', { content: { $case: 'text', value: '' } }), { kind: 'text', text: '' });
    assert.deepEqual(sentPart('1.0', { content: { $case: 'url', value: '' } }), { url: '' });
    assert.deepEqual(sentPart('0.3', { content: { $case: 'url', value: '' } }), { kind: 'file', file: { uri: '' } });
    for (const value of [null, false, 0, '', [], {}]) {
      assert.deepEqual(sentPart('1.0', { content: { $case: 'data', value } }), { data: value });
    }
  });

  test('of data other than an object is wrapped in 0.3, and marked as the SDKs do', () => {
    for (const value of [null, true, false, 0, 1.5, '', 'x', [], [{ a: 1 }]]) {
      const content = { $case: 'data' as const, value };
      assert.deepEqual(sentPart('0.3', { content }), { kind: 'data', data: { value }, metadata: { data_part_compat: true } });
      assert.deepEqual(sentPart('0.3', { content, metadata: { a: 1 } }), { kind: 'data', data: { value }, metadata: { a: 1, data_part_compat: true } });
    }
    assert.deepEqual(sentPart('0.3', { content: { $case: 'data', value: { value: 1 } } }), { kind: 'data', data: { value: 1 } });
    assert.deepEqual(sentPart('0.3', { content: { $case: 'data', value: {} }, metadata: { a: 1 } }), { kind: 'data', data: {}, metadata: { a: 1 } });
  });

  test('is read back by either dialect as what was to be said', () => {
    const contents: PartInput[] = [
      { content: { $case: 'text', value: 'x' }, metadata: { a: 1 } },
      { content: { $case: 'raw', value: Buffer.from([1, 2, 255]) }, filename: 'f', mediaType: 'a/b' },
      { content: { $case: 'url', value: 'https://a.example/' }, filename: 'f', mediaType: 'a/b', metadata: {} },
      ...[null, 1, 'x', [1], {}, { value: 1 }, { constructor: 1, toString: {} }].map((value): PartInput => ({ content: { $case: 'data', value } })),
    ];
    for (const version of VERSIONS) {
      for (const part of contents) {
        const { message } = checkSend(withMessage({ parts: [part] }));
        const sent = sentPart(version, part);
        const answer =
          version === '1.0'
            ? v1_0.unary.sendMessage?.decode({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [sent] } })
            : v0_3.unary.sendMessage?.decode({ kind: 'message', messageId: 'm', role: 'agent', parts: [sent] });
        assert.deepEqual((answer?.value as Message).parts, message?.parts, JSON.stringify(sent));
      }
    }
  });
});

// ---- JSON of the caller's ----

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let i = 1; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;
const cyclicList: unknown[] = [];
cyclicList.push(cyclicList, cyclicList);

const NO_JSON: readonly (readonly [what: string, value: unknown])[] = [
  ['undefined', undefined],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['minus Infinity', -Infinity],
  ['an integer beyond 2^53', 2 ** 53],
  ['an integer beyond minus 2^53', -(2 ** 53)],
  ['a BigInt', 1n],
  ['a symbol', Symbol('x')],
  ['a function', () => 1],
  ['a Date', new Date(0)],
  ['a Date that is none', new Date(NaN)],
  ['a Map', new Map([['a', 1]])],
  ['a Set', new Set([1])],
  ['a RegExp', /x/],
  ['an Error', new Error('x')],
  ['a URL', new URL('https://a.example/')],
  ['a Promise', Promise.resolve(1)],
  ['bytes', Uint8Array.from([1])],
  ['a Buffer', Buffer.from('x')],
  ['a boxed Number', new Number(1)],
  ['a boxed String', new String('x')],
  ['a boxed Boolean', new Boolean(false)],
  ['an instance of a class', new (class Point { x = 1; })()],
  ['an object that says how it is JSON', { toJSON: () => 'x' }],
  ['half a surrogate pair', 'a\ud83d'],
  ['the other half', '\ude00a'],
  ['a name with half a surrogate pair', { '\ud800': 1 }],
  ['a member named __proto__', JSON.parse('{"__proto__":{}}')],
  ['an object that holds itself', cyclic],
  ['a list that holds itself twice', cyclicList],
  ['a list with a hole', [1, , 3]],
  ['a list of undefined', [undefined]],
  ['a hundred and one levels', nested(MAX_DEPTH + 1)],
  ['a hundred thousand levels', nested(100_000)],
  ['a getter that throws', Object.defineProperty({}, 'a', { get: thrower, enumerable: true })],
  ['a revoked proxy', revoked({})],
  ['a revoked proxy of a list', revoked([])],
];

const JSON_VALUES: readonly unknown[] = [
  { a: null, b: true, c: [], d: {}, e: '', f: 0 },
  { n: [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1.5, -1e-300, 5e-324] },
  { constructor: 1, toString: 'x', prototype: {}, hasOwnProperty: null },
  { '': 1, ' ': 2, 'a.b': 3, '[0]': 4, '\u0000': 5, 'ключ': 6, '🌍': '🌍' },
  Object.assign(Object.create(null) as object, { a: Object.assign(Object.create(null) as object, { b: 1 }) }),
  Object.freeze({ a: Object.freeze([1]) }),
  vm.runInNewContext('({ a: [{ b: "x" }] })'),
];

describe("JSON of the caller's", () => {
  const PLACES: readonly (readonly [place: string, path: string | undefined, check: (value: unknown) => unknown])[] = [
    ['data', 'message.parts[1].content.value', (value) => checkSend(withPart({ content: { $case: 'data', value } }))],
    ['data, within', 'message.parts[1].content.value', (value) => checkSend(withPart({ content: { $case: 'data', value: { a: [value] } } }))],
    ['metadata of a part', 'message.parts[1].metadata', (value) => checkSend(withPart({ ...MINIMAL.parts[0], metadata: { a: [value] } }))],
    ['metadata of a message', 'message.metadata', (value) => checkSend(withMessage({ metadata: { a: [value] } }))],
    ['metadata of a request', 'metadata', (value) => checkSend({ message: MINIMAL, metadata: { a: [value] } })],
    ['metadata of a cancellation', 'metadata', (value) => checkUnary('cancelTask')({ id: 'x', metadata: { a: [value] } })],
    ['params of call()', undefined, (value) => checkJsonParams({ a: [value] })],
  ];

  for (const [what, value] of NO_JSON) {
    test(`that is ${what} is refused wherever it stands, and changed nowhere`, () => {
      for (const [place, path, check] of PLACES) {
        try {
          check(value);
          assert.fail(`accepted as ${place}`);
        } catch (error) {
          assert(error instanceof Refusal, String(error));
          assert.equal(error.rule, 'request.params', place);
          // What a getter throws ends the check where no path is known.
          if (error.reason === undefined) assert.equal(error.path, path, place);
        }
      }
    });
  }

  test('of every other kind is sent as it is', async () => {
    for (const value of JSON_VALUES) {
      const metadata = value as Record<string, unknown>;
      const { rpc } = await sentBy(
        (_, options) => client.sendMessage(options, { message: { ...MINIMAL, metadata, parts: [{ content: { $case: 'data', value } }] } }),
        optionsFor('1.0'),
      );
      const { message } = rpc.params as { message: { metadata: unknown; parts: { data: unknown }[] } };
      const expected: unknown = JSON.parse(JSON.stringify(value));
      assert.deepEqual(message.metadata, expected);
      assert.deepEqual(message.parts[0]?.data, expected);
      const called = await sentBy((_, options) => client.call(options, 'x', value as never), optionsFor('1.0'));
      assert.deepEqual(called.rpc.params, expected);
    }
  });

  test('a hundred levels deep is accepted', () => {
    checkSend(withPart({ content: { $case: 'data', value: nested(MAX_DEPTH) } }));
    assert.deepEqual(checkJsonParams(nested(MAX_DEPTH)), nested(MAX_DEPTH));
  });

  test('is without the members that are undefined', () => {
    assert.deepEqual(checkJsonParams({ a: undefined, b: { c: undefined } }), { b: {} });
  });

  test('in a list is what stands in the list, whatever its iterator says', () => {
    const list = Object.assign([1, 2], {
      *[Symbol.iterator](): Generator<number> {
        yield 3;
      },
    });
    assert.deepEqual(checkJsonParams({ list }), { list: [1, 2] });
  });

  test('is read once', () => {
    let reads = 0;
    const value = {
      get a(): number {
        return ++reads;
      },
    };
    assert.deepEqual(checkJsonParams({ value }), { value: { a: 1 } });
    assert.deepEqual(checkSend(withMessage({ metadata: value })).message?.metadata, { a: 2 });
    assert.equal(reads, 2);
  });
});

// ---- Objects of the SDK's ----

describe("Objects of the SDK's own making", () => {
  const message = Message.fromJSON((FULL_SENT['1.0'] as { message: unknown }).message);

  test('are taken as messages, whole', async () => {
    assert.equal(message.role, Role.ROLE_AGENT);
    for (const version of VERSIONS) {
      const { rpc } = await sentBy((_, options) => client.sendMessage(options, { message }), optionsFor(version));
      assert.deepEqual((rpc.params as { message: unknown }).message, (FULL_SENT[version] as { message: unknown }).message);
    }
  });

  test('are taken for the params of every operation, and sent as the SDK writes them', async () => {
    const send = SendMessageRequest.fromJSON({ tenant: 't', ...FULL_SENT['1.0'] });
    const config = TaskPushNotificationConfig.fromJSON({ taskId: 't-1', ...CONFIGURATION.taskPushNotificationConfig });
    const list = ListTasksRequest.fromJSON({ contextId: 'c', status: 'TASK_STATE_WORKING', pageSize: 5, includeArtifacts: true });
    const get = GetTaskRequest.fromJSON({ id: 'x', historyLength: 3 });
    const cancel = CancelTaskRequest.fromJSON({ id: 'x', metadata: { a: 1 } });
    const subscribe = SubscribeToTaskRequest.fromJSON({ id: 'x' });
    const calls: readonly (readonly [Call, unknown])[] = [
      [(_, options) => client.sendMessage(options, send), SendMessageRequest.toJSON(send)],
      [(_, options) => client.sendStreamingMessage(options, send).next(), SendMessageRequest.toJSON(send)],
      [(_, options) => client.createTaskPushNotificationConfig(options, config), TaskPushNotificationConfig.toJSON(config)],
      [(_, options) => client.listTasks(options, list), ListTasksRequest.toJSON(list)],
      [(_, options) => client.getTask(options, get), GetTaskRequest.toJSON(get)],
      [(_, options) => client.cancelTask(options, cancel), CancelTaskRequest.toJSON(cancel)],
      [(_, options) => client.subscribeToTask(options, subscribe).next(), SubscribeToTaskRequest.toJSON(subscribe)],
    ];
    for (const [call, expected] of calls) {
      const { rpc } = await sentBy(call, optionsFor('1.0'));
      assert.deepEqual(rpc.params, JSON.parse(JSON.stringify(expected)));
    }
  });

  test('are what the SDK reads from what was sent', async () => {
    const { rpc } = await sentBy((_, options) => client.sendMessage(options, fullSend), optionsFor('1.0'));
    assert.deepEqual(SendMessageRequest.fromJSON(rpc.params), checkSend(fullSend));
  });

  test('are parts of any kind', () => {
    for (const json of [{ text: '' }, { raw: 'AAEC' }, { url: 'https://a.example/' }, { data: [1] }, { data: { a: null } }, { text: 'x', metadata: {} }]) {
      const part = Part.fromJSON(json);
      assert.deepEqual(checkSend(withPart(part)).message?.parts[1], part);
    }
  });

  test('may be sent back as they were received, by either dialect', async () => {
    const received = v1_0.unary.sendMessage?.decode({ message: (FULL_SENT['1.0'] as { message: unknown }).message });
    assert.equal(received?.$case, 'message');
    for (const version of VERSIONS) {
      const { rpc } = await sentBy((_, options) => client.sendMessage(options, { message: received.value }), optionsFor(version));
      assert.deepEqual((rpc.params as { message: unknown }).message, (FULL_SENT[version] as { message: unknown }).message);
    }
  });
});

describe('userText', () => {
  test('makes the message that a person would send, with an id of its own each time', async () => {
    const [a, b] = [userText('hi'), userText('hi')];
    assert.notEqual(a.messageId, b.messageId);
    assert(a.messageId.length >= 22);
    assert.deepEqual({ ...a, messageId: 'x' }, { messageId: 'x', role: Role.ROLE_USER, parts: [{ content: { $case: 'text', value: 'hi' } }] });
    const { rpc } = await sentBy((_, options) => client.sendMessage(options, { message: a }), optionsFor('0.3'));
    assert.deepEqual((rpc.params as { message: unknown }).message, {
      kind: 'message',
      messageId: a.messageId,
      role: 'user',
      parts: [{ kind: 'text', text: 'hi' }],
    });
  });

  test('takes any text that can be sent, and the call refuses what cannot', async () => {
    const options: CallOptions = optionsFor('1.0');
    assert.equal((await failureFrom(() => client.sendMessage(options, { message: userText('\ud800') }))).path, 'message.parts[0].content.value');
    await sentBy((_, o) => client.sendMessage(o, { message: userText('') }), optionsFor('1.0'));
  });
});
