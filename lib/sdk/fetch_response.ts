/** One exchange of `strictFetch`, from the request to its `Response`. */
import type { Dispatcher } from 'undici';
import { Refusal, type Failure } from '../failure.js';
import { Body } from '../unary.js';
import { Exchange, type ExchangeListener } from '../wire/exchange.js';
import { checkFraming, isIdentity, mediaTypeOf, type ResponseHead } from '../wire/http.js';
import { EventsBody } from './fetch_events.js';
import type { FetchRequest } from './fetch_request.js';

export function fetchResponse(dispatcher: Dispatcher, request: FetchRequest): Promise<Response> {
  return new Promise((resolve, reject) => {
    new FetchCall(request, resolve, reject).start(dispatcher);
  });
}

/** What there is no body to, by the status alone: `Response` takes none for them. */
const WITHOUT_BODY = new Set([204, 205]);

class FetchCall implements ExchangeListener {
  readonly #request: FetchRequest;
  readonly #exchange: Exchange;
  readonly #body: Body;
  /** The body, where it is an event stream. */
  #events: EventsBody | undefined;
  #status = 0;
  /** What waits for the response; nothing, once it has it: whoever holds this call would hold the response too. */
  #waiting: { readonly resolve: (response: Response) => void; readonly reject: (failure: Failure) => void } | undefined;

  constructor(request: FetchRequest, resolve: (response: Response) => void, reject: (failure: Failure) => void) {
    this.#request = request;
    this.#waiting = { resolve, reject };
    this.#exchange = new Exchange(request, this);
    this.#body = new Body(request.maxResponseBytes);
  }

  start(dispatcher: Dispatcher): void {
    this.#exchange.open();
    if (this.#exchange.over) return;
    const { method, headers, body } = this.#request;
    const all = ['accept-encoding', 'identity'];
    for (const [name, value] of Object.entries(headers)) all.push(name, value);
    this.#exchange.send(dispatcher, all, body, method);
  }

  head(head: ResponseHead): void {
    judge(head);
    const { wantsEvents, maxResponseBytes, maxStreamBytes } = this.#request;
    this.#status = head.status;
    // Nobody who asked for anything else reads it bit by bit; and an error is read whole, whatever it is.
    if (wantsEvents && head.status === 200 && mediaTypeOf(head.contentType) === 'text/event-stream') {
      this.#events = new EventsBody(this.#exchange, maxStreamBytes);
      this.#respond(this.#events.stream());
    } else if (Number(head.contentLength[0] ?? 0) > maxResponseBytes) {
      throw new Refusal('limit.response_bytes');
    }
  }

  data(chunk: Buffer): void {
    if (this.#events !== undefined) this.#events.push(chunk);
    else if (!this.#body.add(chunk)) throw new Refusal('limit.response_bytes');
  }

  end(): void {
    if (this.#events === undefined) {
      const bytes = this.#body.whole();
      const isWithout = WITHOUT_BODY.has(this.#status);
      if (isWithout && bytes.length > 0) throw new Refusal('http.malformed');
      // A copy in a buffer of its own, of the one kind that `Response` is sure to take.
      this.#respond(isWithout ? null : new Uint8Array(bytes));
    }
    this.#exchange.close();
    this.#events?.end(undefined);
  }

  failed(failure: Failure): void {
    this.#exchange.close();
    this.#events?.end(failure);
    this.#reject(failure);
  }

  interrupted(failure: Failure): void {
    this.#exchange.close();
    this.#events?.abort(failure);
    this.#reject(failure);
  }

  #respond(body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null): void {
    const headers = headersOf(this.#exchange.headers ?? {});
    const response = new Response(body, { status: this.#status, headers });
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(response);
  }

  #reject(failure: Failure): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(failure);
  }
}

/**
 * What holds for an answer of any kind. What else its status and its media type mean is for whoever called to say.
 * @throws {Refusal} `http.malformed`, `http.redirect`, `http.status`, `http.content_encoding`
 */
function judge(head: ResponseHead): void {
  checkFraming(head);
  if (head.status >= 300 && head.status < 400) throw new Refusal('http.redirect');
  // `Response` has no others.
  if (head.status > 599) throw new Refusal('http.status');
  if (!isIdentity(head.contentEncoding)) throw new Refusal('http.content_encoding');
}

/** @throws {Refusal} `http.malformed` */
function headersOf(given: Exclude<Exchange['headers'], undefined>): Headers {
  const headers = new Headers();
  try {
    for (const [name, value] of Object.entries(given)) {
      for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one);
    }
  } catch (reason) {
    throw new Refusal('http.malformed', { reason });
  }
  return headers;
}
