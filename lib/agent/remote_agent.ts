/** `RemoteAgent`: one remote agent by its base URL, its card and its dialect handled. */
import type { AgentCard, ListTaskPushNotificationConfigsResponse, ListTasksResponse, Task, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { StrictClient } from '../client.js';
import type { ProtocolVersion, SendMessageResult, UnaryName, UnaryOperations } from '../dialect/dialect.js';
import {
  UNARY_REQUESTS,
  checkJsonParams,
  checkRequest,
  type CreatePushNotificationConfigInput,
  type GetPushNotificationConfigInput,
  type ListPushNotificationConfigsInput,
  type ListTasksInput,
  type MessageInput,
} from '../dialect/request.js';
import { Refusal } from '../failure.js';
import type { CallOptions } from '../options.js';
import { endpointOf } from '../policy/endpoint.js';
import type { Reply } from '../unary.js';
import type { JsonValue } from '../wire/json.js';
import { Connection, timeLeft, type Settings } from './connection.js';
import { authorizationOf } from './credentials.js';
import { follow } from './follow.js';
import { checked, readSend, refusing } from './given.js';
import {
  checkCallSettings,
  checkFollowSettings,
  checkTimeout,
  type AgentCallSettings,
  type FollowSettings,
  type RemoteAgentOptions,
  type SendSettings,
} from './options.js';
import { taskOf } from './task_assembly.js';
import { TaskStream, type ItemSource } from './task_stream.js';

/** The exact answer to a call, and which of the extensions that were asked for the agent says it has activated. */
export interface AgentReply<T> extends Reply<T> {
  readonly extensions: readonly string[];
}

/**
 * One remote agent. Safe to share: each call takes the settings as they are at its start. The card is fetched before the first call, and again
 * when it is no longer fresh. Every call gives the exact answer or rejects with one `Failure`.
 */
export class RemoteAgent {
  readonly #connection: Connection;
  readonly #client: StrictClient;

  /**
   * @param baseUrl the agent's base URL, below which its card is, or the URL of its card
   * @throws {Failure} `options.*`
   */
  constructor(baseUrl: string | URL, options: RemoteAgentOptions) {
    this.#connection = refusing(() => new Connection(baseUrl, options));
    this.#client = new StrictClient(this.#connection.policy.dispatcher);
  }

  // ---- Settings, from the next call on ----

  /**
   * The `authorization` header of the calls from now on; an empty value clears it.
   * @param origin the one origin that may see it; the base URL's where absent. A call that goes to another is refused (`agent.authorization`).
   * @throws {Failure} `options.headers`, `options.endpoint`
   */
  setAuthorizationHeader(value: string, origin: string = this.#connection.base.origin): void {
    this.#set(() => {
      const { authorization: before } = this.#connection.settings;
      const authorization = authorizationOf(value, endpointOf(origin).origin);
      // The same once more: the card that was fetched with it still counts.
      const isSame = authorization?.value === before?.value && authorization?.origin === before?.origin;
      return isSame ? {} : { authorization };
    });
  }

  /** Whether the agent's card may send calls to another origin than that of the base URL. */
  setAllowCrossOriginInterfaces(allow: boolean): void {
    this.#set(() => {
      // A word such as 'false' is not to open what is shut.
      if (typeof allow !== 'boolean') throw new Refusal('options.endpoint', { path: 'allowCrossOriginInterfaces' });
      return { allowCrossOriginInterfaces: allow ? true : undefined };
    });
  }

  /**
   * One call with all that it takes, the card included, in whole milliseconds (`deadline.total`). None by default; zero removes it.
   * @throws {Failure} `options.time`
   */
  setTimeout(ms: number): void {
    this.#set(() => ({ timeoutMs: checkTimeout(ms) }));
  }

  /**
   * From each dispatch until its request can be written, in whole milliseconds (`deadline.connect`). 30,000 by default; zero removes it.
   * @throws {Failure} `options.time`
   */
  setConnectTimeout(ms: number): void {
    this.#set(() => ({ connectTimeoutMs: checkTimeout(ms) }));
  }

  #set(change: () => Partial<Settings>): void {
    this.#connection.set(refusing(change));
  }

  // ---- What is known of the agent ----

  /**
   * The agent's card in the SDK's 1.x shape; frozen. Its words are the agent's own.
   * @param force asks the agent, however fresh the card is that is kept
   */
  async agentCard(force = false): Promise<AgentCard> {
    return (await this.#connection.card(this.#connection.begin(undefined), force)).card;
  }

  /** The exact URL that calls go to. */
  async endpointUrl(): Promise<string> {
    return (await this.#connection.target(this.#connection.begin(undefined))).selected.endpoint;
  }

  /** The dialect that is spoken. */
  async wireDialect(): Promise<ProtocolVersion> {
    return (await this.#connection.target(this.#connection.begin(undefined))).selected.protocolVersion;
  }

  // ---- Calls ----

  /** Sends a message; the answer is a task. An agent that answers with a message gives a completed task with that message in its history. */
  async send(input: string | MessageInput, settings: SendSettings = {}): Promise<AgentReply<Task>> {
    const { result, raw, extensions } = await this.sendMessage(input, settings);
    return { result: taskOf(result), raw, extensions };
  }

  /** Sends a message; the answer is a task or a message. */
  async sendMessage(input: string | MessageInput, settings: SendSettings = {}): Promise<AgentReply<SendMessageResult>> {
    const { signal, params } = readSend(input, settings);
    return this.#unary(signal, (options) => this.#client.sendMessage(options, params));
  }

  /** Sends a message and streams what becomes of it. */
  stream(input: string | MessageInput, settings: SendSettings = {}): TaskStream {
    return this.#stream((activated) => {
      const { signal, params } = readSend(input, settings);
      return async (stopped) => this.#client.sendStreamingMessage(await this.#connection.streamOptions(signal, stopped, activated), params);
    });
  }

  /** Streams what becomes of a task that exists. */
  subscribeToTask(id: string, settings: AgentCallSettings = {}): TaskStream {
    return this.#stream((activated) => {
      const { signal } = checked(checkCallSettings, settings);
      return async (stopped) => this.#client.subscribeToTask(await this.#connection.streamOptions(signal, stopped, activated), { id });
    });
  }

  /**
   * Streams what becomes of a task until it ends, or until the agent closes the stream of one that waits for input or authorization: the
   * official JavaScript server keeps such a stream open. Where the stream fails as `unavailable`, the task is looked at and subscribed to again,
   * after a while that grows and that a `retry-after` may lengthen; no message is ever sent again. Each subscription starts with the task as it
   * stands.
   */
  follow(id: string, settings: FollowSettings = {}): TaskStream {
    return this.#stream((activated) => {
      const { signal, ...patience } = checked(checkFollowSettings, settings);
      return (stopped) => {
        const either = signal === undefined ? stopped : AbortSignal.any([signal, stopped]);
        // One clock goes over all of it.
        const { startedAt } = this.#connection.begin(undefined);
        const following = {
          subscribe: async () => this.#client.subscribeToTask(await this.#connection.streamOptions(either, stopped, activated, startedAt), { id }),
          getTask: () => this.#unary(either, (options) => this.#client.getTask(options, { id }), startedAt),
          timeLeft: () => timeLeft({ ...this.#connection.begin(either), startedAt }),
        };
        return Promise.resolve(follow(following, patience, either));
      };
    });
  }

  /**
   * The current state of a task.
   * @param historyLength how many of the latest messages to include; 0 for none
   */
  getTask(id: string, historyLength?: number, settings: AgentCallSettings = {}): Promise<AgentReply<Task>> {
    return this.#call('getTask', { id, historyLength }, settings, (options, asked) => this.#client.getTask(options, asked));
  }

  /** Asks the agent to cancel a task; the answer is the task as it then is. */
  cancelTask(id: string, settings: AgentCallSettings = {}): Promise<AgentReply<Task>> {
    return this.#call('cancelTask', { id }, settings, (options, asked) => this.#client.cancelTask(options, asked));
  }

  /** A page of tasks; 1.0 alone (`options.operation`). */
  listTasks(params: ListTasksInput = {}, settings: AgentCallSettings = {}): Promise<AgentReply<ListTasksResponse>> {
    return this.#call('listTasks', params, settings, (options, asked) => this.#client.listTasks(options, asked));
  }

  /** Asks the agent to push a task's updates to a URL. */
  createTaskPushNotificationConfig(
    params: CreatePushNotificationConfigInput,
    settings: AgentCallSettings = {},
  ): Promise<AgentReply<TaskPushNotificationConfig>> {
    return this.#call('createTaskPushNotificationConfig', params, settings, (options, asked) =>
      this.#client.createTaskPushNotificationConfig(options, asked),
    );
  }

  /** One push config of a task. */
  getTaskPushNotificationConfig(
    params: GetPushNotificationConfigInput,
    settings: AgentCallSettings = {},
  ): Promise<AgentReply<TaskPushNotificationConfig>> {
    return this.#call('getTaskPushNotificationConfig', params, settings, (options, asked) =>
      this.#client.getTaskPushNotificationConfig(options, asked),
    );
  }

  /** The push configs of a task. */
  listTaskPushNotificationConfigs(
    params: ListPushNotificationConfigsInput,
    settings: AgentCallSettings = {},
  ): Promise<AgentReply<ListTaskPushNotificationConfigsResponse>> {
    return this.#call('listTaskPushNotificationConfigs', params, settings, (options, asked) =>
      this.#client.listTaskPushNotificationConfigs(options, asked),
    );
  }

  /** Deletes a push config. */
  deleteTaskPushNotificationConfig(params: GetPushNotificationConfigInput, settings: AgentCallSettings = {}): Promise<AgentReply<undefined>> {
    return this.#call('deleteTaskPushNotificationConfig', params, settings, (options, asked) =>
      this.#client.deleteTaskPushNotificationConfig(options, asked),
    );
  }

  /** The card that the agent shows to those it has authenticated. */
  async getExtendedAgentCard(settings: AgentCallSettings = {}): Promise<AgentReply<AgentCard>> {
    const { signal } = checked(checkCallSettings, settings);
    return this.#unary(signal, (options) => this.#client.getExtendedAgentCard(options));
  }

  /**
   * Calls any JSON-RPC method at the agent's endpoint, sent verbatim. The result is I-JSON and nothing more.
   * @param protocolVersion the dialect to say it is in; that of the card where absent
   */
  async rpcCall(
    method: string,
    params?: JsonValue,
    protocolVersion?: ProtocolVersion,
    settings: AgentCallSettings = {},
  ): Promise<AgentReply<JsonValue>> {
    const { signal } = checked(checkCallSettings, settings);
    const copy = checked(checkJsonParams, params);
    return this.#unary(signal, ({ tenant: _, ...options }) => {
      const spoken = protocolVersion ?? options.protocolVersion;
      const { allowPlainTextResults } = this.#connection.policy;
      return this.#client.call(
        { ...options, protocolVersion: spoken, allowPlainTextResults: spoken === '0.3' ? allowPlainTextResults : undefined },
        method,
        copy,
      );
    });
  }

  // ---- How a call is made ----

  /** What the caller gave is read now, and never again. */
  async #call<N extends UnaryName>(
    name: N,
    params: unknown,
    settings: AgentCallSettings,
    send: (options: CallOptions, asked: UnaryOperations[N][0]) => Promise<Reply<UnaryOperations[N][1]>>,
  ): Promise<AgentReply<UnaryOperations[N][1]>> {
    const { signal } = checked(checkCallSettings, settings);
    const asked = refusing(() => checkRequest<UnaryOperations[N][0]>(UNARY_REQUESTS[name], params));
    return this.#unary(signal, (options) => send(options, asked));
  }

  async #unary<T>(
    signal: AbortSignal | undefined,
    send: (options: CallOptions) => Promise<Reply<T>>,
    startedAt?: number,
  ): Promise<AgentReply<T>> {
    const activated: string[] = [];
    const options = await this.#connection.options(this.#connection.begin(signal, startedAt), activated);
    const { result, raw } = await send(options);
    return { result, raw, extensions: activated };
  }

  /** Nothing throws synchronously, and what the caller gave is read now. */
  #stream(prepare: (activated: string[]) => (stopped: AbortSignal) => Promise<ItemSource>): TaskStream {
    const activated: string[] = [];
    let open: (stopped: AbortSignal) => Promise<ItemSource>;
    try {
      open = prepare(activated);
    } catch (error) {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- it is a failure of ours
      open = () => Promise.reject(error);
    }
    return new TaskStream(open, this.#connection.policy.limits.maxTaskBytes, activated);
  }
}
