/** `pipeToSse`: a text stream, proxied to a browser as server-sent events. */
import type { ServerResponse } from 'node:http';
import * as v from 'valibot';
import { TaskState } from '@a2a-js/sdk';
import { Refusal, failureOf, type Failure } from '../failure.js';
import { optionChecker } from '../policy/checker.js';
import { none, time } from '../policy/http.js';
import { notSent } from './not_sent.js';
import { KEEP_ALIVE, LineBreaks, sseEvent, sseMark } from './sse_format.js';
import type { TextStream } from './text_stream.js';

/** How a text is passed on to a browser. */
export interface PipeToSseOptions {
  /**
   * How often a comment is sent, so that nobody between takes the connection for dead: in whole milliseconds (`options.time`). Absent:
   * 15,000.
   */
  readonly keepAliveMs?: number | undefined;
  /** Each chunk is sent as a JSON string, exact to the last CR. Absent: as text, in which CR and CRLF arrive as LF. */
  readonly json?: true | undefined;
}

interface SsePolicy {
  readonly keepAliveMs: number;
  readonly json: true | undefined;
}

const checkOptions = optionChecker<SsePolicy>({
  keepAliveMs: ['options.time', v.optional(time, 15_000)],
  json: ['options.unknown', v.optional(v.literal(true), none)],
});

/**
 * Sends a text stream as `text/event-stream`: to an `EventSource`, or to whatever else reads it.
 *
 * - One `message` event a chunk, its lines one `data:` line each. Ids count up from 1.
 * - At the end an event `end`, whose data is `{"state":"TASK_STATE_…"}`, or `{}` where the answer was a message: a browser closes its
 *   `EventSource` then, or it would connect again. Where it does connect again (it says so by `last-event-id`), for this or because the
 *   connection broke, it is answered with 204, which ends its attempts: the peer is not asked a second time.
 * - A failure is an event `error`, whose data is `{"kind":…,"rule":…}` and nothing else.
 * - The stream is read as fast as the browser takes it, and closed when the browser goes away.
 *
 * `res` may already have headers; status, content type and cache control are set here. A body that a middleware compresses would be held back by it:
 * `cache-control: no-transform` asks for none.
 * @returns once all was handed to `res`: the failure that the stream ended with, which is for the log, or `undefined`. Rejects only before
 * anything is sent: with a {@link Failure} for wrong options, with a `TypeError` for a stream that somebody reads already.
 */
export async function pipeToSse(stream: TextStream, res: ServerResponse, options: PipeToSseOptions = {}): Promise<Failure | undefined> {
  const { keepAliveMs, json } = checked(options);
  const reader = stream.getReader();
  const leave = (): void => {
    // The stream is closed, whatever its agent has to say to it.
    reader.cancel().catch(() => undefined);
  };
  if (isOver(res)) {
    leave();
    return undefined;
  }
  if (isRepeated(res)) {
    leave();
    if (!res.headersSent) res.writeHead(204);
    res.end();
    return undefined;
  }

  const breaks = new LineBreaks();
  let id = 0;
  let failure: Failure | undefined;
  let last: readonly [data: object, name: string];
  const keepAlive = setInterval(() => {
    if (!isOver(res) && !res.writableNeedDrain) res.write(KEEP_ALIVE);
  }, keepAliveMs);
  res.once('close', leave);
  try {
    if (!res.headersSent) res.writeHead(200, HEADERS);
    // So that a browser whose connection breaks before the first chunk is known too when it comes again.
    await write(res, sseMark(id));
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const data = json === true ? JSON.stringify(value) : breaks.normalize(value);
      if (data !== '') await write(res, sseEvent(++id, data));
    }
    last = [stream.state === undefined ? {} : { state: TaskState[stream.state] }, 'end'];
  } catch (error) {
    failure = failureOf(error);
    if (failure === undefined) {
      res.destroy();
      throw error;
    }
    const { kind, rule } = failure;
    last = [{ kind, rule }, 'error'];
  } finally {
    clearInterval(keepAlive);
  }
  const [data, name] = last;
  await write(res, sseEvent(++id, JSON.stringify(data), name));
  res.end();
  return failure;
}

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  // nginx would hold back what it proxies.
  'x-accel-buffering': 'no',
};

/** @throws {Failure} `options.*` */
function checked(options: PipeToSseOptions): SsePolicy {
  try {
    return checkOptions(options);
  } catch (error) {
    throw error instanceof Refusal ? notSent(error) : error;
  }
}

/** A browser that had begun to read, and connects again by itself. */
function isRepeated(res: ServerResponse): boolean {
  return (res.req.headers['last-event-id'] ?? '') !== '';
}

/** The browser has gone away, or somebody else has ended the response. */
function isOver(res: ServerResponse): boolean {
  return res.destroyed || res.writableEnded;
}

/** Resolves once there is room for more, or nobody who would read it. */
async function write(res: ServerResponse, text: string): Promise<void> {
  if (isOver(res) || res.write(text)) return;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      res.off('drain', settle);
      res.off('close', settle);
      resolve();
    };
    res.on('drain', settle);
    res.on('close', settle);
  });
}
