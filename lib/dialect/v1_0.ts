/**
 * The 1.0 dialect: ProtoJSON as the A2A specification 1.0 binds it to JSON-RPC.
 *
 * Everything that ProtoJSON omits at its default may be missing; what the profile wants present is checked here. Enums are names,
 * never numbers.
 */
import {
  Role,
  TaskState,
  type Artifact,
  type ListTaskPushNotificationConfigsResponse,
  type ListTasksResponse,
  type Message,
  type Part,
  type SendMessageRequest,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskPushNotificationConfig,
  type TaskStatus,
  type TaskStatusUpdateEvent,
} from '@a2a-js/sdk';
import * as v from 'valibot';
import { Refusal } from '../failure.js';
import type { JsonValue } from '../wire/json.js';
import type { StreamEvent } from '../wire/lifecycle.js';
import { agentCard } from './card_v1_0.js';
import type { Dialect, SendMessageResult } from './dialect.js';
import {
  PAYLOAD,
  asJson,
  base64,
  check,
  compact,
  decodeNothing,
  flag,
  int32,
  isObject,
  list,
  maybe,
  metadata,
  nameOf,
  nonEmpty,
  nonEmptyList,
  object,
  oneOf,
  text,
  timestamp,
  type Schema,
} from './values.js';

const STATES: ReadonlyMap<string, TaskState> = new Map([
  ['TASK_STATE_UNSPECIFIED', TaskState.TASK_STATE_UNSPECIFIED],
  ['TASK_STATE_SUBMITTED', TaskState.TASK_STATE_SUBMITTED],
  ['TASK_STATE_WORKING', TaskState.TASK_STATE_WORKING],
  ['TASK_STATE_COMPLETED', TaskState.TASK_STATE_COMPLETED],
  ['TASK_STATE_FAILED', TaskState.TASK_STATE_FAILED],
  ['TASK_STATE_CANCELED', TaskState.TASK_STATE_CANCELED],
  ['TASK_STATE_INPUT_REQUIRED', TaskState.TASK_STATE_INPUT_REQUIRED],
  ['TASK_STATE_REJECTED', TaskState.TASK_STATE_REJECTED],
  ['TASK_STATE_AUTH_REQUIRED', TaskState.TASK_STATE_AUTH_REQUIRED],
]);

const ROLES: ReadonlyMap<string, Role> = new Map([
  ['ROLE_UNSPECIFIED', Role.ROLE_UNSPECIFIED],
  ['ROLE_USER', Role.ROLE_USER],
  ['ROLE_AGENT', Role.ROLE_AGENT],
]);

const part: Schema<Part> = v.pipe(
  v.object({
    text: maybe(v.string()),
    raw: maybe(base64),
    url: maybe(v.string()),
    data: v.optional(v.unknown()),
    metadata,
    filename: text,
    mediaType: text,
  }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const { text: value, raw, url, metadata: meta, filename, mediaType } = dataset.value;
    // Null is a value of `data`: only a missing member is absent.
    const hasData = Object.hasOwn(dataset.value, 'data');
    if (Number(value !== undefined) + Number(raw !== undefined) + Number(url !== undefined) + Number(hasData) !== 1) {
      addIssue({ message: PAYLOAD });
      return NEVER;
    }
    let content: NonNullable<Part['content']>;
    if (value !== undefined) content = { $case: 'text', value };
    else if (raw !== undefined) content = { $case: 'raw', value: raw };
    else if (url !== undefined) content = { $case: 'url', value: url };
    else content = { $case: 'data', value: dataset.value.data };
    return { content, metadata: meta, filename, mediaType };
  }),
);

const message: Schema<Message> = v.object({
  messageId: nonEmpty,
  contextId: text,
  taskId: text,
  role: oneOf(ROLES),
  parts: nonEmptyList(part),
  metadata,
  extensions: list(v.string()),
  referenceTaskIds: list(v.string()),
});

const artifact: Schema<Artifact> = v.object({
  artifactId: nonEmpty,
  name: text,
  description: text,
  parts: nonEmptyList(part),
  metadata,
  extensions: list(v.string()),
});

const status: Schema<TaskStatus> = v.object({
  state: oneOf(STATES),
  message: maybe(message),
  timestamp: maybe(timestamp),
});

const task: Schema<Task> = v.object({
  id: nonEmpty,
  contextId: text,
  status,
  artifacts: list(artifact),
  history: list(message),
  metadata,
});

const statusUpdate: Schema<TaskStatusUpdateEvent> = v.object({ taskId: nonEmpty, contextId: text, status, metadata });

const artifactUpdate: Schema<TaskArtifactUpdateEvent> = v.object({
  taskId: nonEmpty,
  contextId: text,
  artifact,
  append: flag,
  lastChunk: flag,
  metadata,
});

const pushConfig: Schema<TaskPushNotificationConfig> = v.object({
  tenant: text,
  id: text,
  taskId: text,
  url: nonEmpty,
  token: text,
  authentication: maybe(object({ scheme: text, credentials: text })),
});

const pushConfigs: Schema<ListTaskPushNotificationConfigsResponse> = object({
  configs: list(pushConfig),
  nextPageToken: text,
});

const tasks: Schema<ListTasksResponse> = object({
  tasks: list(task),
  nextPageToken: text,
  pageSize: int32,
  totalSize: int32,
});

/** The one member of `names` that `result` has. */
function payloadOf<const Name extends string>(result: unknown, names: readonly Name[]): [Name, unknown] {
  if (!isObject(result)) throw new Refusal('a2a.payload');
  let found: [Name, unknown] | undefined;
  for (const name of names) {
    if (!Object.hasOwn(result, name) || result[name] === null) continue;
    if (found !== undefined) throw new Refusal('a2a.payload');
    found = [name, result[name]];
  }
  if (found === undefined) throw new Refusal('a2a.payload');
  return found;
}

