/** What a caller asks is sent so that an agent reads what was meant. */
import {
  CancelTaskRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageRequest,
  TaskPushNotificationConfig,
  TaskState,
} from '@a2a-js/sdk';
import { legacyPushNotificationToV1StreamResponse } from '@a2a-js/sdk/compat/v0_3';
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { StrictClient, type CallOptions, type ProtocolVersion, type StreamOptions } from '../../lib/index.js';
import { OBJECTS } from './arbitraries_a2a.js';
import { anyText, openObject, optional, record } from './arbitraries_values.js';
import { agentWith, type Sent } from './memory_agent.js';
import { property, type Property } from './runner.js';

/** A call, and what its `params` say to an agent that reads them with the SDK. */
interface Asked {
  readonly name: string;
  readonly dialect: ProtocolVersion;
  readonly send: (client: StrictClient, options: StreamOptions) => Promise<unknown>;
  readonly meant: unknown;
  readonly read: (params: unknown) => unknown;
}

const count = optional(fc.nat({ max: 2 ** 31 - 1 }));
const id = anyText.filter((text) => text !== '');

type Send<T> = (client: StrictClient, options: CallOptions, request: T) => Promise<unknown>;

function asked<T>(
  name: string,
  requests: fc.Arbitrary<T>,
  codec: { fromJSON(params: unknown): unknown },
  send: Send<T>,
): fc.Arbitrary<Asked> {
  const read = (params: unknown): unknown => codec.fromJSON(params);
  return requests.map(
    (request) => ({ name, dialect: '1.0', meant: request, read, send: (client, options) => send(client, options, request) }),
  );
}

/** What the SDK's reader takes for absent, though 1.0 has it: data that is null. */
const isReadable = ({ message }: SendMessageRequest): boolean =>
  message?.parts.every(({ content }) => content?.$case !== 'data' || content.value !== null) ?? false;

const first = OBJECTS['1.0'];
const inV1: fc.Arbitrary<Asked> = fc.oneof(
  asked(
    'sendMessage',
    first.request.filter(isReadable),
    SendMessageRequest,
    (client, options, request) => client.sendMessage(options, request),
  ),
  asked(
    'getTask',
    record({ tenant: anyText, id, historyLength: count }),
    GetTaskRequest,
    (client, options, request) => client.getTask(options, request),
  ),
  asked(
    'listTasks',
    record({
      tenant: anyText,
      contextId: anyText,
      status: fc.constantFrom(TaskState.TASK_STATE_UNSPECIFIED, TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_AUTH_REQUIRED),
      pageSize: count,
      pageToken: anyText,
      historyLength: count,
      statusTimestampAfter: fc.constantFrom(undefined, '2026-01-02T03:04:05Z'),
      includeArtifacts: optional(fc.constant(true)),
    }),
    ListTasksRequest,
    (client, options, request) => client.listTasks(options, request),
  ),
  asked('cancelTask', record({ tenant: anyText, id, metadata: optional(openObject) }), CancelTaskRequest, (client, options, request) =>
    client.cancelTask(options, request),
  ),
  asked('createTaskPushNotificationConfig', first.pushConfig.map(
    (config) => ({ ...config, taskId: 'task-1' }),
  ), TaskPushNotificationConfig, (client, options, request) =>
    client.createTaskPushNotificationConfig(options, request),
  ),
  asked('getTaskPushNotificationConfig', record(
    { tenant: anyText, taskId: id, id },
  ), GetTaskPushNotificationConfigRequest, (client, options, request) =>
    client.getTaskPushNotificationConfig(options, request),
  ),
  asked(
    'listTaskPushNotificationConfigs',
    record({ tenant: anyText, taskId: id, pageSize: fc.nat({ max: 2 ** 31 - 1 }), pageToken: anyText }),
    ListTaskPushNotificationConfigsRequest,
    (client, options, request) => client.listTaskPushNotificationConfigs(options, request),
  ),
);

/** 0.3: the SDK reads an agent's message with the same eyes as a client's. */
function readV03(params: unknown): unknown {
  const { message, configuration, metadata } = params as { message: object; configuration: Record<string, unknown>; metadata?: unknown };
  const { payload } = legacyPushNotificationToV1StreamResponse(message) ;
  return { message: payload?.value, configuration, metadata };
}

function meantV03({ message, configuration, metadata }: SendMessageRequest): unknown {
  const { acceptedOutputModes = [], taskPushNotificationConfig: push, historyLength, returnImmediately = false } = configuration ?? {};
  const said = (members: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(members).filter(([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)),
    );
  const { scheme = '', credentials } = push?.authentication ?? {};
  const authentication = push?.authentication && { schemes: scheme === '' ? [] : [scheme], ...said({ credentials }) };
  return {
    message,
    configuration: {
      blocking: !returnImmediately,
      ...said(
        {
          acceptedOutputModes,
          historyLength,
          pushNotificationConfig: push && said({ id: push.id, url: push.url, token: push.token, authentication }),
        },
      ),
    },
    metadata,
  };
}

const inV03: fc.Arbitrary<Asked> = OBJECTS['0.3'].request.map((request) => ({
  name: 'sendMessage',
  dialect: '0.3',
  meant: meantV03(request),
  read: readV03,
  send: (client, options) => client.sendMessage(options, request),
}));

const V1_NAMES = [
  'sendMessage',
  'getTask',
  'listTasks',
  'cancelTask',
  'createTaskPushNotificationConfig',
  'getTaskPushNotificationConfig',
  'listTaskPushNotificationConfigs',
];

/** @param via what stands between the client and the agent */
export function requestsRoundTrip(via: (params: unknown) => unknown = (params) => params): Property {
  return property({
    name: 'What is asked is sent so that the SDK reads the very request',
    batch: 80,
    outcomes: [...V1_NAMES.map((name) => `${name} 1.0`), 'sendMessage 0.3'],
    cases: fc.oneof({ weight: 3, arbitrary: inV1 }, { weight: 1, arbitrary: inV03 }),
    check: async ({ name, dialect, send, meant, read }) => {
      const requests: Sent[] = [];
      const agent = agentWith({ status: 500, headers: [], body: Buffer.alloc(0), cut: () => [], ending: 'end', pace: 0 }, requests);
      await assert.rejects(
        send(
          new StrictClient(agent),
          { endpoint: 'http://127.0.0.1/', protocolVersion: dialect, maxResponseBytes: 1000, maxEventBytes: 1000 },
        ),
        { rule: 'http.status' },
      );
      assert.deepStrictEqual(withoutMinus(read(via(requests[0]?.params))), withoutMinus(meant));
      return `${name} ${dialect}`;
    },
  });
}

/** JSON.stringify writes -0 as 0, and is what requests are written with. */
function withoutMinus(value: unknown): unknown {
  if (Object.is(value, -0)) return 0;
  if (Array.isArray(value)) return value.map(withoutMinus);
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, withoutMinus(held)]));
}

