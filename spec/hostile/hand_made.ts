/** Dispatchers of no make: each does with the handler what the test says, in whatever order. */
import type { Dispatcher } from 'undici';

export type Handler = Required<Pick<Dispatcher.DispatchHandler, 'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd' | 'onResponseError'>> &
  Dispatcher.DispatchHandler & { onRequestSent(): void };

/** A controller that notes what is asked of it. */
export class NotedController implements Dispatcher.DispatchController {
  readonly asked: string[] = [];
  aborted = false;
  paused = false;
  reason: Error | null = null;
  rawHeaders: Buffer[] | null = null;
  rawTrailers: Buffer[] | null = null;

  abort(reason: Error): void {
    this.asked.push('abort');
    this.aborted = true;
    this.reason = reason;
  }

  pause(): void {
    this.asked.push('pause');
    this.paused = true;
  }

  resume(): void {
    this.asked.push('resume');
    this.paused = false;
  }
}

/** What a hand-made dispatcher has at hand. */
export class Play {
  readonly handler: Handler;
  readonly options: Dispatcher.DispatchOptions;
  readonly controller = new NotedController();
  /** The JSON-RPC id of the request. */
  readonly id: string;

  constructor(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    this.options = options;
    this.handler = handler as Handler;
    this.id = (JSON.parse((options.body as Buffer).toString()) as { id: string }).id;
  }

  start(): this {
    this.handler.onRequestStart(this.controller, null);
    return this;
  }

  sent(): this {
    this.handler.onRequestSent();
    return this;
  }

  head(status = 200, headers: Record<string, string> = { 'content-type': 'application/json' }): this {
    this.handler.onResponseStart(this.controller, status, headers, 'Whatever');
    return this;
  }

  data(text: string): this {
    this.handler.onResponseData(this.controller, Buffer.from(text));
    return this;
  }

  end(): this {
    this.handler.onResponseEnd(this.controller, {});
    return this;
  }

  error(error: Error = new Error('of the dispatcher')): this {
    this.handler.onResponseError(this.controller, error);
    return this;
  }
}

export type Script = (play: Play) => unknown;

/** A dispatcher that is nothing but its `dispatch`, which runs the script and gives what the script gives. */
export function handMade(script: Script): Dispatcher {
  return {
    dispatch: (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => script(new Play(options, handler)),
  } as unknown as Dispatcher;
}
