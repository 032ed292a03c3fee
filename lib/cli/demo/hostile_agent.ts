/** An agent whose answer is right in everything but, at one of its URLs, its id. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

export interface HostileAgent {
  readonly rightUrl: string;
  readonly wrongUrl: string;
  close(): Promise<void>;
}

export async function startHostileAgent(): Promise<HostileAgent> {
  const server = createServer((request, response) => {
    answer(request).then(
      (body) => response.setHeader('content-type', 'application/json').end(body),
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    rightUrl: `${origin}/right`,
    wrongUrl: `${origin}/wrong`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(request: IncomingMessage): Promise<string> {
  const { id } = JSON.parse(await readText(request)) as { id: string };
  const result = { id: 'task', contextId: 'context', status: { state: 'TASK_STATE_COMPLETED' } };
  return JSON.stringify({ jsonrpc: '2.0', id: request.url === '/right' ? id : `${id}0`, result });
}
