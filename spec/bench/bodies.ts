/**
 * Response bodies that are ready before they are asked for: only the request's id is put into its places. So the client, which takes the
 * time from its first event to its last, never waits for an event to be made.
 */
import { BEFORE_ID, BEHIND_ID, resultOf, taskAnswer, type StreamKind } from './wire.js';

/** Which stream: `perChunk` events stand in each HTTP chunk. */
export interface StreamShape {
  readonly kind: StreamKind;
  readonly events: number;
  readonly perChunk: number;
}

interface StreamBody {
  readonly key: string;
  /** With the framing of `transfer-encoding: chunked`. */
  readonly bytes: Buffer;
  /** Where the id stands, once an event. */
  readonly idAt: Uint32Array;
}

/** Those that nobody is writing, the one last used last. */
const ready = new Map<string, StreamBody>();
const MAX_READY_BYTES = 512 * 1024 * 1024;

/** The body of a stream with this id in it. It is the taker's until it is given back. */
export function takeStream(shape: StreamShape, id: string): StreamBody {
  const key = `${String(shape.kind)} ${String(shape.events)} ${String(shape.perChunk)} ${String(id.length)}`;
  const body = ready.get(key) ?? build(key, shape, id.length);
  ready.delete(key);
  const idBytes = Buffer.from(id, 'latin1');
  for (const at of body.idAt) body.bytes.set(idBytes, at);
  return body;
}

export function giveBack(body: StreamBody): void {
  ready.set(body.key, body);
  let total = 0;
  for (const { bytes } of ready.values()) total += bytes.length;
  for (const [key, { bytes }] of ready) {
    if (total <= MAX_READY_BYTES || key === body.key) return;
    ready.delete(key);
    total -= bytes.length;
  }
}

function build(key: string, { kind, events, perChunk }: StreamShape, idLength: number): StreamBody {
  const id = ' '.repeat(idLength);
  const idAt = new Uint32Array(events);
  const pieces: Buffer[] = [];
  let length = 0;
  const add = (piece: Buffer): void => {
    pieces.push(piece);
    length += piece.length;
  };
  for (let number = 1; number <= events; ) {
    const chunk: Buffer[] = [];
    const idsInChunk: number[] = [];
    let size = 0;
    for (let left = perChunk; left > 0 && number <= events; left--, number++) {
      const before = BEFORE_ID(number);
      // All before the id is ASCII.
      idsInChunk.push(size + before.length);
      const event = Buffer.from(`${before}${id}${BEHIND_ID(resultOf(kind, number, events))}`);
      chunk.push(event);
      size += event.length;
    }
    add(Buffer.from(`${size.toString(16)}\r\n`));
    for (const [i, at] of idsInChunk.entries()) idAt[number - idsInChunk.length - 1 + i] = length + at;
    chunk.forEach(add);
    add(Buffer.from('\r\n'));
  }
  add(Buffer.from('0\r\n\r\n'));
  return { key, bytes: Buffer.concat(pieces, length), idAt };
}

interface Halves {
  readonly before: string;
  readonly behind: string;
}

/** By the length of the id. */
const unary = new Map<number, Halves>();

/** The whole response to a unary call, head included; ASCII. */
export function unaryResponse(id: string): string {
  let halves = unary.get(id.length);
  if (halves === undefined) {
    const body = taskAnswer('\0');
    const [before = '', behind = ''] = body.split('\0');
    const length = body.length - 1 + id.length;
    halves = { before: `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${String(length)}\r\n\r\n${before}`, behind };
    unary.set(id.length, halves);
  }
  return halves.before + id + halves.behind;
}

/** The results of token streams of so many events, for streams that are sent one event at a time. */
const tokens = new Map<number, readonly Halves[]>();

/** One event of a token stream in an HTTP chunk of its own; ASCII. */
export function tokenChunk(number: number, events: number, id: string): string {
  let list = tokens.get(events);
  if (list === undefined) {
    list = Array.from({ length: events }, (_, i) => ({ before: BEFORE_ID(i + 1), behind: BEHIND_ID(resultOf('token', i + 1, events)) }));
    tokens.set(events, list);
  }
  const { before, behind } = list[number - 1]!;
  return `${(before.length + id.length + behind.length).toString(16)}\r\n${before}${id}${behind}\r\n`;
}
