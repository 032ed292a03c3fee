/**
 * Bytes → SSE frames: the `sse.` rules. Works on any chunking with the same verdict: what decides is the first byte at
 * which a violation is certain, and never where a chunk happened to end.
 *
 * Pulled, not pushed: chunks wait untouched until the consumer asks for the next frame. Each byte is looked at once and copied at
 * most twice (into the carry where a line was cut by the end of a chunk, and where an event was).
 */
import { isUtf8 } from 'node:buffer';
import { Refusal } from '../failure.js';
import { EventIds, type EventIdMode } from './event_ids.js';

/** One event, framing removed. `data` is a view of what was read, and is never written to again. */
export interface Frame {
  readonly data: Buffer;
  readonly id: string | undefined;
  /** The event is named `error`: it has to hold a JSON-RPC error (`sse.event_name`). */
  readonly isError: boolean;
}

/** The bounds of one stream; each is a positive integer, or infinity where the caller set none. */
export interface SseBounds {
  readonly maxEventBytes: number;
  readonly maxStreamBytes: number;
  readonly maxStreamEvents: number;
  readonly eventIds: EventIdMode;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const BOM = [0xef, 0xbb, 0xbf] as const;
const MAX_ID_BYTES = 256;
/** Two socket chunks. */
const MAX_PINNED = 128 * 1024;
/** A carry larger than this is not kept for the next line. */
const CARRY_KEPT = 64 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);

export class SseParser {
  readonly #maxEventBytes: number;
  readonly #maxStreamBytes: number;
  readonly #maxStreamEvents: number;
  readonly #idOptional: boolean;
  readonly #ids: EventIds;

  // What has arrived and was not looked at yet.
  #waiting: Buffer[] = [];
  /** Of `#waiting`, how many were taken. Shifting them off one by one would take quadratic time for a flood of tiny chunks. */
  #taken = 0;
  #chunk = NOTHING;
  #at = 0;
  #waitingBytes = 0;
  /** The size of the buffers that what waits is a part of. */
  #pinned = 0;
  #lastBuffer: ArrayBufferLike | undefined;
  /** The next CR of the chunk, at or after `#at`; its length where there is none. Looked for again only once it was passed. */
  #nextCr = -1;

  /** The beginning of a line whose end is in a later chunk. */
  #carry = NOTHING;
  #carryLength = 0;

  // The event that is being read.
  #eventBytes = 0;
  #data: Buffer | undefined;
  #dataIsOfChunk = false;
  #id: string | undefined;
  #name: 'message' | 'error' | undefined;
  /** A field of it has been read: noise alone is no event. */
  #begun = false;
  /** It is complete. */
  #complete = false;


  #streamBytes = 0;
  #events = 0;
  /** How many bytes of a byte order mark the stream has begun with; 3 once it is decided that it has none. */
  #bomMatched = 0;

  constructor(bounds: SseBounds) {
    this.#maxEventBytes = bounds.maxEventBytes;
    this.#maxStreamBytes = bounds.maxStreamBytes;
    this.#maxStreamEvents = bounds.maxStreamEvents;
    this.#idOptional = bounds.eventIds === 'optional';
    this.#ids = new EventIds(bounds.eventIds);
  }

  /** Bytes that have arrived and were not looked at yet. */
  get buffered(): number {
    return this.#waitingBytes + this.#chunk.length - this.#at;
  }

