/** `RemoteAgent`: one remote agent by its base URL, its card and its dialect handled. */
import type {
  AgentCard,
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  SendMessageRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { StrictClient } from '../client.js';
import type { ProtocolVersion, SendMessageResult, UnaryName, UnaryOperations } from '../dialect/dialect.js';
import {
  UNARY_REQUESTS,
  checkJsonParams,
  checkRequest,
  userText,
  type CreatePushNotificationConfigInput,
  type GetPushNotificationConfigInput,
  type ListPushNotificationConfigsInput,
  type ListTasksInput,
  type MessageInput,
} from '../dialect/request.js';
import { AgentCardCache, selectInterface, type FetchedCard, type SelectedInterface } from '../discovery/index.js';
import { Failure, Refusal } from '../failure.js';
import type { CallInterceptor } from '../interceptor.js';
import type { CallOptions, StreamOptions } from '../options.js';
import { endpointOf, type Endpoint } from '../policy/endpoint.js';
import type { Reply } from '../unary.js';
import type { JsonValue } from '../wire/json.js';
import { BoundHeaders, authorizationOf, type Authorization } from './credentials.js';
import { follow } from './follow.js';
import {
  checkAgentOptions,
  checkCallSettings,
  checkFollowSettings,
  checkSendSettings,
  checkTimeout,
  type AgentCallSettings,
  type AgentPolicy,
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

/** What may change between calls. A call takes it as it is at its start. */
interface Settings {
  readonly authorization: Authorization | undefined;
  readonly allowCrossOriginInterfaces: true | undefined;
  readonly timeoutMs: number | undefined;
  readonly connectTimeoutMs: number | undefined;
}

/** One call: what it may use, from when it began. */
interface Attempt extends Settings {
  readonly signal: AbortSignal | undefined;
  readonly startedAt: number;
}

/** Where a call goes. */
interface Target {
  readonly card: AgentCard;
  readonly selected: SelectedInterface;
}

/** A card that came without a word of how long it is fresh is asked about again after so long, in milliseconds. */
const KEEP_MS = 5 * 60 * 1000;

/**
 * One remote agent. Safe to share: each call takes the settings as they are at its start. The card is fetched before the first call, and again
 * when it is no longer fresh. Every call gives the exact answer or rejects with one {@link Failure}.
 */
export class RemoteAgent {
  readonly #base: Endpoint;
  readonly #baseUrl: string;
  readonly #policy: AgentPolicy;
  readonly #client: StrictClient;
  readonly #cache: AgentCardCache;
  readonly #headers: BoundHeaders;
  #settings: Settings;
  /** What was selected last, and from what. */
  #selection: (Target & Pick<Settings, 'allowCrossOriginInterfaces'>) | undefined;
  #fetches = 0;
  #kept: { readonly order: number; readonly fetched: FetchedCard; readonly authorization: Authorization | undefined; readonly until: number } | undefined;

  /**
   * @param baseUrl the agent's base URL, below which its card is, or the URL of its card
   * @throws {Failure} `options.*`
   */
  constructor(baseUrl: string | URL, options: RemoteAgentOptions) {
    try {
      this.#base = endpointOf(baseUrl);
      const { headers, ...policy } = checkAgentOptions(options);
      const { authorization = '', ...others } = headers;
      this.#policy = { ...policy, headers: others };
      this.#headers = new BoundHeaders(this.#base.origin, others, policy.secretHeaders);
      this.#settings = {
        authorization: authorization === '' ? undefined : { value: authorization, origin: this.#base.origin },
        allowCrossOriginInterfaces: policy.allowCrossOriginInterfaces,
        timeoutMs: policy.timeoutMs,
        connectTimeoutMs: policy.connectTimeoutMs,
      };
    } catch (error) {
      throw notSent(error);
    }
    this.#baseUrl = this.#base.origin + this.#base.target;
    this.#client = new StrictClient(this.#policy.dispatcher);
    this.#cache = this.#policy.cache ?? new AgentCardCache();
  }

  // ---- Settings, from the next call on ----

  /**
   * The `authorization` header of the calls from now on; an empty value clears it.
   * @param origin the one origin that may see it; the base URL's where absent. A call that goes to another is refused (`agent.authorization`).
   * @throws {Failure} `options.headers`, `options.endpoint`
   */
  setAuthorizationHeader(value: string, origin: string = this.#base.origin): void {
    this.#set(() => {
      const { authorization: before } = this.#settings;
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
    try {
      this.#settings = { ...this.#settings, ...change() };
    } catch (error) {
      throw notSent(error);
    }
  }

  // ---- What is known of the agent ----

  /**
   * The agent's card in the SDK's 1.x shape; frozen. Its words are the agent's own.
   * @param force asks the agent, however fresh the card is that is kept
   */
  async agentCard(force = false): Promise<AgentCard> {
    return (await this.#card(this.#begin(undefined), force)).card;
  }

  /** The exact URL that calls go to. */
  async endpointUrl(): Promise<string> {
    return (await this.#target(this.#begin(undefined))).selected.endpoint;
  }

  /** The dialect that is spoken. */
  async wireDialect(): Promise<ProtocolVersion> {
    return (await this.#target(this.#begin(undefined))).selected.protocolVersion;
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
      return async (stopped) => this.#client.sendStreamingMessage(await this.#streamOptions(signal, stopped, activated), params);
    });
  }

  /** Streams what becomes of a task that exists. */
  subscribeToTask(id: string, settings: AgentCallSettings = {}): TaskStream {
    return this.#stream((activated) => {
      const { signal } = checked(checkCallSettings, settings);
      return async (stopped) => this.#client.subscribeToTask(await this.#streamOptions(signal, stopped, activated), { id });
    });
  }

  /**
   * Streams what becomes of a task until it ends, or waits for input or authorization. Where the stream fails as `unavailable`, the task is
   * looked at and subscribed to again, after a while that grows and that a `retry-after` may lengthen; no message is ever sent again. Each
   * subscription starts with the task as it stands.
   */
  follow(id: string, settings: FollowSettings = {}): TaskStream {
    return this.#stream((activated) => {
      const { signal, ...patience } = checked(checkFollowSettings, settings);
      return (stopped) => {
        const either = signal === undefined ? stopped : AbortSignal.any([signal, stopped]);
        // One clock goes over all of it.
        const { startedAt } = this.#begin(undefined);
        const following = {
          subscribe: async () => this.#client.subscribeToTask(await this.#streamOptions(either, stopped, activated, startedAt), { id }),
          getTask: () => this.#unary(either, (options) => this.#client.getTask(options, { id }), startedAt),
          timeLeft: () => timeLeft({ ...this.#begin(either), startedAt }),
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
      const { allowPlainTextResults } = this.#policy;
      return this.#client.call(
        { ...options, protocolVersion: spoken, allowPlainTextResults: spoken === '0.3' ? allowPlainTextResults : undefined },
        method,
        copy,
      );
    });
  }

  // ---- How a call is made ----

  #begin(signal: AbortSignal | undefined, startedAt = performance.now()): Attempt {
    return { ...this.#settings, signal, startedAt };
  }

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
    const options = await this.#options(this.#begin(signal, startedAt), activated);
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
    return new TaskStream(open, this.#policy.limits.maxTaskBytes, activated);
  }

  /** @param stopped the consumer has left before the stream began */
  async #streamOptions(
    signal: AbortSignal | undefined,
    stopped: AbortSignal,
    activated: string[],
    startedAt?: number,
  ): Promise<StreamOptions> {
    const { maxEventBytes, maxStreamBytes, maxStreamEvents } = this.#policy.limits;
    const either = signal === undefined ? stopped : AbortSignal.any([signal, stopped]);
    const options = await this.#options(this.#begin(either, startedAt), activated);
    return { ...options, signal, maxEventBytes, maxStreamBytes, maxStreamEvents, eventIds: this.#policy.eventIds };
  }

  async #options(attempt: Attempt, activated: string[]): Promise<CallOptions> {
    const { card, selected } = await this.#target(attempt).catch((error: unknown) => {
      // What became of the card's request: the call itself has not been sent.
      throw error instanceof Failure ? unsent(error) : error;
    });
    const { endpoint, protocolVersion, tenant } = selected;
    const { limits, interceptors, idleTimeoutMs, secretHeaders, allowCleartextCredentials, allowPlainTextResults } = this.#policy;
    const extensions = this.#extensionsFor(card);
    const headers = refusing(() => this.#headers.forCall(new URL(endpoint).origin, attempt.authorization));
    return {
      endpoint,
      protocolVersion,
      maxResponseBytes: limits.maxResponseBytes,
      maxRequestBytes: limits.maxRequestBytes,
      headers,
      extensions,
      ...(tenant !== '' && { tenant }),
      ...(protocolVersion === '0.3' && { allowPlainTextResults }),
      interceptors: extensions.length === 0 ? interceptors : [watchExtensions(extensions, activated), ...interceptors],
      signal: attempt.signal,
      connectTimeoutMs: attempt.connectTimeoutMs,
      timeoutMs: timeLeft(attempt),
      idleTimeoutMs,
      secretHeaders,
      allowCleartextCredentials,
    };
  }

  #extensionsFor({ capabilities }: AgentCard): readonly string[] {
    const { extensions, forceExtensions } = this.#policy;
    if (forceExtensions === true) return extensions;
    const listed = new Set(capabilities?.extensions.map(({ uri }) => uri));
    return extensions.filter((uri) => listed.has(uri));
  }

  async #target(attempt: Attempt): Promise<Target> {
    const { card } = await this.#card(attempt, false);
    const { protocolVersions } = this.#policy;
    const { allowCrossOriginInterfaces } = attempt;
    // Of the same card the same is selected: a card may list thousands of interfaces.
    if (this.#selection?.card !== card || this.#selection.allowCrossOriginInterfaces !== allowCrossOriginInterfaces) {
      const selected = selectInterface(card, { baseUrl: this.#baseUrl, allowCrossOriginInterfaces, protocolVersions });
      this.#selection = { card, allowCrossOriginInterfaces, selected };
    }
    return this.#selection;
  }

  async #card(attempt: Attempt, force: boolean): Promise<FetchedCard> {
    const { authorization } = attempt;
    // Keys are asked each time that a card is used: a key may be withdrawn.
    if (!force && this.#policy.verify === undefined && this.#kept !== undefined && this.#kept.authorization === authorization && Date.now() < this.#kept.until) {
      return this.#kept.fetched;
    }
    const { dispatcher, limits, cardPath, allowLegacyCardPath, verify, idleTimeoutMs, secretHeaders, allowCleartextCredentials } = this.#policy;
    const order = ++this.#fetches;
    const asked = this.#cache.get(dispatcher, this.#baseUrl, {
      maxCardBytes: limits.maxCardBytes,
      cardPath,
      allowLegacyCardPath,
      verify,
      headers: this.#headers.forCard(this.#base.origin, authorization),
      signal: attempt.signal,
      connectTimeoutMs: attempt.connectTimeoutMs,
      timeoutMs: timeLeft(attempt),
      idleTimeoutMs,
      secretHeaders,
      allowCleartextCredentials,
      force: force ? true : undefined,
    });
    let fetched: FetchedCard;
    try {
      fetched = await asked;
    } catch (error) {
      // The agent has no good card any more.
      if (error instanceof Failure && error.kind === 'protocol') this.#kept = undefined;
      throw error;
    }
    // One that was asked for earlier, and came later, says nothing newer.
    if (order > (this.#kept?.order ?? 0)) this.#kept = { order, fetched, authorization, until: fetched.freshUntil ?? Date.now() + KEEP_MS };
    return fetched;
  }
}

