/**
 * What a caller may ask for, and its check before anything is sent. The input types take what a person would write; every object
 * of the SDK's own types is one of them. What comes out is the SDK's type, complete, and holds no object of the caller's.
 */
import {
  Role,
  TaskState,
  type CancelTaskRequest,
  type DeleteTaskPushNotificationConfigRequest,
  type GetTaskPushNotificationConfigRequest,
  type GetTaskRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTasksRequest,
  type Message,
  type Part,
  type SendMessageConfiguration,
  type SendMessageRequest,
  type SubscribeToTaskRequest,
  type TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { randomUUID } from 'node:crypto';
import { types } from 'node:util';
import * as v from 'valibot';
import { Refusal } from '../failure.js';
import { MAX_DEPTH, type JsonValue } from '../wire/json.js';
import type { StreamName, StreamOperations, UnaryName, UnaryOperations } from './dialect.js';
import { check, isObject, isPlain, timestamp, type Schema } from './values.js';

/** A JSON object of the caller's, for `metadata`. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** One part of a message: just one of text, bytes, a URL, or any JSON value. */
export interface PartInput {
  readonly content?:
    | { readonly $case: 'text'; readonly value: string }
    | { readonly $case: 'raw'; readonly value: Uint8Array }
    | { readonly $case: 'url'; readonly value: string }
    | { readonly $case: 'data'; readonly value: unknown }
    | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly filename?: string | undefined;
  readonly mediaType?: string | undefined;
}

/** A message to an agent. */
export interface MessageInput {
  /** Not empty; unique for each message of the sender's. */
  readonly messageId: string;
  readonly role: Role;
  /** At least one. */
  readonly parts: readonly PartInput[];
  /** The task that the message goes on with. */
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  /** URIs of the extensions that the message makes use of. */
  readonly extensions?: readonly string[] | undefined;
  readonly referenceTaskIds?: readonly string[] | undefined;
}

/** Where an agent is to push a task's updates. */
export interface PushNotificationConfigInput {
  readonly url: string;
  readonly taskId?: string | undefined;
  readonly id?: string | undefined;
  readonly token?: string | undefined;
  readonly authentication?: { readonly scheme: string; readonly credentials?: string | undefined } | undefined;
  readonly tenant?: string | undefined;
}

/** The request of `sendMessage` and `sendStreamingMessage`. */
export interface SendMessageInput {
  readonly message: MessageInput | undefined;
  readonly configuration?:
    | {
        readonly acceptedOutputModes?: readonly string[] | undefined;
        readonly taskPushNotificationConfig?: PushNotificationConfigInput | undefined;
        /** How many of the latest messages of the history to include; 0 for none. */
        readonly historyLength?: number | undefined;
        /** True: the agent answers as soon as the task exists. Default false: it answers once the task ended or needs something. */
        readonly returnImmediately?: boolean | undefined;
      }
    | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly tenant?: string | undefined;
}

/** The request of `getTask`. */
export interface GetTaskInput {
  /** The task's. Not empty. */
  readonly id: string;
  /** How many of the latest messages of the history to include; 0 for none. */
  readonly historyLength?: number | undefined;
  readonly tenant?: string | undefined;
}

/** The request of `listTasks`; an empty one asks for all. */
export interface ListTasksInput {
  readonly contextId?: string | undefined;
  /** Only tasks in this state; `TASK_STATE_UNSPECIFIED` or absent: in any. */
  readonly status?: TaskState | undefined;
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
  readonly historyLength?: number | undefined;
  /** RFC 3339. */
  readonly statusTimestampAfter?: string | undefined;
  readonly includeArtifacts?: boolean | undefined;
  readonly tenant?: string | undefined;
}

/** The request of `cancelTask`. */
export interface CancelTaskInput {
  /** The task's. Not empty. */
  readonly id: string;
  readonly metadata?: JsonObject | undefined;
  readonly tenant?: string | undefined;
}

/** The request of `subscribeToTask`. */
export interface SubscribeToTaskInput {
  /** The task's. Not empty. */
  readonly id: string;
  readonly tenant?: string | undefined;
}

/** The request of `createTaskPushNotificationConfig`. */
export interface CreatePushNotificationConfigInput extends PushNotificationConfigInput {
  readonly taskId: string;
}

/** The request of `getTaskPushNotificationConfig` and `deleteTaskPushNotificationConfig`. */
export interface GetPushNotificationConfigInput {
  readonly taskId: string;
  readonly id: string;
  readonly tenant?: string | undefined;
}

/** The request of `listTaskPushNotificationConfigs`. */
export interface ListPushNotificationConfigsInput {
  readonly taskId: string;
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
  readonly tenant?: string | undefined;
}

/** The message a person would send: one text part, role user, a fresh random id. */
export function userText(value: string): MessageInput {
  return { messageId: randomUUID(), role: Role.ROLE_USER, parts: [{ content: { $case: 'text', value } }] };
}

// ---- Checks ----

const members = v.pipe(
  v.custom<Record<string, unknown>>(isPlain),
  v.transform((value) => Object.assign(Object.create(null) as Record<string, unknown>, value)),
);

/** An object of the caller's: its own members, each read once, and none but those of `entries`. */
const input = <Entries extends v.ObjectEntries>(
  entries: Entries,
): v.SchemaWithPipe<readonly [typeof members, v.StrictObjectSchema<Entries, undefined>]> => v.pipe(members, v.strictObject(entries));

/** RFC 7493 section 2.1: no half of a surrogate pair may be sent. */
const string = v.pipe(
  v.string(),
  v.check((value) => value.isWellFormed()),
);
const id = v.pipe(string, v.nonEmpty());
const text = v.optional(string, '');
const strings = v.optional(v.array(string), () => []);
/** A count of 32 bits, as ProtoJSON carries it. */
const count = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 31 - 1)), () => undefined);
const absent = (): undefined => undefined;

