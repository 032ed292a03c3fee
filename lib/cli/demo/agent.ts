/** A real A2A agent on a loopback port: the official SDK's request handler behind `node:http`, 1.0 and 0.3 at one URL. */
import { AgentCard } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import {
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
  UnauthenticatedUser,
  validateVersion,
} from '@a2a-js/sdk/server';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { isObject } from '../../dialect/values.js';
import { Measurer, measurerCard, type BeforeChunk } from './measurer.js';

export interface DemoAgent {
  /** `http://127.0.0.1:<port>/`: the JSON-RPC endpoint of both dialects, and the base URL below which the card is. */
  readonly url: string;
  /** At `/cut`, the same agent: but each of its streams is closed, cleanly, after so many events. */
  readonly cutUrl: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

/**
 * @param cutAfterEvents of the streams of `cutUrl`
 * @param port 0 for any
 */
export async function startDemoAgent(beforeChunk: BeforeChunk, cutAfterEvents: number, port = 0): Promise<DemoAgent> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
  const site = new Site(url, beforeChunk, cutAfterEvents);
  server.on('request', (request, response) => {
    // A caller that goes away has nothing to be told.
    site.answer(request, response).catch(() => response.destroy());
  });
  return {
    url,
    cutUrl: `${url}cut`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** One of the SDK's handlers, and how it tells an error. */
interface Speaker {
  handle(request: Record<string, unknown> | string, context: ServerCallContext): Promise<object>;
  errorOf(error: unknown): object;
}

/** JSON-RPC 2.0 section 5.1. */
const PARSE_ERROR = -32700;

const CARD_PATH = '/.well-known/agent-card.json';

class Site {
  readonly #card: AgentCard;
  readonly #speakers: { readonly current: Speaker; readonly legacy: Speaker };
  readonly #cutAfterEvents: number;

  constructor(url: string, beforeChunk: BeforeChunk, cutAfterEvents: number) {
    this.#card = measurerCard(url);
    this.#cutAfterEvents = cutAfterEvents;
    const handler = new DefaultRequestHandler(this.#card, new InMemoryTaskStore(), new Measurer(beforeChunk));
    const current = new JsonRpcTransportHandler(handler);
    const legacy = new LegacyJsonRpcTransportHandler(handler);
    this.#speakers = {
      current: {
        handle: (asked, context) => current.handle(asked, context),
        errorOf: (error) => JsonRpcTransportHandler.mapToJSONRPCError(error),
      },
      legacy: {
        handle: (asked, context) => legacy.handle(asked, context),
        errorOf: (error) => LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error),
      },
    };
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url, method } = request;
    if (method === 'GET' && url === CARD_PATH) sendJson(response, AgentCard.toJSON(this.#card));
    else if (method === 'POST' && (url === '/' || url === '/cut')) await this.#rpc(request, response, url === '/cut');
    else response.writeHead(404).end();
  }

  async #rpc(request: IncomingMessage, response: ServerResponse, isCut: boolean): Promise<void> {
    const said = request.headers['a2a-version'];
    const version = typeof said === 'string' ? said : '0.3';
    const speaker = version === '0.3' ? this.#speakers.legacy : this.#speakers.current;
    let asked: unknown;
    try {
      asked = JSON.parse(await readText(request));
    } catch {
      sendJson(response, { jsonrpc: '2.0', id: null, error: { code: PARSE_ERROR, message: 'Parse error' } });
      return;
    }
    const body = isObject(asked) ? asked : '';
    try {
      validateVersion(version, this.#card, 'JSONRPC');
      const context = new ServerCallContext({ user: new UnauthenticatedUser(), requestedVersion: version });
      const answer = await speaker.handle(body, context);
      if (isAsyncIterable(answer)) await this.#stream(answer, response, isCut ? this.#cutAfterEvents : Infinity);
      else sendJson(response, answer);
    } catch (error) {
      const id = isObject(asked) ? (asked['id'] ?? null) : null;
      sendJson(response, { jsonrpc: '2.0', id, error: speaker.errorOf(error) });
    }
  }

  /** What the agent still has to say after so many events goes nowhere. */
  async #stream(events: AsyncIterable<unknown>, response: ServerResponse, most: number): Promise<void> {
    let sent = 0;
    for await (const event of events) {
      if (sent === most) continue;
      if (sent === 0) response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      response.write(`data: ${JSON.stringify(event)}\n\n`);
      sent++;
      if (sent === most) response.end();
    }
    response.end();
  }
}

function sendJson(response: ServerResponse, value: unknown): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}