function unsent(failure: Failure): Failure {
  const { rule, status, code, path, retryAfterMs } = failure;
  return new Failure(rule, { delivery: 'not_sent', status, code, path, retryAfterMs, cause: failure.unwrap() });
}

/** What is left of a call's time. @throws {Failure} `deadline.total` */
function timeLeft({ timeoutMs, startedAt }: Attempt): number | undefined {
  if (timeoutMs === undefined) return undefined;
  const left = Math.ceil(timeoutMs - (performance.now() - startedAt));
  if (left < 1) throw new Failure('deadline.total', { delivery: 'not_sent' });
  return left;
}

/** What the agent says it has activated, of what it was asked for: nothing else of its words is handed on. */
function watchExtensions(asked: readonly string[], activated: string[]): CallInterceptor {
  return {
    after: ({ headers }) => {
      const said = [headers?.['a2a-extensions'], headers?.['x-a2a-extensions']].flat();
      const uris = new Set(said.flatMap((value) => value?.split(',') ?? []).map((uri) => uri.trim()));
      activated.splice(0, activated.length, ...asked.filter((uri) => uris.has(uri)));
    },
  };
}

/** Reads what the caller gave, once. @throws {Failure} `options.*`, `request.params` */
function readSend(input: string | MessageInput, settings: SendSettings): { signal: AbortSignal | undefined; params: SendMessageRequest } {
  return refusing(() => {
    const { signal, taskId, contextId, configuration, metadata } = checkSendSettings(settings);
    const message = messageOf(input, { taskId, contextId });
    return { signal, params: checkRequest(UNARY_REQUESTS.sendMessage, { message, configuration, metadata }) };
  });
}

/** What is no message is refused with the rest of the request. @throws {Refusal} `request.params` */
function messageOf(input: string | MessageInput, ids: Pick<MessageInput, 'taskId' | 'contextId'>): MessageInput {
  let message: MessageInput;
  try {
    message = typeof input === 'string' ? userText(input) : { ...input };
  } catch (reason) {
    throw new Refusal('request.params', { path: 'message', reason });
  }
  for (const name of ['taskId', 'contextId'] as const) {
    const id = ids[name];
    if (id === undefined) continue;
    if ((message[name] ?? '') !== '' && message[name] !== id) throw new Refusal('request.params', { path: `message.${name}` });
    message = { ...message, [name]: id };
  }
  return message;
}

/** @throws {Failure} of a call that was not sent */
function checked<T>(check: (options: unknown) => T, options: unknown): T {
  return refusing(() => check(options));
}

function refusing<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw notSent(error);
  }
}

function notSent(error: unknown): unknown {
  return error instanceof Refusal ? new Failure(error.rule, { delivery: 'not_sent', path: error.path, cause: error.reason }) : error;
}
