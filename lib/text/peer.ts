/** `textPeer`: text in, text out. */
import { userText, type MessageInput } from '../dialect/request.js';
import { isObject } from '../dialect/values.js';
import { Refusal } from '../failure.js';
import { endpointOfAddress } from './address.js';
import { EndpointAgent, type TextAgent } from './endpoint_agent.js';
import { link, type Link } from './link.js';
import { notSent } from './not_sent.js';
import { checkNoOptions, checkTextOptions, checkTextSettings, type TextPeerOptions, type TextSettings } from './options.js';
import { replyOf, type TextReply } from './reply.js';
import { TextStream } from './text_stream.js';

/** A peer agent that is given text and answers with text. Keeps nothing of one call for the next. Nothing throws synchronously. */
export interface TextPeer extends AsyncDisposable {
  /**
   * Sends a text, and waits until the peer has ended the task, needs something, or answered with a message.
   * @throws {Failure} `text.failed` for a task that failed or was rejected; `text.empty` for an empty text
   */
  send(text: string, settings?: TextSettings): Promise<TextReply>;
  /** Sends a text, and streams the answer's text as it arrives. Lazy: see {@link TextStream}. */
  stream(text: string, settings?: TextSettings): TextStream;
  /**
   * Ends the calls that are under way (`canceled.signal`), and the connections of a dispatcher that is the peer's own: never the caller's.
   * Later calls are refused (`text.closed`). Idempotent.
   */
  close(): Promise<void>;
}

/**
 * A text peer at an address. Lazy: nothing is opened before the first call, and a wrong address or option is the same failure on every call.
 * @param address `a2a://host:port` for `http://host:port/invoke`, `a2as://…` for `https://…`; or the exact `http:` or `https:` endpoint
 */
export function textPeer(address: string | URL, options?: TextPeerOptions): TextPeer;
/** A text peer that calls a `RemoteAgent`, by whose own policy. `close()` leaves the agent as it is. */
export function textPeer(agent: TextAgent): TextPeer;
export function textPeer(target: unknown, options: unknown = {}): TextPeer {
  return new Peer(target, options);
}

/** @throws {Refusal} `text.address`, `options.*` */
function agentOf(target: unknown, options: unknown): TextAgent {
  if (isAgent(target)) {
    checkNoOptions(options);
    return target;
  }
  const endpoint = endpointOfAddress(target);
  return new EndpointAgent(endpoint, checkTextOptions(options));
}

function isAgent(target: unknown): target is TextAgent {
  return isObject(target) && typeof target['sendMessage'] === 'function' && typeof target['stream'] === 'function';
}

/** A call that may be made: nothing of it is the caller's any more but the signal. */
interface PreparedText {
  readonly agent: TextAgent;
  readonly message: MessageInput;
  readonly signal: AbortSignal | undefined;
}

class Peer implements TextPeer {
  readonly #agent: TextAgent | Refusal;
  /** Aborts when the peer is closed. */
  readonly #closing = new AbortController();

  constructor(target: unknown, options: unknown) {
    this.#agent = attempt(() => agentOf(target, options));
  }

  async send(text: string, settings: TextSettings = {}): Promise<TextReply> {
    let linked: Link | undefined;
    try {
      const { agent, message, signal } = this.#prepare(text, settings);
      linked = this.#link(signal);
      return replyOf(await agent.sendMessage(message, { signal: linked.signal }));
    } catch (error) {
      throw error instanceof Refusal ? notSent(error) : error;
    } finally {
      linked?.release();
    }
  }

  stream(text: string, settings: TextSettings = {}): TextStream {
    const prepared = attempt(() => this.#prepare(text, settings));
    return new TextStream(() => {
      if (prepared instanceof Refusal) throw prepared;
      const { agent, message, signal } = prepared;
      const linked = this.#link(signal);
      try {
        return { items: agent.stream(message, { signal: linked.signal })[Symbol.asyncIterator](), release: linked.release };
      } catch (error) {
        linked.release();
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#agent instanceof EndpointAgent) await this.#agent.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @throws {Refusal} */
  #prepare(text: string, settings: TextSettings): PreparedText {
    if (this.#closing.signal.aborted) throw new Refusal('text.closed');
    if (this.#agent instanceof Refusal) throw this.#agent;
    if (text === '') throw new Refusal('text.empty');
    const { taskId, contextId, signal } = checkTextSettings(settings);
    // The layer below says whether it can be sent.
    return { agent: this.#agent, message: { ...userText(text), taskId, contextId }, signal };
  }

  /** @throws {Refusal} `text.closed` */
  #link(signal: AbortSignal | undefined): Link {
    if (this.#closing.signal.aborted) throw new Refusal('text.closed');
    return link(this.#closing.signal, signal);
  }
}

/** What was refused is told by the call that was to be made of it. */
function attempt<T>(make: () => T): T | Refusal {
  try {
    return make();
  } catch (error) {
    // What is no refusal is an object of the caller's that throws when it is looked at.
    return error instanceof Refusal ? error : new Refusal('text.address', { reason: error });
  }
}
