/**
 * An agent in a process of its own: answers each request with a task of so many artifacts of so many bytes, as fast as the connection
 * takes them, and counts those it could write. Prints its port; prints the count where it is sent a line.
 */
import net from 'node:net';
import { Writable } from 'node:stream';
import { artifact, status, task } from '../results.js';

const [events = 0, bytes = 0] = process.argv.slice(2).map(Number);
const BLOCK = 64 * 1024;
let written = 0;

/** Writes as the connection takes it. */
async function write(socket: net.Socket, chunk: Buffer): Promise<void> {
  if (!socket.write(chunk)) await new Promise<void>((resolve) => socket.once('drain', resolve));
}

async function answer(socket: net.Socket, id: string): Promise<void> {
  let n = 0;
  const frame = (result: object): Buffer => {
    n++;
    const text = `id: ${n}\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
    return Buffer.from(`${text.length.toString(16)}\r\n${text}\r\n`);
  };
  await write(socket, Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'));
  await write(socket, frame(task('1.0', 'working')));
  const text = 'x'.repeat(bytes);
  for (let i = 0; i < events; i++) {
    const event = frame(artifact('1.0', text));
    for (let at = 0; at < event.length; at += BLOCK) await write(socket, event.subarray(at, at + BLOCK));
    written++;
  }
  await write(socket, frame(status('1.0', 'completed')));
  socket.write('0\r\n\r\n');
}

const server = net.createServer((socket) => {
  let received = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    const id = /"id":"([0-9a-f]{32})"/.exec(received)?.[1];
    if (id === undefined) return;
    received = '';
    void answer(socket, id);
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log((server.address() as net.AddressInfo).port);
});
process.stdin.pipe(
  new Writable({
    write(_chunk, _encoding, done) {
      console.log(written);
      done();
    },
  }),
);
process.stdin.on('end', () => process.exit());
