/**
 * The 1.0 dialect: ProtoJSON as the A2A specification 1.0 binds it to JSON-RPC.
 *
 * Everything that ProtoJSON omits at its default may be missing; what has to be present all the same is checked here. Enums are names,
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
  compact,
  decodeNothing,
  decoder,
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
  shaped,
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

const wirePart = shaped(
  {
    text: maybe(v.string()),
    raw: maybe(base64),
    url: maybe(v.string()),
    data: v.optional(v.unknown()),
    metadata,
    filename: text,
    mediaType: text,
  },
  (value, decode) => {
    const wire = {
      text: decode.text(value.text),
      raw: decode.raw(value.raw),
      url: decode.url(value.url),
      metadata: decode.metadata(value.metadata),
      filename: decode.filename(value.filename),
      mediaType: decode.mediaType(value.mediaType),
    };
    return Object.hasOwn(value, 'data') ? { ...wire, data: value.data } : wire;
  },
);
type WirePart = v.InferOutput<typeof wirePart>;

/** Null is a value of `data`: only a missing member is absent. */
function hasOneContent(wire: WirePart): boolean {
  const named = Number(wire.text !== undefined) + Number(wire.raw !== undefined) + Number(wire.url !== undefined);
  return named + Number(Object.hasOwn(wire, 'data')) === 1;
}

function contentOf({ text: value, raw, url, data }: WirePart): NonNullable<Part['content']> {
  if (value !== undefined) return { $case: 'text', value };
  if (raw !== undefined) return { $case: 'raw', value: raw };
  if (url !== undefined) return { $case: 'url', value: url };
  return { $case: 'data', value: data };
}

const part: Schema<Part> = v.pipe(
  wirePart,
  v.check(hasOneContent, PAYLOAD),
  v.transform((wire) => ({
    content: contentOf(wire),
    metadata: wire.metadata,
    filename: wire.filename,
    mediaType: wire.mediaType,
  })),
);

const message: Schema<Message> = shaped(
  {
    messageId: nonEmpty,
    contextId: text,
    taskId: text,
    role: oneOf(ROLES),
    parts: nonEmptyList(part),
    metadata,
    extensions: list(v.string()),
    referenceTaskIds: list(v.string()),
  },
  (value, decode) => ({
    messageId: decode.messageId(value.messageId),
    contextId: decode.contextId(value.contextId),
    taskId: decode.taskId(value.taskId),
    role: decode.role(value.role),
    parts: decode.parts(value.parts),
    metadata: decode.metadata(value.metadata),
    extensions: decode.extensions(value.extensions),
    referenceTaskIds: decode.referenceTaskIds(value.referenceTaskIds),
  }),
);

const artifact: Schema<Artifact> = shaped(
  {
    artifactId: nonEmpty,
    name: text,
    description: text,
    parts: nonEmptyList(part),
    metadata,
    extensions: list(v.string()),
  },
  (value, decode) => ({
    artifactId: decode.artifactId(value.artifactId),
    name: decode.name(value.name),
    description: decode.description(value.description),
    parts: decode.parts(value.parts),
    metadata: decode.metadata(value.metadata),
    extensions: decode.extensions(value.extensions),
  }),
);

const status: Schema<TaskStatus> = shaped(
  {
    state: oneOf(STATES),
    message: maybe(message),
    timestamp: maybe(timestamp),
  },
  (value, decode) => ({
    state: decode.state(value.state),
    message: decode.message(value.message),
    timestamp: decode.timestamp(value.timestamp),
  }),
);

const task: Schema<Task> = shaped(
  {
    id: nonEmpty,
    contextId: text,
    status,
    artifacts: list(artifact),
    history: list(message),
    metadata,
  },
  (value, decode) => ({
    id: decode.id(value.id),
    contextId: decode.contextId(value.contextId),
    status: decode.status(value.status),
    artifacts: decode.artifacts(value.artifacts),
    history: decode.history(value.history),
    metadata: decode.metadata(value.metadata),
  }),
);

