/**
 * An HTTP/2 agent of frames, by hand over TLS: for what `node:http2` would not send, a reset in the middle of an answer above all (its
 * `close` ends the answer first). RFC 9113 as far as it needs it, and no more; it sends what a test says and never asks whether it may.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { CERTIFICATE } from './certificate.js';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const CONTINUATION = 9;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;

export type Fields = readonly (readonly [name: string, value: string])[];

/** One request, and what can be sent to it. */
export class RawH2Stream {
  readonly id: number;
  /** The JSON-RPC id, once the request is whole. */
  requestId = '';
  body = '';
  readonly socket: TLSSocket;
  readonly #chunks: Buffer[] = [];

  constructor(socket: TLSSocket, id: number) {
    this.socket = socket;
    this.id = id;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(Buffer.from(chunk));
  }

  whole(): void {
    this.body = Buffer.concat(this.#chunks).toString();
    this.requestId = (JSON.parse(this.body) as { id: string }).id;
  }

  /** @param end nothing comes behind */
  head(fields: Fields, end = false): void {
    const block = Buffer.concat(fields.map(([name, value]) => Buffer.concat([Buffer.from([0]), hpackText(name), hpackText(value)])));
    const pieces: Buffer[] = [];
    for (let at = 0; at === 0 || at < block.length; at += 16_384) pieces.push(block.subarray(at, at + 16_384));
    for (const [place, piece] of pieces.entries()) {
      const flags = (place === pieces.length - 1 ? END_HEADERS : 0) | (place === 0 && end ? END_STREAM : 0);
      this.socket.write(frame(place === 0 ? HEADERS : CONTINUATION, flags, this.id, piece));
    }
  }

  data(text: string | Buffer, end = false): void {
    this.socket.write(frame(DATA, end ? END_STREAM : 0, this.id, Buffer.from(text)));
  }

  /** @param code of RFC 9113 section 7 */
  reset(code: number): void {
    this.socket.write(frame(RST_STREAM, 0, this.id, words(code)));
  }

  /** @param lastStreamId the last stream that is said to be processed */
  goaway(code: number, lastStreamId: number): void {
    this.socket.write(frame(GOAWAY, 0, 0, words(lastStreamId, code)));
  }
}

export class RawH2Server {
  /** Requests that began, and those that came whole. */
  begun = 0;
  whole = 0;
  /** Connections that were ever made. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<TLSSocket>();

  private constructor(answer: (stream: RawH2Stream) => void) {
    this.#server = createServer({ ...CERTIFICATE, ALPNProtocols: ['h2'] }, (socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
      this.#serve(socket, answer);
    });
  }

  static async listen(answer: (stream: RawH2Stream) => void): Promise<RawH2Server> {
    const server = new RawH2Server(answer);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get origin(): string {
    return `https://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(socket: TLSSocket, answer: (stream: RawH2Stream) => void): void {
    const streams = new Map<number, RawH2Stream>();
    let buffered = Buffer.alloc(0);
    let hasPreface = false;
    socket.on('data', (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk]);
      if (!hasPreface) {
        if (buffered.length < PREFACE.length) return;
        buffered = buffered.subarray(PREFACE.length);
        hasPreface = true;
        socket.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)));
      }
      while (buffered.length >= 9) {
        const length = buffered.readUIntBE(0, 3);
        if (buffered.length < 9 + length) return;
        const type = buffered.readUInt8(3);
        const flags = buffered.readUInt8(4);
        const id = buffered.readUInt32BE(5);
        const payload = buffered.subarray(9, 9 + length);
        buffered = buffered.subarray(9 + length);
        if (type === SETTINGS && (flags & ACK) === 0) socket.write(frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
        else if (type === PING && (flags & ACK) === 0) socket.write(frame(PING, ACK, 0, payload));
        else if (type === HEADERS) {
          this.begun++;
          streams.set(id, new RawH2Stream(socket, id));
        } else if (type === DATA) {
          const stream = streams.get(id);
          stream?.add(payload);
          if (stream === undefined || (flags & END_STREAM) === 0) continue;
          streams.delete(id);
          stream.whole();
          this.whole++;
          answer(stream);
        }
      }
    });
  }
}

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [place, value] of values.entries()) bytes.writeUInt32BE(value, place * 4);
  return bytes;
}

/** RFC 7541 section 5.2, without Huffman. */
function hpackText(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  const length: number[] = [];
  if (bytes.length < 127) length.push(bytes.length);
  else {
    length.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}
