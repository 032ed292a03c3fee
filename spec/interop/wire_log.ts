/** Keeps what went over the wire: the matrix tells what servers really send, and a surprise is reported with its bytes. */
import type { Dispatcher } from 'undici';

/** One request and what came back for it, as undici hands it on. */
export interface Exchange {
  /** The JSON-RPC method. */
  readonly method: string;
  /** Absent: no response head came. */
  status?: number;
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly chunks: Buffer[];
}

export interface WireLog {
  /** Requests of one peer, in the order in which they were made. */
  readonly exchanges: readonly Exchange[];
  /** Composed into a dispatcher, it writes this log. */
  readonly interceptor: Dispatcher.DispatcherComposeInterceptor;
}

export function wireLog(): WireLog {
  const exchanges: Exchange[] = [];
  return {
    exchanges,
    interceptor: (dispatch) => (options, handler) => {
      const exchange: Exchange = { method: methodOf(options.body), headers: {}, chunks: [] };
      exchanges.push(exchange);
      return dispatch(options, new Tap(handler, exchange));
    },
  };
}

/** Sends another value for a header that the client sets itself: a caller cannot, and so a server's answer to it would never be seen. */
export function withHeader(name: string, value: string): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const headers = Array.isArray(options.headers) ? options.headers.map(String) : [];
    const others = headers.filter((_, at) => headers[at - (at % 2)] !== name);
    return dispatch({ ...options, headers: [...others, name, value] }, handler);
  };
}

function methodOf(body: unknown): string {
  if (!Buffer.isBuffer(body)) return '';
  const request: unknown = JSON.parse(body.toString());
  return typeof request === 'object' && request !== null && 'method' in request ? String(request.method) : '';
}

/** Hands everything on as it is, and notes it. */
class Tap implements Dispatcher.DispatchHandler {
  readonly #to: Dispatcher.DispatchHandler;
  readonly #exchange: Exchange;

  constructor(to: Dispatcher.DispatchHandler, exchange: Exchange) {
    this.#to = to;
    this.#exchange = exchange;
  }

  onRequestStart(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestStart']>>): void {
    this.#to.onRequestStart?.(...given);
  }

  onRequestSent(): void {
    this.#to.onRequestSent?.();
  }

  onRequestUpgrade(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestUpgrade']>>): void {
    this.#to.onRequestUpgrade?.(...given);
  }

  onResponseStart(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    const [, status, headers] = given;
    this.#exchange.status = status;
    this.#exchange.headers = headers;
    this.#to.onResponseStart?.(...given);
  }

  onResponseData(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseData']>>): void {
    this.#exchange.chunks.push(Buffer.from(given[1]));
    this.#to.onResponseData?.(...given);
  }

  onResponseEnd(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    this.#to.onResponseEnd?.(...given);
  }

  onResponseError(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseError']>>): void {
    this.#to.onResponseError?.(...given);
  }
}
