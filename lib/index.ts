/**
 * The strict transport. Nothing above it is loaded with it.
 */
export { StrictClient } from './client.js';
export type { CallMessage } from './diagnostics.js';
export { FAILURE_RULES, Failure, RemoteError, failureOf } from './failure.js';
export type { Delivery, FailureKind, FailureRule } from './failure.js';
export { hardenedAgent } from './hardened/agent.js';
export type { NetworkPolicy } from './hardened/network.js';
export type { HardenedAgentOptions } from './hardened/options.js';
export type { CallInterceptor, FinishedCall, OutgoingCall } from './interceptor.js';
export type { CallOptions, StreamOptions } from './options.js';
export type { EventStream, StreamItem } from './stream.js';
export type { Reply } from './unary.js';
export { userText } from './dialect/request.js';
export type {
  CancelTaskInput,
  CreatePushNotificationConfigInput,
  GetPushNotificationConfigInput,
  GetTaskInput,
  JsonObject,
  ListPushNotificationConfigsInput,
  ListTasksInput,
  MessageInput,
  PartInput,
  PushNotificationConfigInput,
  SendMessageInput,
  SubscribeToTaskInput,
} from './dialect/request.js';
export type { OperationName, ProtocolVersion, SendMessageResult } from './dialect/dialect.js';
export type { EventIdMode } from './wire/event_ids.js';
export type { JsonValue } from './wire/json.js';
export type { StreamEvent } from './wire/lifecycle.js';
export { A2A_SDK_VERSION, PROTOCOL_VERSIONS, UNDICI_VERSION } from './versions.js';

// The SDK's own types and enums that the calls above take and give.
export { Role, TaskState } from '@a2a-js/sdk';
export type {
  AgentCard,
  Artifact,
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  Message,
  Part,
  SendMessageRequest,
  Task,
  TaskArtifactUpdateEvent,
  TaskPushNotificationConfig,
  TaskStatus,
  TaskStatusUpdateEvent,
} from '@a2a-js/sdk';
