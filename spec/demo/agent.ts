/**
 * The agent of the demonstration, on the official SDK's express handlers: a real A2A agent on a loopback port, speaking 1.0 and 0.3 at one
 * URL.
 */
import type { Message } from '@a2a-js/sdk';
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler } from '@a2a-js/sdk/server/express';
import express, { type RequestHandler } from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Measurer, measurerCard } from '../../lib/cli/demo/measurer.js';

export { WAIT, measure } from '../../lib/cli/demo/measurer.js';

export interface AgentSetup {
  /** At `/cut`, the same agent: but each of its streams is closed, cleanly, after so many events. Absent: there is none. */
  readonly cutAfterEvents?: number;
}

export interface RunningAgent {
  /** `http://127.0.0.1:<port>/`: the JSON-RPC endpoint of both dialects, and the base URL below which the card is. */
  readonly url: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

export async function startAgent({ cutAfterEvents }: AgentSetup = {}): Promise<RunningAgent> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;

  const requestHandler = new DefaultRequestHandler(measurerCard(url), new InMemoryTaskStore(), new Measurer());
  const rpc = jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } });
  const app = express();
  // The SDK's handler takes 100 kB at most, less than a command line may hold; a body that is parsed already it takes as it is.
  app.use(express.json({ limit: '16mb' }));
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  if (cutAfterEvents !== undefined) app.use('/cut', cutAfter(cutAfterEvents), rpc);
  app.use('/', rpc);
  server.on('request', (request, response) => {
    app(request, response);
  });

  return {
    url,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The texts of what holds parts, one after the other. */
export function textOf({ parts }: Pick<Message, 'parts'>): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

/** Ends a response after so many writes of an event stream: one write is one event. What the agent still has to say goes nowhere. */
function cutAfter(events: number): RequestHandler {
  return (_request, response, next) => {
    const write = response.write.bind(response) as (chunk: string) => boolean;
    let left = events;
    response.write = (chunk: string): boolean => {
      if (left === 0) return true;
      left--;
      const flushed = write(chunk);
      if (left === 0) response.end();
      return flushed;
    };
    next();
  };
}
