/** Whatever a caller passes, the call is refused as the caller's own or goes on. */
import fc from 'fast-check';
import assert from 'node:assert/strict';
import type { Dispatcher } from 'undici';
import { Failure, Role, StrictClient, type CallOptions, type EventStream, type StreamOptions } from '../../lib/index.js';
import { disturbed, hostileValue, type Recipe } from './arbitraries_hostile.js';
import { anyText } from './arbitraries_values.js';
import { property, type Property } from './runner.js';
import { settles } from './settles.js';

const message = (): unknown => ({
  message: {
    messageId: 'm',
    role: Role.ROLE_USER,
    taskId: 't',
    contextId: 'c',
    parts: [
      { content: { $case: 'text', value: 'hi' }, metadata: { a: [1, { b: null }] } },
      { content: { $case: 'raw', value: Uint8Array.of(1, 2) }, filename: 'f', mediaType: 'm' },
      { content: { $case: 'data', value: { x: [1.5] } } },
    ],
    extensions: ['https://extension.example/'],
    referenceTaskIds: [],
  },
  configuration: {
    acceptedOutputModes: ['text/plain'],
    historyLength: 1,
    returnImmediately: true,
    taskPushNotificationConfig: { url: 'https://caller.example/' },
  },
  metadata: { m: {} },
});

type Call = (client: StrictClient, options: never, params: never) => Promise<unknown> | EventStream;
interface Operation {
  readonly call: Call;
  readonly params: () => unknown;
}

const OPERATIONS: readonly Operation[] = [
  { call: (client, options, params) => client.sendMessage(options, params), params: message },
  { call: (client, options, params) => client.sendStreamingMessage(options, params), params: message },
  { call: (client, options, params) => client.subscribeToTask(options, params), params: () => ({ id: 't' }) },
  { call: (client, options, params) => client.getTask(options, params), params: () => ({ id: 't', historyLength: 1 }) },
  { call: (client, options, params) => client.cancelTask(options, params), params: () => ({ id: 't', metadata: { a: 1 } }) },
  {
    call: (client, options, params) => client.listTasks(options, params),
    params: () => ({ contextId: 'c', status: 1, pageSize: 1, statusTimestampAfter: '2026-01-02T03:04:05Z' }),
  },
  {
    call: (client, options, params) => client.createTaskPushNotificationConfig(options, params),
    params: () => ({ taskId: 't', url: 'https://caller.example/', authentication: { scheme: 'Bearer' } }),
  },
  { call: (client, options, params) => client.getTaskPushNotificationConfig(options, params), params: () => ({ taskId: 't', id: 'c' }) },
  {
    call: (client, options, params) => client.listTaskPushNotificationConfigs(options, params),
    params: () => ({ taskId: 't', pageSize: 1 }),
  },
  { call: (client, options, params) => client.deleteTaskPushNotificationConfig(options, params), params: () => ({ taskId: 't', id: 'c' }) },
  { call: (client, options) => client.getExtendedAgentCard(options), params: () => undefined },
  { call: (client, options, params) => client.call(options, 'Echo', params), params: () => ({ a: [1, { b: null }] }) },
  { call: (client, options, params) => client.call(options, params), params: () => 'Echo' },
];

const options = (): StreamOptions => ({
  endpoint: 'https://agent.example/a2a',
  protocolVersion: '1.0',
  maxResponseBytes: 1000,
  maxEventBytes: 1000,
  maxRequestBytes: 100_000,
  headers: { 'x-key': 'value' },
  extensions: ['https://extension.example/'],
  tenant: 'tenant',
  interceptors: [{ before: () => undefined }],
  timeoutMs: 60_000,
  connectTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  secretHeaders: ['x-key'],
  eventIds: 'required',
});
const plainOptions = (): CallOptions => ({ endpoint: 'http://127.0.0.1/', protocolVersion: '0.3', maxResponseBytes: 1000 });

const recipe = (make: () => unknown): Recipe => ({ make, of: make.toString() });

