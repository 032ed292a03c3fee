/** The SDK's `Transport` over `StrictClient`: one short method for each operation. */
import type {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { RequestOptions, Transport } from '@a2a-js/sdk/client';
import { StrictClient } from '../client.js';
import type { ProtocolVersion } from '../dialect/dialect.js';
import { UNARY_REQUESTS, checkRequest } from '../dialect/request.js';
import { Refusal } from '../failure.js';
import type { StreamOptions } from '../options.js';
import { refused } from '../policy/checker.js';
import type { EventStream } from '../stream.js';
import type { Reply } from '../unary.js';
import { sdkError } from './errors.js';
import { StreamResponses } from './events.js';
import { checkRequestOptions, type TransportPolicy } from './options.js';
import { notSent } from './refusal.js';

/**
 * The strict transport as the SDK's `Client` calls it. Each method gives the exact answer, throws the SDK's typed error for what the agent
 * itself says no to (its `cause` is the `Failure`), and a `Failure` for all else.
 */
export class StrictTransport implements Transport {
  readonly protocolName = 'JSONRPC';
  readonly protocolVersion: ProtocolVersion;
  readonly #client: StrictClient;
  readonly #policy: TransportPolicy;
  readonly #endpoint: string;

  constructor(policy: TransportPolicy, endpoint: string, protocolVersion: ProtocolVersion) {
    this.protocolVersion = protocolVersion;
    this.#client = new StrictClient(policy.dispatcher);
    this.#policy = policy;
    this.#endpoint = endpoint;
  }

  async sendMessage(params: SendMessageRequest, options?: RequestOptions): Promise<Message | Task> {
    const { value } = await this.#answer(options, (call) => this.#client.sendMessage(call, params));
    return value;
  }

  sendMessageStream(params: SendMessageRequest, options?: RequestOptions): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#events(options, (call) => this.#client.sendStreamingMessage(call, params));
  }

  getTask(params: GetTaskRequest, options?: RequestOptions): Promise<Task> {
    return this.#answer(options, (call) => this.#client.getTask(call, params));
  }

  /** 1.0 alone: `options.operation`. */
  listTasks(params: ListTasksRequest, options?: RequestOptions): Promise<ListTasksResponse> {
    return this.#answer(options, (call) => this.#client.listTasks(call, params));
  }

  cancelTask(params: CancelTaskRequest, options?: RequestOptions): Promise<Task> {
    return this.#answer(options, (call) => this.#client.cancelTask(call, params));
  }

  resubscribeTask(params: SubscribeToTaskRequest, options?: RequestOptions): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#events(options, (call) => this.#client.subscribeToTask(call, params));
  }

  createTaskPushNotificationConfig(params: TaskPushNotificationConfig, options?: RequestOptions): Promise<TaskPushNotificationConfig> {
    return this.#answer(options, (call) => this.#client.createTaskPushNotificationConfig(call, params));
  }

  getTaskPushNotificationConfig(
    params: GetTaskPushNotificationConfigRequest,
    options?: RequestOptions,
  ): Promise<TaskPushNotificationConfig> {
    return this.#answer(options, (call) => this.#client.getTaskPushNotificationConfig(call, params));
  }

  listTaskPushNotificationConfig(
    params: ListTaskPushNotificationConfigsRequest,
    options?: RequestOptions,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    return this.#answer(options, (call) => this.#client.listTaskPushNotificationConfigs(call, params));
  }

  deleteTaskPushNotificationConfig(params: DeleteTaskPushNotificationConfigRequest, options?: RequestOptions): Promise<void> {
    return this.#answer(options, (call) => this.#client.deleteTaskPushNotificationConfig(call, params));
  }

  getExtendedAgentCard(params: GetExtendedAgentCardRequest, options?: RequestOptions): Promise<AgentCard> {
    return this.#answer(options, (call) => {
      const { tenant } = checkRequest(UNARY_REQUESTS.getExtendedAgentCard, params);
      return this.#client.getExtendedAgentCard({ ...call, tenant });
    });
  }

  async #answer<T>(options: RequestOptions | undefined, send: (call: StreamOptions) => Promise<Reply<T>>): Promise<T> {
    try {
      const { result } = await send(this.#call(options));
      return result;
    } catch (error) {
      throw error instanceof Refusal ? notSent(error) : sdkError(error);
    }
  }

  #events(options: RequestOptions | undefined, open: (call: StreamOptions) => EventStream): StreamResponses {
    try {
      return new StreamResponses(open(this.#call(options)));
    } catch (error) {
      return new StreamResponses(notSent(error));
    }
  }

  /** @throws {Refusal} `options.*` */
  #call(options: RequestOptions | undefined): StreamOptions {
    const { signal, serviceParameters } = checkRequestOptions(options);
    const { version, extensions, headers } = serviceParameters;
    if (version !== undefined && version !== this.protocolVersion) {
      throw refused('options.dialect', `A2A-Version is ${version}, but the agent's interface speaks ${this.protocolVersion}`);
    }
    const { dispatcher: _, limits, headers: ours, allowPlainTextResults, ...policy } = this.#policy;
    return {
      ...policy,
      ...limits,
      endpoint: this.#endpoint,
      protocolVersion: this.protocolVersion,
      ...(this.protocolVersion === '0.3' && { allowPlainTextResults }),
      extensions,
      // A call's own word for a header outranks what every call says.
      headers: { ...ours, ...headers },
      signal,
    };
  }
}
