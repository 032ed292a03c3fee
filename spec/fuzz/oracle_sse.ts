/**
 * The framing of event streams as section by section of the profile says it: one byte after the other, every line a string, every id
 * in a set. What a chunk is, it does not know.
 */
import type { FailureRule } from '../../lib/failure.js';
import type { SseBounds } from '../../lib/wire/sse.js';

export interface OracleFrame {
  /** One character a byte. */
  readonly data: string;
  readonly id: string | undefined;
  readonly isError: boolean;
}

export interface OracleVerdict {
  readonly frames: readonly OracleFrame[];
  readonly rule: FailureRule | undefined;
  /** How many bytes it takes to know that the rule is broken; `undefined` where that takes the end of the stream. */
  readonly bytes: number | undefined;
  /** Where the event begins that comes after the last frame. */
  readonly eventStart: number;
}

/** How many bytes it takes for the event that begins at `eventStart` to be complete, whatever rules it breaks; infinity where it never is. */
export function completedAt(bytes: Buffer, eventStart: number): number {
  const lines = bytes.toString('latin1', eventStart).split('\n');
  let position = eventStart;
  let isBegun = false;
  // What stands behind the last line feed is no line yet.
  for (const line of lines.slice(0, -1)) {
    position += line.length + 1;
    const isEmpty = line === '' || line === '\r';
    if (isEmpty && isBegun) return position;
    if (!isEmpty && !line.startsWith(':')) isBegun = true;
  }
  return Infinity;
}

class Broken extends Error {
  readonly rule: FailureRule;

  constructor(rule: FailureRule) {
    super(rule);
    this.rule = rule;
  }
}

export function judgeStream(bytes: Buffer, bounds: SseBounds): OracleVerdict {
  const stream = new Stream(bounds);
  const text = bytes.toString('latin1');
  for (let at = 0; at < text.length; at++) {
    try {
      stream.byte(text, at);
    } catch (broken) {
      if (!(broken instanceof Broken)) throw broken;
      return { frames: stream.frames, rule: broken.rule, bytes: at + 1, eventStart: stream.eventStart };
    }
  }
  return { frames: stream.frames, rule: stream.end(), bytes: undefined, eventStart: stream.eventStart };
}

class Stream {
  readonly frames: OracleFrame[] = [];
  eventStart = 0;
  readonly #bounds: SseBounds;
  readonly #ids = new Set<string>();
  #lastId: bigint | undefined;
  #line = '';
  #bytesOfEvent = 0;
  #fields = new Map<string, string>();

  constructor(bounds: SseBounds) {
    this.#bounds = bounds;
  }

  byte(text: string, at: number): void {
    this.#bytesOfEvent++;
    if (this.#bytesOfEvent > this.#bounds.maxEventBytes) throw new Broken('limit.event_bytes');
    if (at + 1 > this.#bounds.maxStreamBytes) throw new Broken('limit.stream_bytes');
    if (at === 2 && text.startsWith('\xef\xbb\xbf')) throw new Broken('sse.bom');
    const byte = text.charAt(at);
    if (this.#line.endsWith('\r') && byte !== '\n') throw new Broken('sse.line_ending');
    if (byte !== '\n') {
      this.#line += byte;
      return;
    }
    const line = this.#line.replace(/\r$/, '');
    this.#line = '';
    if (line === '') this.#eventEnd(at + 1);
    else if (!line.startsWith(':')) this.#field(line);
  }

  end(): FailureRule | undefined {
    if (this.#line.endsWith('\r')) return 'sse.line_ending';
    const isCut = this.#fields.size > 0 || (this.#line !== '' && !this.#line.startsWith(':'));
    return isCut ? 'sse.truncated' : undefined;
  }

  #field(line: string): void {
    const [, name = '', value = ''] = /^(data|id|event):[ ]?([^]*)$/.exec(line) ?? [];
    if (name === '') throw new Broken('sse.field');
    if (this.#fields.has(name)) throw new Broken(name === 'data' ? 'sse.data_lines' : 'sse.field');
    this.#fields.set(name, value);
    if (name === 'id') this.#id(value);
    if (name === 'event' && value !== 'message' && value !== 'error') throw new Broken('sse.event_name');
  }

  #id(value: string): void {
    let id: string;
    try {
      id = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'latin1'));
    } catch {
      throw new Broken('sse.id_invalid');
    }
    if (id === '' || value.length > 256 || /\p{Cc}/u.test(id)) throw new Broken('sse.id_invalid');
    this.#fields.set('id', id);
    if (this.#ids.has(id)) throw new Broken('sse.id_duplicate');
    this.#ids.add(id);
    if (this.#bounds.eventIds !== 'sequential') return;
    const number = /^(?:0|[1-9]\d*)$/.test(id) && BigInt(id) <= BigInt(Number.MAX_SAFE_INTEGER) ? BigInt(id) : undefined;
    if (number === undefined || (this.#lastId !== undefined && number !== this.#lastId + 1n)) throw new Broken('sse.id_gap');
    this.#lastId = number;
  }

  #eventEnd(end: number): void {
    if (this.#fields.size === 0) return;
    const [data, id, name] = ['data', 'id', 'event'].map((field) => this.#fields.get(field));
    if (this.frames.length >= this.#bounds.maxStreamEvents) throw new Broken('limit.stream_events');
    if (data === undefined) throw new Broken('sse.data_lines');
    if (id === undefined && this.#bounds.eventIds !== 'optional') throw new Broken('sse.id_missing');
    this.frames.push({ data, id, isError: name === 'error' });
    this.#fields = new Map();
    this.#bytesOfEvent = 0;
    this.eventStart = end;
  }
}