/** Options that are nearly right. */
const near = fc.oneof(
  fc.tuple(
    fc.constantFrom('endpoint', 'tenant', 'eventIds', 'protocolVersion'),
    fc.oneof(
      anyText,
      fc.webUrl(),
      fc.constantFrom('http://127.1/', 'https://a.example/../b', 'HTTPS://A.example:443', 'http://[::1]:0/?#'),
    ),
  ),
  fc.tuple(
    fc.constantFrom('maxResponseBytes', 'maxEventBytes', 'maxRequestBytes', 'maxStreamBytes', 'timeoutMs', 'idleTimeoutMs'),
    fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger()),
  ),
  fc.tuple(
    fc.constant('headers'),
    fc.dictionary(fc.oneof(anyText, fc.constantFrom('a', 'A', 'host', 'authorization')), anyText, { maxKeys: 3 }),
  ),
  fc.tuple(fc.constantFrom('extensions', 'secretHeaders'), fc.array(fc.oneof(anyText, fc.webUrl()), { maxLength: 3 })),
  fc.tuple(
    fc.constant('interceptors'),
    fc.array(fc.constantFrom({ before: () => undefined }, { after: () => undefined }, {}, null), { maxLength: 2 }),
  ),
  fc.tuple(fc.constant('signal'), fc.constantFrom(AbortSignal.abort(), new AbortController().signal)),
).map(([name, value]): Recipe => ({ make: () => ({ ...options(), [name]: value }), of: { [name]: value } }));

const anyOptions = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(options, plainOptions).map(recipe) },
  { weight: 3, arbitrary: disturbed(options) },
  { weight: 2, arbitrary: near },
  { weight: 1, arbitrary: hostileValue },
);
const operations = fc.constantFrom(...OPERATIONS).chain(({ call, params }) =>
  fc
    .oneof(
      { weight: 2, arbitrary: fc.constant(recipe(params)) },
      {
        weight: 3,
        arbitrary: disturbed(() => ({ params: params() })).map(
          ({ make, of }): Recipe => ({ make: () => (make() as { params?: unknown }).params, of }),
        ),
      },
      { weight: 1, arbitrary: hostileValue },
    )
    .map((given) => ({ call, given })),
);

/** Goes on to nowhere. */
const nowhere = {
  dispatch(): never {
    throw new Error('no network');
  },
} as unknown as Dispatcher;
const dispatchers = fc.oneof({ weight: 15, arbitrary: fc.constant(recipe(() => nowhere)) }, { weight: 1, arbitrary: hostileValue });

/** What a call goes on to: the network, which is not there, or the end that its signal has already brought. */
const WENT_ON = new Set(['http.connect', 'canceled.signal']);

type MakeClient = (dispatcher: Dispatcher) => StrictClient;

export function anyCallerIsAnswered(make: MakeClient = (dispatcher) => new StrictClient(dispatcher)): Property {
  return property({
    name: 'Any value as options, params or dispatcher ends in a failure that is the caller\'s, or the call goes on',
    batch: 200,
    outcomes: [
      'went on',
      'options.unknown',
      'options.endpoint',
      'options.dialect',
      'options.limit',
      'options.headers',
      'options.interceptors',
      'options.time',
      'options.dispatcher',
      'request.params',
    ],
    cases: fc.tuple(operations, anyOptions, dispatchers),
    check: async ([{ call, given }, opts, dispatcher]) => {
      // Nothing is thrown here: what a call has to say, its promise says.
      const called = call(make(dispatcher.make() as Dispatcher), opts.make() as never, given.make() as never);
      const outcome: unknown = await settles('next' in called ? called.next() : called).catch((error: unknown) => error);
      assert.ok(outcome instanceof Failure, String(outcome));
      const { kind, rule, delivery } = outcome;
      assert.equal(delivery, 'not_sent');
      if (WENT_ON.has(rule)) return 'went on';
      assert.equal(kind, 'invalid_argument', rule);
      return rule;
    },
  });
}
