/** What the servers of the table of faults say: to a unary call and to a stream alike, where that makes sense. */
import type { Socket } from 'node:net';
import {
  JSON_FIELD,
  PROGRESS,
  SSE_FIELD,
  WORKING,
  chunk,
  event,
  good,
  goodStream,
  response,
  resultText,
  streamBody,
  type Answer,
  type SeenRequest,
} from './raw_server.js';

type Words = (request: SeenRequest) => string | Buffer;

const wantsStream = ({ headers }: SeenRequest): boolean => headers.get('accept')?.startsWith('text/event-stream') ?? false;
export const mediaType = (request: SeenRequest): string => (wantsStream(request) ? SSE_FIELD : JSON_FIELD);
export const goodAnswer = (request: SeenRequest): Buffer => (wantsStream(request) ? goodStream(request.id) : good(request.id));
export const chunkedHead = (request: SeenRequest): Buffer => response(200, [mediaType(request), 'transfer-encoding: chunked']);
export const bytes = (...parts: readonly (string | Buffer)[]): Buffer => Buffer.concat(parts.map((part) => Buffer.from(part)));
/** A stream's head and first event. */
export const begun = (request: SeenRequest): Buffer => bytes(chunkedHead(request), chunk(event(request.id, 1, WORKING)));
export const halfEvent = ({ id }: SeenRequest): string => event(id, 2, PROGRESS).slice(0, 60);
/** The same, and half of another event. */
export const begunHalf: Words = (request) => bytes(begun(request), chunk(halfEvent(request)));
export const ended = (request: SeenRequest): Buffer => bytes(chunkedHead(request), chunk(streamBody(request.id)));
export const halfBody = (request: SeenRequest): Buffer => bytes(chunkedHead(request), chunk(resultText(request.id).slice(0, 30)));

export const says = (words: Words): Answer => (socket, request) => void socket.write(words(request));
export const closesAfter = (words: Words): Answer => (socket, request) => void socket.end(words(request));
/** Behind the bytes, not over them: a reset drops what the client has not read yet. */
export const resetsAfter = (words: Words): Answer => (socket, request) => {
  socket.write(words(request), () => setTimeout(() => socket.resetAndDestroy(), 10));
};

/** A good answer to the first request of a connection; then this. */
export const onceGood = (then: (socket: Socket) => unknown): Answer => (socket, request) => {
  if (request.before === 0) socket.write(goodAnswer(request));
  else then(socket);
};

/** Goes on for as long as the connection takes it. */
export function flood(begin: Words, block: string | Buffer | ((n: number, request: SeenRequest) => Buffer)): Answer {
  return (socket, request) => {
    let n = 0;
    const more = (): void => {
      while (!socket.destroyed) {
        if (!socket.write(typeof block === 'function' ? block(++n, request) : block)) {
          socket.once('drain', more);
          return;
        }
      }
    };
    socket.write(begin(request));
    more();
  };
}

/** One byte after the other; a second is 10 ms here. */
export function drip(begin: Words, words: Words): Answer {
  return (socket, request) => {
    socket.write(begin(request));
    const rest = Buffer.from(words(request));
    let at = 0;
    const timer = setInterval(() => socket.write(rest.subarray(at % rest.length, (at++ % rest.length) + 1)), 10);
    socket.on('close', () => {
      clearInterval(timer);
    });
  };
}

/** Says this before it reads anything; reads much later, so that it sees the connection close. */
export const unread = (words: string | Buffer) => (socket: Socket): void => {
  socket.pause();
  if (words.length > 0) socket.write(words);
  setTimeout(() => socket.resume(), 500);
};