  push(chunk: Buffer): void {
    if (this.buffered === 0) this.#pinned = 0;
    if (this.#pinned === 0 || chunk.buffer !== this.#lastBuffer) this.#pinned += chunk.buffer.byteLength;
    this.#lastBuffer = chunk.buffer;
    // A chunk is a view of all that was read from the socket at once: with chunk extensions a hostile agent could make that, and so what a
    // waiting byte keeps in memory, many times what the bounds count.
    this.#waiting.push(this.#pinned > MAX_PINNED ? Buffer.from(chunk) : chunk);
    this.#waitingBytes += chunk.length;
  }

  /** Drops what has arrived and was not looked at yet. */
  discard(): void {
    this.#waiting = [];
    this.#taken = 0;
    this.#waitingBytes = 0;
    this.#chunk = NOTHING;
    this.#at = 0;
    this.#lastBuffer = undefined;
  }

  /**
   * The next whole frame, or `undefined` where more bytes are needed.
   * @throws {Refusal} `limit.event_bytes`, `limit.stream_bytes`, `limit.stream_events`, `sse.*`
   */
  next(): Frame | undefined {
    for (;;) {
      if (this.#at === this.#chunk.length && !this.#nextChunk()) return undefined;
      const frame = this.#segment();
      if (frame !== undefined) return frame;
    }
  }

  /** The response has ended. @throws {Refusal} where it did inside an event: `sse.line_ending`, `sse.truncated` */
  end(): void {
    if (this.#carryLength > 0) {
      if (this.#carry[this.#carryLength - 1] === CR) throw new Refusal('sse.line_ending');
      // A comment that was cut is noise that was cut.
      if (this.#carry[0] !== COLON) throw new Refusal('sse.truncated');
    }
    if (this.#begun) throw new Refusal('sse.truncated');
  }

  /**
   * After `next()` has thrown: reads on, with no eye for rules, up to the end of the event that broke one. Noise is no event.
   * @returns false where more bytes are needed
   */
  skipEvent(): boolean {
    if (this.#complete) return true;
    while (this.#at < this.#chunk.length || this.#nextChunk()) {
      const chunk = this.#chunk;
      const start = this.#at;
      const lineFeed = chunk.indexOf(LF, start);
      const end = lineFeed < 0 ? chunk.length : lineFeed;
      this.#at = lineFeed < 0 ? end : lineFeed + 1;
      // Of a line no more is kept than tells whether it is empty, a comment or a field.
      if (this.#carryLength < 2) this.#appendToCarry(chunk, start, Math.min(end, start + 2));
      if (lineFeed < 0) continue;
      const isEmpty = this.#carryLength === 0 || (this.#carryLength === 1 && this.#carry[0] === CR);
      const isComment = !isEmpty && this.#carry[0] === COLON;
      this.#carryLength = 0;
      if (isEmpty && this.#begun) return true;
      if (!isEmpty && !isComment) this.#begun = true;
    }
    return false;
  }

  #nextChunk(): boolean {
    if (this.#data !== undefined && this.#dataIsOfChunk) {
      // The event goes on in a later chunk; its data must not keep this one alive.
      this.#data = Buffer.from(this.#data);
      this.#dataIsOfChunk = false;
    }
    const chunk = this.#waiting[this.#taken];
    this.#chunk = chunk ?? NOTHING;
    this.#at = 0;
    this.#nextCr = -1;
    if (chunk === undefined) {
      this.#waiting.length = this.#taken = 0;
      return false;
    }
    this.#waiting[this.#taken] = NOTHING;
    this.#taken++;
    this.#waitingBytes -= chunk.length;
    return true;
  }

  /** Reads up to the end of a line or of the chunk, whichever is first; a frame where the line ended one. */
  #segment(): Frame | undefined {
    const chunk = this.#chunk;
    const start = this.#at;
    const lineFeed = indexOfLineFeed(chunk, start);
    const end = lineFeed < 0 ? chunk.length : lineFeed + 1;
    this.#checkSegment(start, end);

    const length = end - start;
    this.#eventBytes += length;
    this.#streamBytes += length;
    this.#at = end;
    if (lineFeed < 0) {
      this.#appendToCarry(chunk, start, end);
      return undefined;
    }
    if (this.#carryLength === 0) {
      const lineEnd = lineFeed > start && chunk[lineFeed - 1] === CR ? lineFeed - 1 : lineFeed;
      return this.#line(chunk, start, lineEnd, true);
    }
    this.#appendToCarry(chunk, start, lineFeed);
    const line = this.#carry;
    const lineEnd = line[this.#carryLength - 1] === CR ? this.#carryLength - 1 : this.#carryLength;
    this.#carryLength = 0;
    const frame = this.#line(line, 0, lineEnd, false);
    // The data of the event is a part of the carry: it is the event's now. A frame's data is used up before the next line.
    if (this.#data !== undefined || line.length > CARRY_KEPT) this.#carry = NOTHING;
    return frame;
  }

  /**
   * Of the violations that can become certain inside a line, the one at the earliest byte; at the same byte, bounds come first.
   */
  #checkSegment(start: number, end: number): void {
    const eventLimit = start + (this.#maxEventBytes - this.#eventBytes);
    const streamLimit = start + (this.#maxStreamBytes - this.#streamBytes);
    const bom = this.#bomMatched < 3 ? this.#endOfBom(start, end) : end;
    const bareCr = this.#bareCr(start, end);
    if (eventLimit >= end && streamLimit >= end && bom === end && bareCr === end) return;
    const first = Math.min(eventLimit, streamLimit, bom, bareCr);
    if (first === eventLimit) throw new Refusal('limit.event_bytes');
    if (first === streamLimit) throw new Refusal('limit.stream_bytes');
    throw new Refusal(first === bom ? 'sse.bom' : 'sse.line_ending');
  }

  /** Where the last byte of a byte order mark at the start of the stream is, or `end`. */
  #endOfBom(start: number, end: number): number {
    for (let at = start; at < end; at++) {
      if (this.#chunk[at] !== BOM[this.#bomMatched]) {
        this.#bomMatched = BOM.length;
        return end;
      }
      this.#bomMatched++;
      if (this.#bomMatched === BOM.length) return at;
    }
    return end;
  }

  /** Where the byte after a bare CR is, which proves it bare, or `end`. */
  #bareCr(start: number, end: number): number {
    const chunk = this.#chunk;
    if (this.#carryLength > 0 && this.#carry[this.#carryLength - 1] === CR && chunk[start] !== LF) return start;
    if (this.#nextCr < start) {
      this.#nextCr = chunk.indexOf(CR, start);
      if (this.#nextCr < 0) this.#nextCr = chunk.length;
    }
    const after = this.#nextCr + 1;
    return after < end && chunk[after] !== LF ? after : end;
  }

  #appendToCarry(chunk: Buffer, start: number, end: number): void {
    const needed = this.#carryLength + end - start;
    if (needed > this.#carry.length) {
      // Doubling keeps a line that comes byte by byte linear. The bound was checked before: no carry outgrows it twice over.
      const larger = Buffer.allocUnsafeSlow(Math.max(256, needed, Math.min(needed * 2, this.#maxEventBytes)));
      this.#carry.copy(larger, 0, 0, this.#carryLength);
      this.#carry = larger;
    }
    chunk.copy(this.#carry, this.#carryLength, start, end);
    this.#carryLength = needed;
  }

  #line(bytes: Buffer, start: number, end: number, isOfChunk: boolean): Frame | undefined {
    if (start === end) return this.#begun ? this.#frame() : undefined;
    if (bytes[start] === COLON) return undefined;
    this.#begun = true;
    const colon = colonOf(bytes, start, end);
    const value = bytes[colon + 1] === SPACE && colon + 1 < end ? colon + 2 : colon + 1;
    switch (fieldOf(bytes, start, colon)) {
      case 'data':
        if (this.#data !== undefined) throw new Refusal('sse.data_lines');
        this.#data = bytes.subarray(value, end);
        this.#dataIsOfChunk = isOfChunk;
        break;
      case 'id':
        if (this.#id !== undefined) throw new Refusal('sse.field');
        this.#id = eventId(bytes, value, end);
        this.#ids.add(this.#id);
        break;
      case 'event':
        if (this.#name !== undefined) throw new Refusal('sse.field');
        this.#name = eventName(bytes.toString('latin1', value, Math.min(end, value + 8)));
        break;
      default:
        throw new Refusal('sse.field');
    }
    return undefined;
  }

  /** An event is complete. */
  #frame(): Frame {
    this.#begun = false;
    this.#complete = true;
    if (this.#events >= this.#maxStreamEvents) throw new Refusal('limit.stream_events');
    const data = this.#data;
    const id = this.#id;
    if (data === undefined) throw new Refusal('sse.data_lines');
    if (id === undefined && !this.#idOptional) throw new Refusal('sse.id_missing');
    const frame = { data, id, isError: this.#name === 'error' };
    this.#complete = false;
    this.#events++;
    this.#eventBytes = 0;
    this.#data = undefined;
    this.#id = undefined;
    this.#name = undefined;
    return frame;
  }
}

/** The native search costs more than a short line has bytes, and of the three lines of an event two are short. */
function indexOfLineFeed(chunk: Buffer, start: number): number {
  const nearby = Math.min(chunk.length, start + 16);
  for (let at = start; at < nearby; at++) if (chunk[at] === LF) return at;
  return nearby === chunk.length ? -1 : chunk.indexOf(LF, nearby);
}

/** Where the colon of a line is, as far as a known field has one. @throws {Refusal} `sse.field` */
function colonOf(bytes: Buffer, start: number, end: number): number {
  const last = Math.min(end - 1, start + 'event'.length);
  for (let at = start; at <= last; at++) if (bytes[at] === COLON) return at;
  throw new Refusal('sse.field');
}

/** The name of a line's field, if it is one of the three. Told by its bytes: a string would be made for each line. */
function fieldOf(bytes: Buffer, start: number, colon: number): 'data' | 'id' | 'event' | undefined {
  switch (colon - start) {
    case 2:
      return bytes[start] === 0x69 && bytes[start + 1] === 0x64 ? 'id' : undefined;
    case 4:
      return bytes.readUInt32BE(start) === 0x64617461 ? 'data' : undefined;
    case 5:
      return bytes.readUInt32BE(start) === 0x6576656e && bytes[start + 4] === 0x74 ? 'event' : undefined;
    default:
      return undefined;
  }
}

function eventName(name: string): 'message' | 'error' {
  if (name !== 'message' && name !== 'error') throw new Refusal('sse.event_name');
  return name;
}

function eventId(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length === 0 || length > MAX_ID_BYTES) throw new Refusal('sse.id_invalid');
  if (isVisibleAscii(bytes, start, end)) return bytes.toString('latin1', start, end);
  const id = bytes.toString('utf8', start, end);
  if (!isUtf8(bytes.subarray(start, end)) || /[\u0000-\u001f\u007f-\u009f]/.test(id)) throw new Refusal('sse.id_invalid');
  return id;
}

function isVisibleAscii(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte <= 0x20 || byte >= 0x7f) return false;
  }
  return true;
}
