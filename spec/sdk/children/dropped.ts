/** Event streams of `strictFetch` that nobody holds any more, and one that is still waited for. Needs `--expose-gc`. */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { strictFetch } from '../../../lib/sdk/index.js';
import { RawServer, SSE_FIELD } from '../../hostile/raw_server.js';

const sockets = new Map<string, Socket>();
const server = await RawServer.listen((socket, { line }) => {
  sockets.set(line.split(/[/ ]/)[2] ?? '', socket);
  socket.write(`HTTP/1.1 200 OK\r\n${SSE_FIELD}\r\n\r\ndata: 1\n\n`);
});
const dispatcher = new Agent();
const fetching = strictFetch(dispatcher, { maxResponseBytes: 1000 });
const open = (name: string): Promise<Response> => fetching(`${server.origin}/${name}`, { headers: { accept: 'text/event-stream' } });

async function drop(): Promise<void> {
  await open('unread');
  const partly = (await open('partly')).body?.getReader();
  await partly?.read();
}

/** Holds nothing but the promise of the second read. */
async function wait(): Promise<{ next: Promise<unknown> | undefined }> {
  const reader = (await open('pending')).body?.getReader();
  await reader?.read();
  return { next: reader?.read() };
}

await drop();
const { next } = await wait();
const isClosed = (name: string): boolean => sockets.get(name)?.destroyed === true;
for (let i = 0; i < 200 && !(isClosed('unread') && isClosed('partly')); i++) {
  globalThis.gc?.();
  await sleep(10);
}
console.log(JSON.stringify(Object.fromEntries([...sockets.keys()].map((name) => [name, isClosed(name) ? 'closed' : 'open']))));
next?.catch(() => undefined);
await dispatcher.destroy();
await server.close();
