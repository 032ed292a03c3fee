/** The caller's side of a call under test: a server on loopback that keeps what it is sent, and the one failure a call ends with. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from '../../lib/failure.js';

/** A request as it came over the wire. */
export interface Received {
  readonly method: string;
  readonly target: string;
  /** In the order they came, names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** The JSON-RPC request that the body is. */
  readonly rpc: { readonly jsonrpc: unknown; readonly id: unknown; readonly method: unknown; readonly params?: unknown };
}

export type Answer = (request: Received, response: ServerResponse) => void;

export interface Recorder {
  readonly origin: string;
  readonly received: Received[];
  /** Connections that were made so far. */
  readonly connections: number;
  /** How requests are answered from now on. */
  answer: Answer;
  close(): Promise<void>;
}

export const TASK = {
  id: 'task-1',
  contextId: 'context-1',
  status: { state: 'TASK_STATE_COMPLETED' },
} as const;

/** Answers with a 200 of this JSON-RPC response. */
export function json(response: ServerResponse, members: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', ...members }));
}

/** Answers as an agent does that knows no such task: a short, valid answer to any method of either dialect, streams included. */
export const taskNotFound: Answer = ({ rpc }, response) => {
  json(response, { id: rpc.id, error: { code: -32001, message: 'Task not found' } });
};

/** Answers with a task of 1.0 that has ended: what `sendMessage` takes, or a stream of that one event. */
export const endedTask: Answer = ({ rpc, headers }, response) => {
  const isStream = headers.some(([name, value]) => name === 'accept' && value.includes('text/event-stream'));
  const result = { task: TASK };
  if (isStream) {
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`id: 1\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: rpc.id, result })}\n\n`);
  } else {
    json(response, { id: rpc.id, result });
  }
};

export async function record(answer: Answer = taskNotFound): Promise<Recorder> {
  let connections = 0;
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const headers: [string, string][] = [];
      for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
        headers.push([(request.rawHeaders[i] ?? '').toLowerCase(), request.rawHeaders[i + 1] ?? '']);
      }
      const kept: Received = {
        method: request.method ?? '',
        target: request.url ?? '',
        headers,
        body,
        rpc: JSON.parse(body) as Received['rpc'],
      };
      received.push(kept);
      recorder.answer(kept, response);
    });
  });
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const recorder: Recorder = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    get connections() {
      return connections;
    },
    answer,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return recorder;
}

/** The failure that a call ends with. A call that throws at once, ends well, or ends with anything else fails the test. */
export async function failureFrom(call: () => Promise<unknown>): Promise<Failure> {
  let outcome: Promise<unknown>;
  try {
    outcome = call();
  } catch (error) {
    assert.fail(`thrown synchronously: ${String(error)}`);
  }
  try {
    await outcome;
  } catch (error) {
    assert(error instanceof Failure, `not a Failure: ${String(error)}`);
    return error;
  }
  assert.fail('ended well');
}