/** A JSON object, copied. */
const jsonObject = v.pipe(
  v.custom<JsonObject>(isObject),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const copy = copyJson(dataset.value);
    if (isObject(copy)) return copy;
    addIssue();
    return NEVER;
  }),
);
const metadata = v.optional(jsonObject, absent);

type Content = NonNullable<Part['content']>;

const CONTENTS: ReadonlyMap<unknown, Schema<Content>> = new Map<unknown, Schema<Content>>([
  ['text', input({ $case: v.literal('text'), value: string })],
  [
    'raw',
    input({
      $case: v.literal('raw'),
      value: v.pipe(
        v.custom<Uint8Array>(types.isUint8Array),
        v.transform((bytes) => Buffer.from(bytes)),
      ),
    }),
  ],
  ['url', input({ $case: v.literal('url'), value: string })],
  [
    'data',
    input({
      $case: v.literal('data'),
      value: v.pipe(
        v.unknown(),
        v.rawTransform(({ dataset, addIssue, NEVER }) => {
          const copy = copyJson(dataset.value);
          if (copy !== undefined) return copy;
          addIssue();
          return NEVER;
        }),
      ),
    }),
  ],
]);
const noContent: Schema<Content> = v.custom<Content>(() => false);

/** A union is told by its `$case`; what is read of it after that has to agree. */
const content: Schema<Content> = v.lazy((value) => (isObject(value) ? (CONTENTS.get(value['$case']) ?? noContent) : noContent));

const part: Schema<Part> = input({ content, metadata, filename: text, mediaType: text });

const message: Schema<Message> = input({
  messageId: id,
  contextId: text,
  taskId: text,
  role: v.picklist([Role.ROLE_USER, Role.ROLE_AGENT]),
  parts: v.pipe(v.array(part), v.nonEmpty()),
  metadata,
  extensions: strings,
  referenceTaskIds: strings,
});

const pushConfigMembers = {
  tenant: text,
  id: text,
  taskId: text,
  url: id,
  token: text,
  authentication: v.optional(input({ scheme: string, credentials: text }), absent),
};

const configuration: Schema<SendMessageConfiguration> = input({
  acceptedOutputModes: strings,
  taskPushNotificationConfig: v.optional(input(pushConfigMembers), absent),
  historyLength: count,
  returnImmediately: v.optional(v.boolean(), false),
});

