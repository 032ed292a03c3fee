/** An agent at an exact endpoint: the calls of a `RemoteAgent` without its card. */
import type { ListTasksResponse, Task } from '@a2a-js/sdk';
import { StrictClient } from '../client.js';
import type { ProtocolVersion, SendMessageResult } from '../dialect/dialect.js';
import type { ListTasksInput, MessageInput, SendMessageInput } from '../dialect/request.js';
import { probeDialect, type ProbeOptions } from '../discovery/index.js';
import type { StreamOptions } from '../options.js';
import type { StreamItem } from '../stream.js';
import type { Reply } from '../unary.js';
import type { JsonValue } from '../wire/json.js';
import type { Dispatcher } from 'undici';

export interface Settings {
  readonly signal: AbortSignal;
}

export interface MessageSettings extends Settings {
  readonly configuration?: SendMessageInput['configuration'];
}

/** What the commands ask of an agent; a `RemoteAgent` is one. */
export interface CalledAgent {
  sendMessage(message: MessageInput, settings: MessageSettings): Promise<Reply<SendMessageResult>>;
  stream(message: MessageInput, settings: Settings): AsyncIterable<StreamItem>;
  subscribeToTask(id: string, settings: Settings): AsyncIterable<StreamItem>;
  getTask(id: string, historyLength: number | undefined, settings: Settings): Promise<Reply<Task>>;
  cancelTask(id: string, settings: Settings): Promise<Reply<Task>>;
  listTasks(params: ListTasksInput, settings: Settings): Promise<Reply<ListTasksResponse>>;
  rpcCall(method: string, params: JsonValue | undefined, version: undefined, settings: Settings): Promise<Reply<JsonValue>>;
}

export class ExactAgent implements CalledAgent {
  readonly #dispatcher: Dispatcher;
  readonly #client: StrictClient;
  readonly #options: Omit<StreamOptions, 'protocolVersion' | 'signal'>;
  readonly #dialect: ProtocolVersion | 'probe';

  /** @param dialect `probe`: the agent is asked before each call, by a request that has no effect */
  constructor(dispatcher: Dispatcher, options: Omit<StreamOptions, 'protocolVersion' | 'signal'>, dialect: ProtocolVersion | 'probe') {
    this.#dispatcher = dispatcher;
    this.#client = new StrictClient(dispatcher);
    this.#options = options;
    this.#dialect = dialect;
  }

  async sendMessage(message: MessageInput, { configuration, ...settings }: MessageSettings): Promise<Reply<SendMessageResult>> {
    return this.#client.sendMessage(await this.#for(settings), { message, configuration });
  }

  async *stream(message: MessageInput, settings: Settings): AsyncIterable<StreamItem> {
    yield* this.#client.sendStreamingMessage(await this.#for(settings), { message });
  }

  async *subscribeToTask(id: string, settings: Settings): AsyncIterable<StreamItem> {
    yield* this.#client.subscribeToTask(await this.#for(settings), { id });
  }

  async getTask(id: string, historyLength: number | undefined, settings: Settings): Promise<Reply<Task>> {
    return this.#client.getTask(await this.#for(settings), { id, historyLength });
  }

  async cancelTask(id: string, settings: Settings): Promise<Reply<Task>> {
    return this.#client.cancelTask(await this.#for(settings), { id });
  }

  async listTasks(params: ListTasksInput, settings: Settings): Promise<Reply<ListTasksResponse>> {
    return this.#client.listTasks(await this.#for(settings), params);
  }

  async rpcCall(method: string, params: JsonValue | undefined, _version: undefined, settings: Settings): Promise<Reply<JsonValue>> {
    return this.#client.call(await this.#for(settings), method, params);
  }

  async #for({ signal }: Settings): Promise<StreamOptions> {
    const options = { ...this.#options, signal };
    return { ...options, protocolVersion: await this.dialect(options) };
  }

  async dialect(options: ProbeOptions): Promise<ProtocolVersion> {
    return this.#dialect === 'probe' ? probeDialect(this.#dispatcher, options) : this.#dialect;
  }
}
