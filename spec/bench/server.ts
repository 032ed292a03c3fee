/**
 * The agent that the benchmark calls, in a process of its own. Raw `node:net` (or `node:tls`, with `tls` as argument) and ready-made bodies:
 * it has to be faster than whatever calls it. It understands just what the benchmark sends.
 */
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { giveBack, takeStream, tokenChunk, unaryResponse } from './bodies.js';
import type { StreamKind } from './wire.js';

const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

/** As much as is handed to the kernel, or to TLS, in one go. */
const PIECE_BYTES = 1024 * 1024;

/** The body is ready before the head is sent. */
function answerStream(socket: Socket, id: string, kind: StreamKind, events: number, perChunk: number): void {
  const body = takeStream({ kind, events, perChunk }, id);
  socket.write(STREAM_HEAD, 'latin1');
  let at = 0;
  const goOn = (): void => {
    if (at >= body.bytes.length) {
      giveBack(body);
      return;
    }
    const piece = body.bytes.subarray(at, at + PIECE_BYTES);
    at += piece.length;
    // The next piece only when this one is out of our hands: until then the body must not change.
    socket.write(piece, goOn);
  };
  goOn();
}

/** So many events a second, each by itself. */
function answerSlowly(socket: Socket, id: string, events: number, perSecond: number): void {
  socket.write(STREAM_HEAD, 'latin1');
  let number = 0;
  const timer = setInterval(() => {
    number++;
    socket.write(tokenChunk(number, events, id) + (number === events ? '0\r\n\r\n' : ''), 'latin1');
    if (number === events) clearInterval(timer);
  }, 1000 / perSecond);
  socket.once('close', () => {
    clearInterval(timer);
  });
}

const PATH = /^POST \/(stream|slow)\/([a-z0-9.-]+)\/(\d+)\/(\d+) /;

function answer(socket: Socket, head: string, body: string): void {
  const id = JSON.stringify((JSON.parse(body) as { id: unknown }).id);
  const [, how, kind = '', events, last] = PATH.exec(head) ?? [];
  if (how === undefined) socket.write(unaryResponse(id), 'latin1');
  else if (how === 'slow') answerSlowly(socket, id, Number(events), Number(last));
  else answerStream(socket, id, /^\d+$/.test(kind) ? Number(kind) : (kind as StreamKind), Number(events), Number(last));
}

function serve(socket: Socket): void {
  let waiting = '';
  socket.setNoDelay();
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
}

const certificates = new URL('../../fixtures/certificates/', import.meta.url);
const server =
  process.argv[2] === 'tls'
    ? createTlsServer(
        { cert: readFileSync(new URL('localhost.pem', certificates)), key: readFileSync(new URL('localhost-key.pem', certificates)) },
        serve,
      )
    : createServer(serve);

server.listen(0, '127.0.0.1', 2048, () => {
  process.send?.((server.address() as AddressInfo).port);
});
// Whoever asks, whatever it asks, wants to know how much this process has worked: microseconds so far.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
// The benchmark has ended, however it did.
process.once('disconnect', () => process.exit());
