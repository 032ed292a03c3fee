/**
 * Recognises an event that repeats an earlier one but for its text: the bulk of every stream of tokens.
 *
 * Why this is sound. A template is learnt from an event that went the plain path, every check on. It is the bytes before and after the body
 * of one JSON string in that event; that this string is the text of the event's one part is proven by experiment: the plain path is run
 * again with another text in its place, one that no agent can guess, and has to give the same event with that text. From then on, an event
 * that has the very same bytes before and after, and between them nothing but the body of one JSON string (valid UTF-8; no quote but an escaped
 * one, no control character, every escape whole and every surrogate paired), consists of the same tokens but for that one string. So it keeps or breaks just the rules that the
 * template kept: framing is judged before, and order and identity after, as for every event. Whatever does not fit goes the plain path.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { StreamEvent } from './wire/lifecycle.js';

/** What the data of an event comes to. */
export interface DecodedEvent {
  readonly event: StreamEvent;
  /** 0.3: the event says that it is the last. */
  readonly isFinal: boolean;
  /** Where in the data the result stands, `end` exclusive. */
  readonly start: number;
  readonly end: number;
}

/** The plain path. @throws {Refusal} */
export type PlainDecoder = (data: Buffer) => DecodedEvent;

type ArtifactUpdate = Extract<StreamEvent, { $case: 'artifactUpdate' }>;

interface Template {
  readonly before: Buffer;
  readonly after: Buffer;
  /** Bytes of the data before the result, and behind it. */
  readonly start: number;
  readonly behind: number;
  readonly event: ArtifactUpdate;
}

const MAX_TEMPLATES = 4;
/** So many templates are learnt for nothing before the stream is taken for one in which no two events are alike. */
const MAX_VAIN = 8;
/** And so many in all: an agent must not make us learn for ever. */
const MAX_LEARNT = 256;
/** A larger event is not learnt from: it would be kept for as long as the stream, and gains the least. */
const MAX_EVENT_BYTES = 64 * 1024;

export class RepeatRecognition {
  readonly #plain: PlainDecoder;
  readonly #templates: Template[] = [];
  #vain = 0;
  #learnt = 0;

  constructor(plain: PlainDecoder) {
    this.#plain = plain;
  }

  /** As the plain path. @throws {Refusal} */
  decode(data: Buffer): DecodedEvent {
    for (const template of this.#templates) {
      const text = textBetween(data, template);
      if (text === undefined) continue;
      this.#vain = 0;
      return { event: withText(template.event, text), isFinal: false, start: template.start, end: data.length - template.behind };
    }
    const decoded = this.#plain(data);
    const mayLearn = this.#vain < MAX_VAIN && this.#learnt < MAX_LEARNT && data.length <= MAX_EVENT_BYTES;
    if (mayLearn && !decoded.isFinal) this.#learn(data, decoded);
    return decoded;
  }

  #learn(data: Buffer, { event, start, end }: DecodedEvent): void {
    const text = textOf(event);
    if (text === undefined || event.$case !== 'artifactUpdate') return;
    this.#vain++;
    this.#learnt++;
    const body = Buffer.from(JSON.stringify(text).slice(1, -1));
    const at = lastString(data, body);
    // A text that is escaped in some other way is not found, and not missed.
    if (at < 0) return;
    const before = Buffer.from(data.subarray(0, at));
    const after = Buffer.from(data.subarray(at + body.length));
    if (!this.#isProven(before, after, event)) return;
    // A copy: the event itself is the consumer's, to do with as it likes.
    const template = { before, after, start, behind: data.length - end, event: withText(event, '') };
    this.#templates.unshift(template);
    if (this.#templates.length > MAX_TEMPLATES) this.#templates.pop();
  }

  /** The experiment: another text in the same place gives the same event with that text. */
  #isProven(before: Buffer, after: Buffer, event: ArtifactUpdate): boolean {
    const probe = randomUUID();
    try {
      const decoded = this.#plain(Buffer.concat([before, Buffer.from(probe), after]));
      return JSON.stringify(decoded.event) === JSON.stringify(withText(event, probe));
    } catch {
      return false;
    }
  }
}