const sendMessage: Schema<SendMessageRequest> = input({
  tenant: text,
  message,
  configuration: v.optional(configuration, absent),
  metadata,
});
const getTask: Schema<GetTaskRequest> = input({ tenant: text, id, historyLength: count });
const listTasks: Schema<ListTasksRequest> = input({
  tenant: text,
  contextId: text,
  status: v.optional(v.pipe(v.enum(TaskState), v.notValue(TaskState.UNRECOGNIZED)), TaskState.TASK_STATE_UNSPECIFIED),
  pageSize: count,
  pageToken: text,
  historyLength: count,
  statusTimestampAfter: v.optional(timestamp, absent),
  includeArtifacts: v.optional(v.boolean(), absent),
});
const cancelTask: Schema<CancelTaskRequest> = input({ tenant: text, id, metadata });
const subscribeToTask: Schema<SubscribeToTaskRequest> = input({ tenant: text, id });
const createPushConfig: Schema<TaskPushNotificationConfig> = input({ ...pushConfigMembers, taskId: id });
const configOfTask: Schema<GetTaskPushNotificationConfigRequest & DeleteTaskPushNotificationConfigRequest> = input({
  tenant: text,
  taskId: id,
  id,
});
const listPushConfigs: Schema<ListTaskPushNotificationConfigsRequest> = input({
  tenant: text,
  taskId: id,
  pageSize: v.pipe(
    count,
    v.transform((size) => size ?? 0),
  ),
  pageToken: text,
});

/** The check of each unary operation's request. */
export const UNARY_REQUESTS: { readonly [N in UnaryName]: Schema<UnaryOperations[N][0]> } = {
  sendMessage,
  getTask,
  listTasks,
  cancelTask,
  createTaskPushNotificationConfig: createPushConfig,
  getTaskPushNotificationConfig: configOfTask,
  listTaskPushNotificationConfigs: listPushConfigs,
  deleteTaskPushNotificationConfig: configOfTask,
  getExtendedAgentCard: input({ tenant: text }),
};

/** The check of each streaming operation's request. */
export const STREAM_REQUESTS: { readonly [N in StreamName]: Schema<StreamOperations[N]> } = {
  sendStreamingMessage: sendMessage,
  subscribeToTask,
};

/**
 * The caller's params, checked, completed and copied.
 * @throws {Refusal} `request.params`, with the path of the first thing that is wrong
 */
export function checkRequest<T>(schema: Schema<T>, params: unknown): T {
  try {
    return check(schema, params, 'request.params');
  } catch (reason) {
    if (reason instanceof Refusal) throw reason;
    // A getter or a proxy of the caller's that throws.
    throw new Refusal('request.params', { reason });
  }
}

/**
 * The params of `call`: a JSON object or list, copied, or none.
 * @throws {Refusal} `request.params`
 */
export function checkJsonParams(params: unknown): JsonValue | undefined {
  if (params === undefined) return undefined;
  let reason: unknown;
  try {
    const copy = copyJson(params);
    // JSON-RPC 2.0 section 4.2: params are structured.
    if (typeof copy === 'object' && copy !== null) return copy;
  } catch (error) {
    reason = error;
  }
  throw new Refusal('request.params', { reason });
}

/**
 * A copy of a JSON value, read once; `undefined` for anything that JSON or I-JSON cannot carry as it is: `JSON.stringify` would drop
 * or change it without a word.
 */
function copyJson(value: unknown, depth = 0): JsonValue | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : undefined;
    case 'boolean':
      return value;
    case 'number':
      return isExactNumber(value) ? value : undefined;
    case 'object':
      break;
    default:
      return undefined;
  }
  if (value === null) return null;
  if (depth === MAX_DEPTH) return undefined;
  return Array.isArray(value) ? copyList(value, depth + 1) : copyObject(value, depth + 1);
}

/** RFC 7493 section 2.2. From 1e21 on, JSON.stringify writes an exponent: no integer literal. */
function isExactNumber(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21);
}

function copyList(list: readonly unknown[], depth: number): JsonValue | undefined {
  const copy: JsonValue[] = [];
  // By position: a list may have an iterator of its own.
  for (let at = 0; at < list.length; at++) {
    const value = copyJson(list[at], depth);
    if (value === undefined) return undefined;
    copy.push(value);
  }
  return copy;
}

function copyObject(object: object, depth: number): JsonValue | undefined {
  if (!isPlain(object)) return undefined;
  const copy: Record<string, JsonValue> = {};
  for (const [name, member] of Object.entries(object)) {
    // As everywhere in JavaScript, a member that is undefined is one that is not there.
    if (member === undefined) continue;
    const value = copyJson(member, depth);
    if (value === undefined || name === '__proto__' || !name.isWellFormed()) return undefined;
    copy[name] = value;
  }
  return copy;
}