const statusUpdate: Schema<TaskStatusUpdateEvent> = shaped(
  { taskId: nonEmpty, contextId: text, status, metadata },
  (value, decode) => ({
    taskId: decode.taskId(value.taskId),
    contextId: decode.contextId(value.contextId),
    status: decode.status(value.status),
    metadata: decode.metadata(value.metadata),
  }),
);

const artifactUpdate: Schema<TaskArtifactUpdateEvent> = shaped(
  {
    taskId: nonEmpty,
    contextId: text,
    artifact,
    append: flag,
    lastChunk: flag,
    metadata,
  },
  (value, decode) => ({
    taskId: decode.taskId(value.taskId),
    contextId: decode.contextId(value.contextId),
    artifact: decode.artifact(value.artifact),
    append: decode.append(value.append),
    lastChunk: decode.lastChunk(value.lastChunk),
    metadata: decode.metadata(value.metadata),
  }),
);

const pushConfig: Schema<TaskPushNotificationConfig> = object({
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

/** The one member of a result that says what it is. */
function payloadOf<Name extends string>(result: unknown, isPayload: (name: string) => name is Name): [Name, unknown] {
  if (!isObject(result)) throw new Refusal('a2a.payload');
  let found: [Name, unknown] | undefined;
  for (const name in result) {
    if (!isPayload(name) || result[name] === null) continue;
    if (found !== undefined) throw new Refusal('a2a.payload');
    found = [name, result[name]];
  }
  if (found === undefined) throw new Refusal('a2a.payload');
  return found;
}

const isSendPayload = (name: string): name is SendMessageResult['$case'] => name === 'task' || name === 'message';
const isStreamPayload = (name: string): name is StreamEvent['$case'] =>
  name === 'artifactUpdate' || name === 'statusUpdate' || name === 'task' || name === 'message';

const asTask = decoder(task, 'task');
const asMessage = decoder(message, 'message');
const asStatusUpdate = decoder(statusUpdate, 'statusUpdate');
const asArtifactUpdate = decoder(artifactUpdate, 'artifactUpdate');

function decodeSendMessage(result: unknown): SendMessageResult {
  const [name, value] = payloadOf(result, isSendPayload);
  return name === 'task' ? { $case: name, value: asTask(value) } : { $case: name, value: asMessage(value) };
}

function decodeEvent(result: unknown): StreamEvent {
  const [name, value] = payloadOf(result, isStreamPayload);
  switch (name) {
    case 'task':
      return { $case: name, value: asTask(value) };
    case 'message':
      return { $case: name, value: asMessage(value) };
    case 'statusUpdate':
      return { $case: name, value: asStatusUpdate(value) };
    case 'artifactUpdate':
      return { $case: name, value: asArtifactUpdate(value) };
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
      decode: decoder(task),
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
      decode: decoder(tasks),
    },
    cancelTask: {
      method: 'CancelTask',
      encode: ({ tenant, id, metadata: meta }) => compact({ tenant, id, metadata: asJson(meta) }),
      decode: decoder(task),
    },
    createTaskPushNotificationConfig: {
      method: 'CreateTaskPushNotificationConfig',
      encode: encodePushConfig,
      decode: decoder(pushConfig),
    },
    getTaskPushNotificationConfig: {
      method: 'GetTaskPushNotificationConfig',
      encode: ({ tenant, taskId, id }) => compact({ tenant, taskId, id }),
      decode: decoder(pushConfig),
    },
    listTaskPushNotificationConfigs: {
      method: 'ListTaskPushNotificationConfigs',
      encode: ({ tenant, taskId, pageSize, pageToken }) =>
        compact({ tenant, taskId, pageSize: pageSize === 0 ? undefined : pageSize, pageToken }),
      decode: decoder(pushConfigs),
    },
    deleteTaskPushNotificationConfig: {
      method: 'DeleteTaskPushNotificationConfig',
      encode: ({ tenant, taskId, id }) => compact({ tenant, taskId, id }),
      decode: decodeNothing,
    },
    getExtendedAgentCard: {
      method: 'GetExtendedAgentCard',
      encode: ({ tenant }) => compact({ tenant }),
      decode: decoder(agentCard),
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
