/**
 * The 0.3 dialect, decoded to the SDK's 1.x types.
 *
 * Where 1.x has no place for what 0.3 says: `final` of a status update ends the stream (`isFinal`) and is in the raw bytes alone; of a
 * push config's authentication schemes there may be one. What 0.3 cannot say is refused before anything is sent (`request.params`).
 */
import {
  Role,
  TaskState,
  type Artifact,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
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
import { agentCard } from './card_v0_3.js';
import type { Dialect, SendMessageResult } from './dialect.js';
import {
  PAYLOAD,
  asJson,
  base64,
  compact,
  decodeNothing,
  decoder,
  flag,
  isObject,
  list,
  localTimestamp,
  maybe,
  metadata,
  nameOf,
  nonEmpty,
  object,
  oneOf,
  open,
  shaped,
  text,
  type Schema,
} from './values.js';

const STATES: ReadonlyMap<string, TaskState> = new Map([
  ['unknown', TaskState.TASK_STATE_UNSPECIFIED],
  ['submitted', TaskState.TASK_STATE_SUBMITTED],
  ['working', TaskState.TASK_STATE_WORKING],
  ['completed', TaskState.TASK_STATE_COMPLETED],
  ['failed', TaskState.TASK_STATE_FAILED],
  ['canceled', TaskState.TASK_STATE_CANCELED],
  ['input-required', TaskState.TASK_STATE_INPUT_REQUIRED],
  ['rejected', TaskState.TASK_STATE_REJECTED],
  ['auth-required', TaskState.TASK_STATE_AUTH_REQUIRED],
]);

const ROLES: ReadonlyMap<string, Role> = new Map([
  ['user', Role.ROLE_USER],
  ['agent', Role.ROLE_AGENT],
]);

/** Marks a data part that wraps a value other than an object, as the official SDKs write it. */
const WRAPPED = 'data_part_compat';

/** An object's `kind` has to be just this one: another, or none, makes it another object. */
const kind = (name: string): Schema<string> =>
  v.optional(
    v.custom<string>((value) => value === name, PAYLOAD),
    '',
  );

const textPart: Schema<Part> = v.pipe(
  shaped(
    { text: v.string(), metadata },
    (value, decode) => ({
      text: decode.text(value.text),
      metadata: decode.metadata(value.metadata),
    }),
  ),
  v.transform(({ text: value, metadata: meta }): Part => ({
    content: { $case: 'text', value },
    metadata: meta,
    filename: '',
    mediaType: '',
  })),
);

const filePart: Schema<Part> = v.pipe(
  object({
    file: v.pipe(
      object({ bytes: maybe(base64), uri: maybe(v.string()), name: text, mimeType: text }),
      v.check(({ bytes, uri }) => (bytes === undefined) !== (uri === undefined), PAYLOAD),
    ),
    metadata,
  }),
  v.transform(({ file, metadata: meta }): Part => ({
    content: file.bytes ? { $case: 'raw', value: file.bytes } : { $case: 'url', value: file.uri ?? '' },
    metadata: meta,
    filename: file.name,
    mediaType: file.mimeType,
  })),
);

const dataPart: Schema<Part> = v.pipe(
  object({ data: open, metadata }),
  v.transform(({ data, metadata: meta }): Part => {
    const part: Part = { content: { $case: 'data', value: data }, metadata: meta, filename: '', mediaType: '' };
    if (meta?.[WRAPPED] !== true) return part;
    const { [WRAPPED]: _, ...others } = meta;
    part.metadata = Object.keys(others).length > 0 ? others : undefined;
    if (Object.hasOwn(data, 'value')) part.content = { $case: 'data', value: data['value'] };
    return part;
  }),
);

const PARTS: ReadonlyMap<unknown, Schema<Part>> = new Map([
  ['text', textPart],
  ['file', filePart],
  ['data', dataPart],
]);
const unknownPart: Schema<Part> = v.custom<Part>(() => false, PAYLOAD);
const part: Schema<Part> = v.lazy((input) => (isObject(input) ? (PARTS.get(input['kind']) ?? unknownPart) : textPart));

const message: Schema<Message> = v.pipe(
  shaped(
    {
      kind: kind('message'),
      messageId: nonEmpty,
      contextId: text,
      taskId: text,
      role: oneOf(ROLES),
      parts: v.array(part),
      metadata,
      extensions: list(v.string()),
      referenceTaskIds: list(v.string()),
    },
    (value, decode) => ({
      kind: decode.kind(value.kind),
      messageId: decode.messageId(value.messageId),
      contextId: decode.contextId(value.contextId),
      taskId: decode.taskId(value.taskId),
      role: decode.role(value.role),
      parts: decode.parts(value.parts),
      metadata: decode.metadata(value.metadata),
      extensions: decode.extensions(value.extensions),
      referenceTaskIds: decode.referenceTaskIds(value.referenceTaskIds),
    }),
  ),
  v.transform(({ kind: _, ...others }): Message => others),
);

const artifact: Schema<Artifact> = shaped(
  {
    artifactId: nonEmpty,
    name: text,
    description: text,
    parts: v.array(part),
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
    timestamp: maybe(localTimestamp),
  },
  (value, decode) => ({
    state: decode.state(value.state),
    message: decode.message(value.message),
    timestamp: decode.timestamp(value.timestamp),
  }),
);

const task: Schema<Task> = v.pipe(
  shaped(
    {
      kind: kind('task'),
      id: nonEmpty,
      contextId: nonEmpty,
      status,
      artifacts: list(artifact),
      history: list(message),
      metadata,
    },
    (value, decode) => ({
      kind: decode.kind(value.kind),
      id: decode.id(value.id),
      contextId: decode.contextId(value.contextId),
      status: decode.status(value.status),
      artifacts: decode.artifacts(value.artifacts),
      history: decode.history(value.history),
      metadata: decode.metadata(value.metadata),
    }),
  ),
  v.transform(({ kind: _, ...others }): Task => others),
);

const statusUpdate: Schema<TaskStatusUpdateEvent> = v.pipe(
  shaped(
    {
      taskId: nonEmpty,
      contextId: text,
      status,
      // Checked here, read by `isFinal`.
      final: flag,
      metadata,
    },
    (value, decode) => ({
      taskId: decode.taskId(value.taskId),
      contextId: decode.contextId(value.contextId),
      status: decode.status(value.status),
      final: decode.final(value.final),
      metadata: decode.metadata(value.metadata),
    }),
  ),
  v.transform(({ final: _, ...others }): TaskStatusUpdateEvent => others),
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

const pushConfig: Schema<TaskPushNotificationConfig> = v.pipe(
  object({
    taskId: text,
    pushNotificationConfig: object({
      id: text,
      url: nonEmpty,
      token: text,
      authentication: maybe(
        v.pipe(
          // A 1.x config has one scheme; several would be lost.
          object({ schemes: v.pipe(list(v.string()), v.maxLength(1)), credentials: text }),
          v.transform(({ schemes, credentials }) => ({ scheme: schemes[0] ?? '', credentials })),
        ),
      ),
    }),
  }),
  v.transform(({ taskId, pushNotificationConfig }) => ({ tenant: '', taskId, ...pushNotificationConfig })),
);

const pushConfigs: Schema<ListTaskPushNotificationConfigsResponse> = v.pipe(
  list(pushConfig),
  v.transform((configs) => ({ configs, nextPageToken: '' })),
);

const asTask = decoder(task);
const asMessage = decoder(message);
const asStatusUpdate = decoder(statusUpdate);
const asArtifactUpdate = decoder(artifactUpdate);

function kindOf(result: unknown): unknown {
  return isObject(result) ? result['kind'] : undefined;
}

function decodeSendMessage(result: unknown): SendMessageResult {
  switch (kindOf(result)) {
    case 'task':
      return { $case: 'task', value: asTask(result) };
    case 'message':
      return { $case: 'message', value: asMessage(result) };
    default:
      throw new Refusal('a2a.payload');
  }
}

function decodeEvent(result: unknown): StreamEvent {
  switch (kindOf(result)) {
    case 'status-update':
      return { $case: 'statusUpdate', value: asStatusUpdate(result) };
    case 'artifact-update':
      return { $case: 'artifactUpdate', value: asArtifactUpdate(result) };
    default:
      return decodeSendMessage(result);
  }
}

// ---- Requests ----

function unsayable(path: string): Refusal {
  return new Refusal('request.params', { path });
}

function encodePart(sent: Part, position: number): JsonValue {
  const { content, filename, mediaType } = sent;
  const meta = asJson(sent.metadata);
  const path = `message.parts[${String(position)}]`;
  // The agent would take the data for a wrapped value, or we would overwrite what the caller says.
  if (content?.$case === 'data' && sent.metadata !== undefined && Object.hasOwn(sent.metadata, WRAPPED)) throw unsayable(`${path}.metadata`);
  switch (content?.$case) {
    case 'raw':
    case 'url': {
      const where = content.$case === 'raw' ? { bytes: content.value.toString('base64') } : { uri: content.value };
      return compact({ kind: 'file', file: { ...where, ...compact({ name: filename, mimeType: mediaType }) }, metadata: meta });
    }
    case 'text':
    case 'data': {
      if (filename !== '') throw unsayable(`${path}.filename`);
      if (mediaType !== '') throw unsayable(`${path}.mediaType`);
      if (content.$case === 'text') return { kind: 'text', text: content.value, ...(meta !== undefined && { metadata: meta }) };
      const value = asJson(content.value) ?? null;
      if (isObject(value)) return { kind: 'data', data: value, ...(meta !== undefined && { metadata: meta }) };
      return { kind: 'data', data: { value }, metadata: { ...sent.metadata, [WRAPPED]: true } };
    }
    case undefined:
      throw unsayable(path);
  }
}

function encodeMessage(sent: Message): JsonValue {
  return {
    kind: 'message',
    messageId: sent.messageId,
    // 0.3 knows no other role, and a request has one of the two.
    role: nameOf(ROLES, sent.role) ?? 'user',
    parts: sent.parts.map(encodePart),
    ...compact({
      contextId: sent.contextId,
      taskId: sent.taskId,
      metadata: asJson(sent.metadata),
      extensions: sent.extensions,
      referenceTaskIds: sent.referenceTaskIds,
    }),
  };
}

function encodePushConfig({ id, url, token, authentication }: TaskPushNotificationConfig): JsonValue {
  return compact({
    id,
    url,
    token,
    authentication: authentication && {
      schemes: authentication.scheme === '' ? [] : [authentication.scheme],
      ...compact({ credentials: authentication.credentials }),
    },
  });
}

function encodeSendMessage({ message: sent, configuration, metadata: meta }: SendMessageRequest): JsonValue {
  const push = configuration?.taskPushNotificationConfig;
  if (push !== undefined && push.taskId !== '') throw unsayable('configuration.taskPushNotificationConfig.taskId');
  if (push !== undefined && push.tenant !== '') throw unsayable('configuration.taskPushNotificationConfig.tenant');
  return compact({
    message: sent && encodeMessage(sent),
    configuration: {
      // Always said: servers differ in what they take its absence for.
      blocking: configuration?.returnImmediately !== true,
      ...compact({
        acceptedOutputModes: configuration?.acceptedOutputModes,
        historyLength: configuration?.historyLength,
        pushNotificationConfig: push && encodePushConfig(push),
      }),
    },
    metadata: asJson(meta),
  });
}

function encodeListPushConfigs({ taskId, pageSize, pageToken }: ListTaskPushNotificationConfigsRequest): JsonValue {
  if (pageSize !== 0) throw unsayable('pageSize');
  if (pageToken !== '') throw unsayable('pageToken');
  return { id: taskId };
}

export const v0_3: Dialect = {
  versionHeader: undefined,
  extensionsHeader: 'x-a2a-extensions',
  errorMediaType: 'text/plain',
  hasTenant: false,
  unary: {
    sendMessage: { method: 'message/send', encode: encodeSendMessage, decode: decodeSendMessage },
    getTask: {
      method: 'tasks/get',
      encode: ({ id, historyLength }) => compact({ id, historyLength }),
      decode: decoder(task),
    },
    listTasks: undefined,
    cancelTask: {
      method: 'tasks/cancel',
      encode: ({ id, metadata: meta }) => compact({ id, metadata: asJson(meta) }),
      decode: decoder(task),
    },
    createTaskPushNotificationConfig: {
      method: 'tasks/pushNotificationConfig/set',
      encode: (config) => ({ taskId: config.taskId, pushNotificationConfig: encodePushConfig(config) }),
      decode: decoder(pushConfig),
    },
    getTaskPushNotificationConfig: {
      method: 'tasks/pushNotificationConfig/get',
      encode: ({ taskId, id }) => compact({ id: taskId, pushNotificationConfigId: id }),
      decode: decoder(pushConfig),
    },
    listTaskPushNotificationConfigs: {
      method: 'tasks/pushNotificationConfig/list',
      encode: encodeListPushConfigs,
      decode: decoder(pushConfigs),
    },
    deleteTaskPushNotificationConfig: {
      method: 'tasks/pushNotificationConfig/delete',
      encode: ({ taskId, id }) => ({ id: taskId, pushNotificationConfigId: id }),
      decode: decodeNothing,
    },
    getExtendedAgentCard: {
      method: 'agent/getAuthenticatedExtendedCard',
      encode: () => ({}),
      decode: decoder(agentCard),
    },
  },
  stream: {
    sendStreamingMessage: { method: 'message/stream', encode: encodeSendMessage },
    subscribeToTask: { method: 'tasks/resubscribe', encode: ({ id }) => ({ id }) },
  },
  firstEvent: { sendStreamingMessage: 'any', subscribeToTask: 'any' },
  decodeEvent,
  isFinal: (result) => kindOf(result) === 'status-update' && (result as { final?: unknown }).final === true,
};
