/**
 * What a dialect is: a table of operations, the same shape for 1.0 and 0.3. Each entry knows its method name, how its checked
 * request is encoded, and how its result is decoded to the SDK's 1.x type.
 */
import type {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  SendMessageResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { JsonValue } from '../wire/json.js';
import type { StreamEvent } from '../wire/lifecycle.js';

/** What `sendMessage` gives: the task that the agent made or updated, or a message that is the whole answer. */
export type SendMessageResult = NonNullable<SendMessageResponse['payload']>;

/** Each unary operation's request, checked and complete, and its result. */
export interface UnaryOperations {
  sendMessage: [SendMessageRequest, SendMessageResult];
  getTask: [GetTaskRequest, Task];
  listTasks: [ListTasksRequest, ListTasksResponse];
  cancelTask: [CancelTaskRequest, Task];
  createTaskPushNotificationConfig: [TaskPushNotificationConfig, TaskPushNotificationConfig];
  getTaskPushNotificationConfig: [GetTaskPushNotificationConfigRequest, TaskPushNotificationConfig];
  listTaskPushNotificationConfigs: [ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse];
  deleteTaskPushNotificationConfig: [DeleteTaskPushNotificationConfigRequest, undefined];
  getExtendedAgentCard: [{ tenant: string }, AgentCard];
}

/** Each streaming operation's request, checked and complete. */
export interface StreamOperations {
  sendStreamingMessage: SendMessageRequest;
  subscribeToTask: SubscribeToTaskRequest;
}

export type UnaryName = keyof UnaryOperations;
export type StreamName = keyof StreamOperations;

/** The name of a `StrictClient` method that makes a call. */
export type OperationName = UnaryName | StreamName | 'call';

export interface Encoder<Request> {
  readonly method: string;
  /** The `params` member. @throws {Refusal} `request.params` for what the dialect cannot say */
  readonly encode: (request: Request) => JsonValue;
}

export interface UnaryOperation<Request, Result> extends Encoder<Request> {
  /** @throws {Refusal} `a2a.payload`, `a2a.schema` */
  readonly decode: (result: unknown) => Result;
}

/** The version of the protocol, as callers name it. */
export type ProtocolVersion = '1.0' | '0.3';

export interface Dialect {
  /** The request header that names the protocol version, or none. */
  readonly versionHeader: readonly [name: string, value: string] | undefined;
  /** The request header that names the extensions asked for. */
  readonly extensionsHeader: string;
  /** A 200 of this further media type may carry a JSON-RPC error. */
  readonly errorMediaType: string | undefined;
  /** Requests have a `tenant`. */
  readonly hasTenant: boolean;
  /** An operation that the dialect lacks is `undefined`: `options.operation`. */
  readonly unary: { readonly [N in UnaryName]: UnaryOperation<UnaryOperations[N][0], UnaryOperations[N][1]> | undefined };
  readonly stream: { readonly [N in StreamName]: Encoder<StreamOperations[N]> };
  /** What each streaming operation's first event has to be. */
  readonly firstEvent: { readonly [N in StreamName]: 'task' | 'task-or-message' | 'any' };
  /** @throws {Refusal} `a2a.payload`, `a2a.schema` */
  readonly decodeEvent: (result: unknown) => StreamEvent;
  /** Whether a decoded event's result says that it is the last. */
  readonly isFinal: (result: unknown) => boolean;
}
