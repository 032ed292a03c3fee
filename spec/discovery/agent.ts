/** A raw agent that serves cards: what it answers to each GET is up to the test. */
import type { TestContext } from 'node:test';
import { Agent, type Dispatcher } from 'undici';
import { Failure } from '../../lib/failure.js';
import { keep, keepDispatcher } from '../hostile/keep.js';
import { JSON_FIELD, RawServer, response, type Answer, type SeenRequest } from '../hostile/raw_server.js';

export const WELL_KNOWN = '/.well-known/agent-card.json';

/** A card whose description tells it from others. */
export function cardText(description = ''): string {
  const rpc = { url: 'http://127.0.0.1:9/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
  return JSON.stringify({ name: 'Raw agent', description, supportedInterfaces: [rpc] });
}

/** A whole answer with a card. */
export function card(fields: readonly string[] = [], description = ''): Buffer {
  return response(200, [JSON_FIELD, ...fields], cardText(description));
}

export interface CardServer {
  readonly server: RawServer;
  readonly dispatcher: Dispatcher;
  readonly origin: string;
}

/** Answers the nth request with the nth answer, and all that follow with the last. */
export async function serve(t: TestContext, ...answers: (Buffer | Answer)[]): Promise<CardServer> {
  let count = 0;
  const answer: Answer = (socket, request) => {
    const next = answers[Math.min(count++, answers.length - 1)]!;
    if (Buffer.isBuffer(next)) socket.write(next);
    else next(socket, request);
  };
  const server = keep(t, await RawServer.listen(answer));
  return { server, dispatcher: keepDispatcher(t, new Agent()), origin: server.origin };
}

/** The path that was asked for. */
export function pathOf({ line }: SeenRequest): string {
  return line.split(' ')[1]!;
}

/** What came of a call, as a line: the description of the card, or the rule, the delivery, and the status where there is one. */
export async function lineOf(answer: Promise<{ readonly card: { readonly description: string } }>): Promise<string> {
  try {
    return (await answer).card.description;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [error.rule, error.delivery, ...(error.status === undefined ? [] : [error.status])].join(' ');
  }
}
