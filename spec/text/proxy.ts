/** An HTTP route that proxies a text stream, and a browser's `EventSource` that listens to it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { Agent, EventSource } from 'undici';
import { pipeToSse, type PipeToSseOptions, type TextStream } from '../../lib/text/index.js';
import { keepDispatcher } from '../hostile/keep.js';

export interface Proxy {
  readonly url: string;
  /** What each request came to, in the order they came. */
  readonly outcomes: ReturnType<typeof pipeToSse>[];
}

export async function startProxy(
  t: TestContext,
  ask: (request: IncomingMessage, response: ServerResponse) => TextStream,
  options?: PipeToSseOptions,
): Promise<Proxy> {
  const outcomes: ReturnType<typeof pipeToSse>[] = [];
  const server = createServer((request, response) => {
    const outcome = pipeToSse(ask(request, response), response, options);
    outcome.catch(() => undefined);
    outcomes.push(outcome);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, outcomes };
}

export interface Heard {
  readonly source: EventSource;
  /** The data of each `message` event. */
  readonly messages: string[];
  readonly ids: string[];
  /** The data of the event that ended it: `end`, or `error`. */
  readonly last: Promise<readonly [name: string, data: string]>;
}

/** @param stays does not close at the end, as a browser does whose page was not told to */
export function listenTo(t: TestContext, url: string, { stays = false } = {}): Heard {
  const dispatcher = keepDispatcher(t, new Agent());
  const source = new EventSource(url, { node: { dispatcher, reconnectionTime: 10 } });
  t.after(() => {
    source.close();
  });
  const messages: string[] = [];
  const ids: string[] = [];
  source.addEventListener('message', ({ data, lastEventId }) => {
    messages.push(data as string);
    ids.push(lastEventId);
  });
  const last = new Promise<readonly [string, string]>((resolve) => {
    for (const name of ['end', 'error']) {
      source.addEventListener(name, (event) => {
        // The browser's own events of that name have no data.
        if (!('data' in event)) return;
        if (!stays) source.close();
        resolve([name, String(event.data)]);
      });
    }
  });
  return { source, messages, ids, last };
}

