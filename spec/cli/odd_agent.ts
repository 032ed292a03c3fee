/** An agent on the loopback whose every byte is up to the test. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import type { TlsOptions } from 'node:tls';

export interface Asked {
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Of the JSON-RPC request; empty where it is none. */
  readonly method: string;
  readonly id: string;
}

export type Answer = (asked: Asked, response: ServerResponse) => void;

export interface OddAgent {
  /** `http://127.0.0.1:<port>/`, or `https://localhost:<port>/` */
  readonly url: string;
  readonly asked: Asked[];
}

/** @param answer answers everything but the card, whose interface is `url` itself */
export async function startOdd(t: TestContext, answer: Answer, tls?: TlsOptions): Promise<OddAgent> {
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = tls === undefined ? `http://127.0.0.1:${port}/` : `https://localhost:${port}/`;
  const asked: Asked[] = [];
  server.on('request', (request, response) => {
    void text(request).then((body) => {
      const [, method = ''] = /"method":"([^"]*)"/.exec(body) ?? [];
      const [, id = ''] = /"id":"([^"]*)"/.exec(body) ?? [];
      const one = { target: request.url ?? '', headers: request.headers, body, method, id };
      asked.push(one);
      if (request.method === 'GET' && one.target === '/.well-known/agent-card.json') json(response, cardOf(url));
      else answer(one, response);
    });
  });
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url, asked };
}

export function cardOf(url: string): object {
  return {
    name: 'Odd agent',
    version: '2',
    description: 'Answers as it is told.',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
  };
}

export function json(response: ServerResponse, value: unknown): void {
  jsonText(response, JSON.stringify(value));
}

export function jsonText(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
}

/** A stream of these JSON-RPC results. */
export function stream(response: ServerResponse, id: string, results: readonly string[]): void {
  events(response, results.map((result) => `data: {"jsonrpc":"2.0","id":"${id}","result":${result}}\n\n`));
}

export function events(response: ServerResponse, frames: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames.join(''));
}

/** A task whose status says a text. */
export function taskOf(text: string, state = 'TASK_STATE_COMPLETED', id = 'task-1'): object {
  const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] };
  return { id, contextId: 'context-1', status: { state, message } };
}

export function taskText(...of: Parameters<typeof taskOf>): string {
  return JSON.stringify(taskOf(...of));
}
