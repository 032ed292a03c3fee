/**
 * The agent that the benchmark calls, in a process of its own. Raw `node:net` and ready-made bodies: it has to be faster than whatever
 * calls it. It understands just what the benchmark sends.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { event, taskAnswer } from './wire.js';

function answerUnary(socket: Socket, id: string): void {
  const body = taskAnswer(id);
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${String(body.length)}\r\n\r\n${body}`, 'latin1');
}

const BLOCK_BYTES = 64 * 1024;

/** Sends `events` events, `perChunk` in each HTTP chunk. How chunks share TCP segments is up to the kernel, as it always is. */
function answerStream(socket: Socket, id: string, events: number, perChunk: number): void {
  let next = 1;
  const goOn = (): void => {
    for (;;) {
      let block = '';
      while (next <= events && block.length < BLOCK_BYTES) {
        let chunk = '';
        const end = Math.min(events, next + perChunk - 1);
        while (next <= end) chunk += event(next++, events, id);
        block += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
      }
      if (next > events) {
        socket.write(`${block}0\r\n\r\n`, 'latin1');
        return;
      }
      if (!socket.write(block, 'latin1')) {
        socket.once('drain', goOn);
        return;
      }
    }
  };
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n', 'latin1');
  goOn();
}

const STREAM = /^POST \/stream\/(\d+)\/(\d+) /;

function answer(socket: Socket, head: string, body: string): void {
  const id = JSON.stringify((JSON.parse(body) as { id: unknown }).id);
  const [, events, perChunk] = STREAM.exec(head) ?? [];
  if (events === undefined) answerUnary(socket, id);
  else answerStream(socket, id, Number(events), Number(perChunk));
}

const server = createServer({ noDelay: true }, (socket) => {
  let waiting = '';
  socket.setEncoding('latin1');
  socket.on('error', () => socket.destroy());
  socket.on('data', (data: string) => {
    waiting += data;
    for (;;) {
      const headEnd = waiting.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = waiting.slice(0, headEnd + 2);
      const bodyStart = headEnd + 4;
      const bodyEnd = bodyStart + Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1] ?? 0);
      if (waiting.length < bodyEnd) return;
      const body = waiting.slice(bodyStart, bodyEnd);
      waiting = waiting.slice(bodyEnd);
      answer(socket, head, body);
    }
  });
});

server.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port);
});
// The benchmark has ended, however it did.
process.once('disconnect', () => process.exit());