function decodeSendMessage(result: unknown): SendMessageResult {
  const [name, value] = payloadOf(result, ['task', 'message']);
  return name === 'task'
    ? { $case: name, value: check(task, value, 'a2a.schema', name) }
    : { $case: name, value: check(message, value, 'a2a.schema', name) };
}

function decodeEvent(result: unknown): StreamEvent {
  const [name, value] = payloadOf(result, ['task', 'message', 'statusUpdate', 'artifactUpdate']);
  switch (name) {
    case 'task':
      return { $case: name, value: check(task, value, 'a2a.schema', name) };
    case 'message':
      return { $case: name, value: check(message, value, 'a2a.schema', name) };
    case 'statusUpdate':
      return { $case: name, value: check(statusUpdate, value, 'a2a.schema', name) };
    case 'artifactUpdate':
      return { $case: name, value: check(artifactUpdate, value, 'a2a.schema', name) };
  }
}

// ---- Requests ----

function encodePart({ content, metadata: meta, filename, mediaType }: Part): JsonValue {
  const members = compact({ metadata: asJson(meta), filename, mediaType });
  // Outside `compact`: an empty text is a text.
  switch (content?.$case) {
    case 'raw':
      return { raw: content.value.toString('base64'), ...members };
    case 'text':
    case 'url':
    case 'data':
      return { [content.$case]: asJson(content.value) ?? null, ...members };
    case undefined:
      throw new Refusal('request.params', { path: 'message.parts' });
  }
}

function encodeMessage(value: Message): JsonValue {
  return compact({
    messageId: value.messageId,
    contextId: value.contextId,
    taskId: value.taskId,
    role: nameOf(ROLES, value.role),
    parts: value.parts.map(encodePart),
    metadata: asJson(value.metadata),
    extensions: value.extensions,
    referenceTaskIds: value.referenceTaskIds,
  });
}

function encodePushConfig(config: TaskPushNotificationConfig): JsonValue {
  const { authentication } = config;
  return compact({
    tenant: config.tenant,
    id: config.id,
    taskId: config.taskId,
    url: config.url,
    token: config.token,
    authentication:
      authentication && compact({ scheme: authentication.scheme, credentials: authentication.credentials }),
  });
}

function encodeSendMessage({ tenant, message: sent, configuration, metadata: meta }: SendMessageRequest): JsonValue {
  return compact({
    tenant,
    message: sent && encodeMessage(sent),
    configuration:
      configuration &&
      compact({
        acceptedOutputModes: configuration.acceptedOutputModes,
        taskPushNotificationConfig:
          configuration.taskPushNotificationConfig && encodePushConfig(configuration.taskPushNotificationConfig),
        historyLength: configuration.historyLength,
        returnImmediately: configuration.returnImmediately,
      }),
    metadata: asJson(meta),
  });
}

export const v1_0: Dialect = {
  versionHeader: ['a2a-version', '1.0'],
  extensionsHeader: 'a2a-extensions',
  errorMediaType: undefined,
  hasTenant: true,
  unary: {
    sendMessage: { method: 'SendMessage', encode: encodeSendMessage, decode: decodeSendMessage },
    getTask: {
      method: 'GetTask',
      encode: ({ tenant, id, historyLength }) => compact({ tenant, id, historyLength }),
      decode: (result) => check(task, result),
    },
    listTasks: {
      method: 'ListTasks',
      encode: (request) =>
        compact({
          tenant: request.tenant,
          contextId: request.contextId,
          status:
            request.status === TaskState.TASK_STATE_UNSPECIFIED ? undefined : nameOf(STATES, request.status),
          pageSize: request.pageSize,
          pageToken: request.pageToken,
          historyLength: request.historyLength,
          statusTimestampAfter: request.statusTimestampAfter,
          includeArtifacts: request.includeArtifacts,
        }),
      decode: (result) => check(tasks, result),
    },
    cancelTask: {
      method: 'CancelTask',
      encode: ({ tenant, id, metadata: meta }) => compact({ tenant, id, metadata: asJson(meta) }),
      decode: (result) => check(task, result),
    },
    createTaskPushNotificationConfig: {
      method: 'CreateTaskPushNotificationConfig',
      encode: encodePushConfig,
      decode: (result) => check(pushConfig, result),
    },
    getTaskPushNotificationConfig: {
      method: 'GetTaskPushNotificationConfig',
      encode: ({ tenant, taskId, id }) => compact({ tenant, taskId, id }),
      decode: (result) => check(pushConfig, result),
    },
    listTaskPushNotificationConfigs: {
      method: 'ListTaskPushNotificationConfigs',
      encode: ({ tenant, taskId, pageSize, pageToken }) =>
        compact({ tenant, taskId, pageSize: pageSize === 0 ? undefined : pageSize, pageToken }),
      decode: (result) => check(pushConfigs, result),
    },
    deleteTaskPushNotificationConfig: {
      method: 'DeleteTaskPushNotificationConfig',
      encode: ({ tenant, taskId, id }) => compact({ tenant, taskId, id }),
      decode: decodeNothing,
    },
    getExtendedAgentCard: {
      method: 'GetExtendedAgentCard',
      encode: ({ tenant }) => compact({ tenant }),
      decode: (result) => check(agentCard, result),
    },
  },
  stream: {
    sendStreamingMessage: { method: 'SendStreamingMessage', encode: encodeSendMessage },
    subscribeToTask: { method: 'SubscribeToTask', encode: ({ tenant, id }) => compact({ tenant, id }) },
  },
  firstEvent: { sendStreamingMessage: 'task-or-message', subscribeToTask: 'task' },
  decodeEvent,
  isFinal: () => false,
};
