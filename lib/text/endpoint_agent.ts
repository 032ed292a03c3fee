/** An agent at an exact endpoint, called through `StrictClient`. */
import { Agent, type Dispatcher } from 'undici';
import { StrictClient } from '../client.js';
import type { SendMessageResult } from '../dialect/dialect.js';
import type { MessageInput } from '../dialect/request.js';
import type { StreamItem } from '../stream.js';
import type { Reply } from '../unary.js';
import type { TextPolicy } from './options.js';

/** What a text peer asks of an agent; a `RemoteAgent` is one. */
export interface TextAgent {
  /** Sends a message and waits for the whole answer. */
  sendMessage(message: MessageInput, settings: { readonly signal: AbortSignal }): Promise<Reply<SendMessageResult>>;
  /** Sends a message and gives the events of the answer as they come. */
  stream(message: MessageInput, settings: { readonly signal: AbortSignal }): AsyncIterable<StreamItem>;
}

/** Opens nothing before its first call. */
export class EndpointAgent implements TextAgent {
  readonly #endpoint: string;
  readonly #policy: TextPolicy;
  #owned: Agent | undefined;
  #client: StrictClient | undefined;

  constructor(endpoint: string, policy: TextPolicy) {
    this.#endpoint = endpoint;
    this.#policy = policy;
  }

  sendMessage(message: MessageInput, { signal }: { readonly signal: AbortSignal }): Promise<Reply<SendMessageResult>> {
    return this.#strict().sendMessage({ ...this.#policy.call, endpoint: this.#endpoint, signal }, { message });
  }

  stream(message: MessageInput, { signal }: { readonly signal: AbortSignal }): AsyncIterable<StreamItem> {
    return this.#strict().sendStreamingMessage({ ...this.#policy.call, endpoint: this.#endpoint, signal }, { message });
  }

  async close(): Promise<void> {
    await this.#owned?.destroy();
  }

  #strict(): StrictClient {
    return (this.#client ??= new StrictClient(this.#policy.dispatcher ?? this.#own()));
  }

  #own(): Dispatcher {
    // The call's own clock is the only one.
    return (this.#owned = new Agent({ connect: { timeout: 0 } }));
  }
}
