/**
 * The GET of a card: one response, judged as it comes. The clocks and the signal of a whole call are not in here: several may wait for it.
 */
import type { Dispatcher } from 'undici';
import { Refusal, type Failure } from '../failure.js';
import type { Endpoint } from '../policy/endpoint.js';
import { Body } from '../unary.js';
import { Exchange, type ExchangeListener } from '../wire/exchange.js';
import { checkFraming, isIdentity, mediaTypeOf, type ResponseHead } from '../wire/http.js';
import { decodeCard, type DecodedCard } from './card.js';
import { notSent, type Work } from './flight.js';
import type { ResponseHeaders, Validators } from './freshness.js';
import { urlOf, type CardLocation } from './location.js';
import type { CardPolicy } from './options.js';
import type { StoredCard } from './store.js';

/** A body and the card that it is. */
export interface CardContent {
  readonly bytes: Buffer;
  readonly decoded: DecodedCard;
}

/** A card that is kept, and may be confirmed. */
export interface KnownCard extends CardContent {
  readonly stored: StoredCard;
}

/** What came of a request. */
export interface CardResponse {
  readonly url: string;
  readonly headers: ResponseHeaders;
  /** When it was asked for, in milliseconds since 1970. */
  readonly requestedAt: number;
  readonly content: CardContent;
  /** The known card that the agent says still holds. */
  readonly confirmed: KnownCard | undefined;
}

/** `application/json`; `application/a2a+json` is what A2A 1.0 section 14.1 registers for its objects over HTTP. */
const MEDIA_TYPES = new Set(['application/json', 'application/a2a+json']);

/**
 * Agents that speak both dialects choose the shape of the card by the version that is asked for; without one they have to take the client
 * for an old one (A2A 1.0 section 3.6.2).
 */
const HEADERS = ['accept', [...MEDIA_TYPES].join(', '), 'accept-encoding', 'identity', 'a2a-version', '1.0'];

/** A fetch of a card: the well-known path, and where that is allowed and there is nothing there, the older one. */
export class CardRequest implements Work {
  readonly #dispatcher: Dispatcher;
  readonly #policy: CardPolicy;
  readonly #location: CardLocation;
  #exchange: Exchange | undefined;
  #stopped = false;

  constructor(dispatcher: Dispatcher, policy: CardPolicy, location: CardLocation) {
    this.#dispatcher = dispatcher;
    this.#policy = policy;
    this.#location = location;
  }

  /** The status of the newest response, if there was one. */
  get status(): number | undefined {
    return this.#exchange?.status;
  }

  failure(refusal: Refusal): Failure {
    return this.#exchange === undefined ? notSent(refusal) : this.#exchange.failure(refusal);
  }

  stop(): void {
    this.#stopped = true;
    this.#exchange?.stop();
  }

  /**
   * @param known what is kept: asked for conditionally, at the URL that it came from
   * @param force caches on the way are to ask the agent
   * @throws {Failure}; never settles once it was stopped
   */
  async send(known?: KnownCard, force = false): Promise<CardResponse> {
    const { card, legacy } = this.#location;
    try {
      return await this.#get(card, known, force);
    } catch (failure) {
      if (legacy === undefined || this.status !== 404) throw failure;
    }
    return this.#get(legacy, known, force);
  }

  #get(endpoint: Endpoint, known: KnownCard | undefined, force: boolean): Promise<CardResponse> {
    const url = urlOf(endpoint);
    const headers = [...HEADERS];
    const conditions = known?.stored.url === url ? conditionsOf(known.stored) : [];
    headers.push(...conditions);
    if (force) headers.push('cache-control', 'no-cache');
    for (const [name, value] of Object.entries(this.#policy.headers)) headers.push(name, value);
    return new Promise((resolve, reject) => {
      // Nobody waits any more.
      if (this.#stopped) return;
      const exchange: Exchange = new Exchange(
        { ...this.#policy, endpoint, signal: undefined, timeoutMs: undefined },
        new Listener(this.#policy.maxCardBytes, conditions.length > 0 ? known : undefined, reject, (content, confirmed) => {
          resolve({ url, headers: exchange.headers ?? {}, requestedAt, content, confirmed });
        }),
      );
      this.#exchange = exchange;
      const requestedAt = Date.now();
      exchange.send(this.#dispatcher, headers);
    });
  }
}

function conditionsOf({ etag, lastModified }: Validators): string[] {
  return [
    ...(etag === undefined ? [] : ['if-none-match', etag]),
    ...(lastModified === undefined ? [] : ['if-modified-since', lastModified]),
  ];
}

class Listener implements ExchangeListener {
  readonly #maxBytes: number;
  readonly #known: KnownCard | undefined;
  readonly #reject: (failure: Failure) => void;
  readonly #resolve: (content: CardContent, confirmed: KnownCard | undefined) => void;
  readonly #body: Body;
  #confirmed: KnownCard | undefined;

  /** @param known what was asked about */
  constructor(
    maxBytes: number,
    known: KnownCard | undefined,
    reject: (failure: Failure) => void,
    resolve: (content: CardContent, confirmed: KnownCard | undefined) => void,
  ) {
    this.#maxBytes = maxBytes;
    this.#known = known;
    this.#reject = reject;
    this.#resolve = resolve;
    this.#body = new Body(maxBytes);
  }

  head(head: ResponseHead): void {
    const isConfirmed = judgeCardHead(head, this.#known !== undefined, this.#maxBytes) === 'confirmed';
    if (isConfirmed) this.#confirmed = this.#known;
  }

  data(chunk: Buffer): void {
    if (!this.#body.add(chunk)) throw new Refusal('limit.response_bytes');
  }

  end(): void {
    if (this.#confirmed !== undefined) {
      this.#resolve(this.#confirmed, this.#confirmed);
      return;
    }
    const bytes = this.#body.whole();
    this.#resolve({ bytes, decoded: decodeCard(bytes) }, undefined);
  }

  failed(failure: Failure): void {
    this.#reject(failure);
  }

  // The exchange has neither a signal nor a total clock.
  interrupted(failure: Failure): void {
    this.#reject(failure);
  }
}

/**
 * Judges the head of a response to the GET of a card before anything of the body is read.
 * @returns whether it brings a card, or confirms the one that was asked about
 * @throws {Refusal} `http.malformed`, `http.redirect`, `http.status`, `http.content_type`, `http.content_encoding`, `limit.response_bytes`
 */
export function judgeCardHead(head: ResponseHead, conditional: boolean, maxCardBytes: number): 'card' | 'confirmed' {
  const { status, contentType, contentEncoding, contentLength } = head;
  checkFraming(head);
  if (status === 304 && conditional) return 'confirmed';
  if (status >= 300 && status < 400) throw new Refusal('http.redirect');
  if (status !== 200) throw new Refusal('http.status');
  const mediaType = mediaTypeOf(contentType);
  if (mediaType === undefined || !MEDIA_TYPES.has(mediaType)) throw new Refusal('http.content_type');
  if (!isIdentity(contentEncoding)) throw new Refusal('http.content_encoding');
  if (Number(contentLength[0] ?? 0) > maxCardBytes) throw new Refusal('limit.response_bytes');
  return 'card';
}