/**
 * Where the last JSON string with this body begins, or -1. String by string, in linear time: a search for bytes that the agent chose, in bytes
 * that it chose too, need not be.
 */
function lastString(data: Buffer, body: Buffer): number {
  let last = -1;
  for (let at = 0; at < data.length; at++) {
    if (data[at] !== 0x22) continue;
    const start = at + 1;
    at = start;
    while (data[at] !== 0x22) at += data[at] === 0x5c ? 2 : 1;
    if (at - start === body.length && data.compare(body, 0, body.length, start, at) === 0) last = start;
  }
  return last;
}

/** The text of an artifact update that has one text part and nothing that would have to be copied with it. */
function textOf(event: StreamEvent): string | undefined {
  if (event.$case !== 'artifactUpdate' || event.value.artifact === undefined || event.value.metadata !== undefined) return undefined;
  const { metadata, extensions, parts } = event.value.artifact;
  const [part] = parts;
  if (metadata !== undefined || extensions.length > 0 || parts.length !== 1 || part === undefined) return undefined;
  return part.content?.$case === 'text' && part.metadata === undefined ? part.content.value : undefined;
}

/** A new event like a template's, with another text. */
function withText({ value: { artifact, ...update } }: ArtifactUpdate, text: string): ArtifactUpdate {
  const [part] = artifact?.parts ?? [];
  return {
    $case: 'artifactUpdate',
    value: {
      taskId: update.taskId,
      contextId: update.contextId,
      artifact: {
        artifactId: artifact?.artifactId ?? '',
        name: artifact?.name ?? '',
        description: artifact?.description ?? '',
        parts: [
          {
            content: { $case: 'text', value: text },
            metadata: undefined,
            filename: part?.filename ?? '',
            mediaType: part?.mediaType ?? '',
          },
        ],
        metadata: undefined,
        extensions: [],
      },
      append: update.append,
      lastChunk: update.lastChunk,
      metadata: undefined,
    },
  };
}

/** What stands between a template's bytes, if that is all that differs; `undefined` where it is not the body of one string, or may not be. */
function textBetween(data: Buffer, { before, after }: Template): string | undefined {
  const start = before.length;
  const end = data.length - after.length;
  if (end < start || !hasBytes(data, after, end) || !hasBytes(data, before, 0)) return undefined;
  if (end - start > SHORT_BYTES) return parsedText(data.subarray(start, end));
  let bits = 0;
  for (let at = start; at < end; at++) {
    const byte = data[at] as number;
    if (byte === 0x22 || byte < 0x20) return undefined;
    if (byte === 0x5c) return parsedText(data.subarray(start, end));
    bits |= byte;
  }
  if (bits < 0x80) return data.toString('latin1', start, end);
  return isUtf8(data.subarray(start, end)) ? data.toString('utf8', start, end) : undefined;
}

/** Up to here a loop of our own is faster than the native calls. */
const SHORT_BYTES = 64;

/**
 * A body that is left to `JSON.parse`, which takes nothing in it for the end of the string that is none, no control character, and no escape
 * that is not whole.
 */
function parsedText(body: Buffer): string | undefined {
  const encoding = isAscii(body) ? 'latin1' : isUtf8(body) ? 'utf8' : undefined;
  if (encoding === undefined) return undefined;
  try {
    const text = JSON.parse(`"${body.toString(encoding)}"`) as string;
    return text.isWellFormed() ? text : undefined;
  } catch {
    return undefined;
  }
}

function hasBytes(data: Buffer, bytes: Buffer, at: number): boolean {
  if (bytes.length <= SHORT_BYTES) {
    for (let i = bytes.length - 1; i >= 0; i--) if (data[at + i] !== bytes[i]) return false;
    return true;
  }
  return data.compare(bytes, 0, bytes.length, at, at + bytes.length) === 0;
}
