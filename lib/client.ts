/** `StrictClient`: one short method for each operation of the protocol. */
import type {
  AgentCard,
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { Dispatcher } from 'undici';
import type { PreparedCall } from './call.js';
import type {
  Dialect,
  Encoder,
  OperationName,
  ProtocolVersion,
  SendMessageResult,
  StreamName,
  StreamOperations,
  UnaryName,
  UnaryOperations,
} from './dialect/dialect.js';
import { ANSWERS } from './dialect/identity.js';
import {
  STREAM_REQUESTS,
  UNARY_REQUESTS,
  checkJsonParams,
  checkRequest,
  type CancelTaskInput,
  type CreatePushNotificationConfigInput,
  type GetPushNotificationConfigInput,
  type GetTaskInput,
  type ListPushNotificationConfigsInput,
  type ListTasksInput,
  type SendMessageInput,
  type SubscribeToTaskInput,
} from './dialect/request.js';
import { v0_3 } from './dialect/v0_3.js';
import { v1_0 } from './dialect/v1_0.js';
import { traceRefusal } from './diagnostics.js';
import { Failure, Refusal } from './failure.js';
import { checkCallOptions, checkStreamOptions, type CallOptions, type CallPolicy, type StreamOptions } from './options.js';
import { openStream, type EventStream, type PreparedStream, type RefusedStream } from './stream.js';
import { callUnary, type Reply } from './unary.js';
import { checkDispatcher } from './wire/dispatcher.js';
import type { JsonValue } from './wire/json.js';
import type { StreamRequest } from './wire/lifecycle.js';
import { encodeRequest, requestId } from './wire/jsonrpc.js';

const DIALECTS: Readonly<Record<ProtocolVersion, Dialect>> = { '1.0': v1_0, '0.3': v0_3 };

/**
 * A strict A2A client transport over JSON-RPC and SSE.
 *
 * Stateless: each call takes its whole policy, and nothing is remembered or inferred. It gives the exact answer, or ends with one
 * {@link Failure}. Nothing throws synchronously.
 */
export class StrictClient {
  readonly #dispatcher: Dispatcher;
  readonly #dispatcherRefusal: Refusal | undefined;

  /**
   * @param dispatcher an undici `Agent` or the like, which the caller makes, shares and closes. One that is bound to an origin (`Client`,
   * `Pool`, …) would send to its own whatever the endpoint says: each call refuses it (`options.dispatcher`).
   */
  constructor(dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher;
    this.#dispatcherRefusal = checkDispatcher(dispatcher);
  }

  /** Sends a message; the answer is a task or a message. By default the agent answers once the task ended or needs something. */
  sendMessage(options: CallOptions, params: SendMessageInput): Promise<Reply<SendMessageResult>> {
    return this.#unary('sendMessage', options, params);
  }

  /** Sends a message and streams what becomes of it. Lazy: nothing is sent, nor refused, before the first `next()`. */
  sendStreamingMessage(options: StreamOptions, params: SendMessageInput): EventStream {
    return this.#stream('sendStreamingMessage', options, params, ({ message }) => ({
      taskId: message?.taskId ?? '',
      contextId: message?.contextId ?? '',
    }));
  }

  /** The current state of a task. */
  getTask(options: CallOptions, params: GetTaskInput): Promise<Reply<Task>> {
    return this.#unary('getTask', options, params);
  }

  /** A page of tasks; 1.0 alone (`options.operation`). */
  listTasks(options: CallOptions, params: ListTasksInput = {}): Promise<Reply<ListTasksResponse>> {
    return this.#unary('listTasks', options, params);
  }

  /** Asks the agent to cancel a task; the answer is the task as it then is. */
  cancelTask(options: CallOptions, params: CancelTaskInput): Promise<Reply<Task>> {
    return this.#unary('cancelTask', options, params);
  }

  /** Streams what becomes of a task that exists. Lazy, as `sendStreamingMessage`. */
  subscribeToTask(options: StreamOptions, params: SubscribeToTaskInput): EventStream {
    return this.#stream('subscribeToTask', options, params, ({ id }) => ({ taskId: id, contextId: '' }));
  }

  /** Asks the agent to push a task's updates to a URL. */
  createTaskPushNotificationConfig(
    options: CallOptions,
    params: CreatePushNotificationConfigInput,
  ): Promise<Reply<TaskPushNotificationConfig>> {
    return this.#unary('createTaskPushNotificationConfig', options, params);
  }

  /** One push config of a task. */
  getTaskPushNotificationConfig(
    options: CallOptions,
    params: GetPushNotificationConfigInput,
  ): Promise<Reply<TaskPushNotificationConfig>> {
    return this.#unary('getTaskPushNotificationConfig', options, params);
  }

  /** The push configs of a task. */
  listTaskPushNotificationConfigs(
    options: CallOptions,
    params: ListPushNotificationConfigsInput,
  ): Promise<Reply<ListTaskPushNotificationConfigsResponse>> {
    return this.#unary('listTaskPushNotificationConfigs', options, params);
  }

  /** Deletes a push config. The result is `undefined`; `raw` is empty where the agent sent none. */
  deleteTaskPushNotificationConfig(options: CallOptions, params: GetPushNotificationConfigInput): Promise<Reply<undefined>> {
    return this.#unary('deleteTaskPushNotificationConfig', options, params);
  }

  /** The card that the agent shows to those it has authenticated. */
  getExtendedAgentCard(options: CallOptions): Promise<Reply<AgentCard>> {
    return this.#unary('getExtendedAgentCard', options, {});
  }

  /**
   * Calls any JSON-RPC method, sent verbatim: `tenant` is not added. The result is I-JSON and nothing more: no schema, no
   * identity has been checked.
   * @param method not empty
   * @param params an object or a list, or absent
   */
  call(options: CallOptions, method: string, params?: JsonValue): Promise<Reply<JsonValue>> {
    return this.#attempt('call', () => {
      const policy = checkCallOptions(options);
      const dialect = DIALECTS[policy.protocolVersion];
      if (typeof method !== 'string' || method === '' || !method.isWellFormed()) throw new Refusal('request.params');
      const prepared = prepare('call', policy, method, checkJsonParams(params));
      return callUnary(this.#dispatcher, prepared, {
        // A JSON text was parsed: its value is a JSON value.
        decode: (result) => result as JsonValue,
        resultOptional: false,
        errorMediaType: dialect.errorMediaType,
      });
    });
  }

  #unary<N extends UnaryName>(name: N, options: CallOptions, params: unknown): Promise<Reply<UnaryOperations[N][1]>> {
    return this.#attempt(name, () => {
      const policy = checkCallOptions(options);
      const dialect = DIALECTS[policy.protocolVersion];
      const operation = dialect.unary[name];
      if (operation === undefined) throw new Refusal('options.operation');
      const asked = withTenant(checkRequest(UNARY_REQUESTS[name], params), policy, dialect);
      return callUnary(this.#dispatcher, prepare(name, policy, operation.method, operation.encode(asked)), {
        decode: (result) => {
          const decoded = operation.decode(result);
          if (!ANSWERS[name](asked, decoded)) throw new Refusal('a2a.identity');
          return decoded;
        },
        resultOptional: name === 'deleteTaskPushNotificationConfig',
        errorMediaType: dialect.errorMediaType,
      });
    });
  }

  #stream<N extends StreamName>(
    name: N,
    options: StreamOptions,
    params: unknown,
    subjectOf: (asked: StreamOperations[N]) => Omit<StreamRequest, 'firstEvent'>,
  ): EventStream {
    let prepared: PreparedStream | RefusedStream;
    try {
      if (this.#dispatcherRefusal !== undefined) throw this.#dispatcherRefusal;
      const policy = checkStreamOptions(options);
      const dialect = DIALECTS[policy.protocolVersion];
      const operation: Encoder<StreamOperations[N]> = dialect.stream[name];
      const asked = withTenant(checkRequest<StreamOperations[N]>(STREAM_REQUESTS[name], params), policy, dialect);
      prepared = {
        call: prepare(name, policy, operation.method, operation.encode(asked)),
        asked: { ...subjectOf(asked), firstEvent: dialect.firstEvent[name] },
        dialect,
      };
    } catch (error) {
      prepared = { operation: name, failure: notSent(error) };
    }
    return openStream(this.#dispatcher, prepared);
  }

  /** Nothing throws synchronously. */
  #attempt<T>(name: OperationName, send: () => Promise<T>): Promise<T> {
    try {
      if (this.#dispatcherRefusal !== undefined) throw this.#dispatcherRefusal;
      return send();
    } catch (error) {
      const failure = notSent(error);
      traceRefusal(name, failure);
      return Promise.reject(failure);
    }
  }
}

function notSent(error: unknown): Failure {
  // What is no refusal is the engine at its limits: a request that no string can hold.
  const { rule, path, reason } = error instanceof Refusal ? error : new Refusal('request.bytes', { reason: error });
  return new Failure(rule, { delivery: 'not_sent', path, cause: reason });
}

/** The call's tenant is every request's; a request that names another contradicts it. */
function withTenant<T extends { tenant: string }>(request: T, { tenant }: CallPolicy, dialect: Dialect): T {
  if (request.tenant !== '') {
    if (!dialect.hasTenant) throw new Refusal('options.dialect');
    if (tenant !== '' && tenant !== request.tenant) throw new Refusal('request.params', { path: 'tenant' });
    return request;
  }
  return tenant === '' ? request : { ...request, tenant };
}

function prepare<Policy extends CallPolicy>(
  operation: OperationName,
  policy: Policy,
  method: string,
  params: JsonValue | undefined,
): PreparedCall<Policy> {
  const dialect = DIALECTS[policy.protocolVersion];
  const id = requestId();
  const body = encodeRequest(id, method, params);
  if (body.length > (policy.maxRequestBytes ?? Infinity)) throw new Refusal('request.bytes');
  const isStream = Object.hasOwn(dialect.stream, operation);
  const headers = [
    'content-type',
    'application/json',
    'accept',
    isStream ? 'text/event-stream, application/json' : 'application/json',
    'accept-encoding',
    'identity',
    ...(dialect.versionHeader ?? []),
  ];
  if (policy.extensions.length > 0) headers.push(dialect.extensionsHeader, policy.extensions.join(', '));
  return { policy, operation, method, id, body, headers };
}
