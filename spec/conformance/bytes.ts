/**
 * The bytes that a case stands for: pieces, the short form's body and head.
 */
import { STATUS_CODES } from 'node:http';
import { isRaw, type Body, type EventBody, type Piece, type Run, type ShortResponse, type Step, type Text } from './corpus.js';

/** What `$ID` and `$LENGTH` stand for. */
export interface Names {
  readonly id: string;
  readonly length?: number;
}

/** Each piece's bytes. `fill` reaches up to a position counted from the first piece. */
export function piecesOf(text: Text, names: Names): Buffer[] {
  let position = 0;
  return (typeof text === 'string' ? [text] : text).map((piece) => {
    const bytes = bytesOfPiece(piece, names, position);
    position += bytes.length;
    return bytes;
  });
}

export function bytesOf(text: Text, names: Names): Buffer {
  return Buffer.concat(piecesOf(text, names));
}

function bytesOfPiece(piece: Piece, names: Names, position: number): Buffer {
  if (typeof piece === 'string') return Buffer.from(substitute(piece, names));
  if ('base64' in piece) return Buffer.from(piece.base64, 'base64');
  if ('repeat' in piece) return Buffer.from(substitute(piece.repeat, names).repeat(piece.times));
  if (piece.to < position) throw new RangeError(`A fill up to ${piece.to} begins behind it, at ${position}`);
  return Buffer.from(piece.fill.repeat(piece.to - position));
}

function substitute(text: string, { id, length }: Names): string {
  return text.replaceAll('$ID', JSON.stringify(id).slice(1, -1)).replaceAll('$LENGTH', String(length));
}

/** A short form's body, in the chunks that it is sent in where it is sent in chunks. */
export function bodyPieces(body: Body, names: Names): Buffer[] {
  return piecesOf(textOfBody(body), names).filter((piece) => piece.length > 0);
}

function textOfBody(body: Body): Text {
  if (typeof body === 'string' || Array.isArray(body)) return body;
  // TypeScript does not take a readonly list for an Array.
  const form = body as Exclude<Body, Text>;
  return 'events' in form ? form.events.map(textOfEvent) : envelope(form);
}

function textOfEvent(event: string | EventBody): string {
  if (typeof event === 'string') return event;
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  const name = event.event === undefined ? '' : `event: ${event.event}\n`;
  return `${id}${name}data: ${envelope(event)}\n\n`;
}

function envelope(form: { result?: unknown; error?: unknown }): string {
  const name = 'error' in form ? 'error' : 'result';
  return `{"jsonrpc":"2.0","id":"$ID","${name}":${JSON.stringify(form[name])}}`;
}

/** The raw bytes of each result that a short form says as a value; `undefined` where it says them otherwise. */
export function resultsOf({ body }: ShortResponse): string[] | undefined {
  if (typeof body === 'string' || Array.isArray(body)) return undefined;
  const form = body as Exclude<Body, Text>;
  if ('result' in form) return [JSON.stringify(form.result)];
  if (!('events' in form)) return undefined;
  const results = form.events.filter((event) => typeof event !== 'string' && 'result' in event) as EventBody[];
  return results.map(({ result }) => JSON.stringify(result));
}

export const DEFAULT_STATUS = 200;

/** A short form's header fields, in order, as name and value; those that framing adds not included. */
export function headersOf(response: ShortResponse, isStream: boolean): [string, string][] {
  const named = Object.keys(response.headers ?? {}).some((name) => name.toLowerCase() === 'content-type');
  const mediaType = isStream && (response.status ?? DEFAULT_STATUS) === DEFAULT_STATUS ? 'text/event-stream' : 'application/json';
  const headers: NonNullable<ShortResponse['headers']> = { ...(!named && { 'content-type': mediaType }), ...response.headers };
  return Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (value === null) return [];
    return (typeof value === 'string' ? [value] : value).map((one) => [name, one]);
  });
}

/** How the bytes of a short form come: as the case says, or its body in HTTP chunks of a single byte. */
export type Splitting = 'as written' | 'single bytes';

const CRLF = '\r\n';
const LAST_CHUNK: Step = { send: `0${CRLF}${CRLF}` };

/** What is done on the connection for a run. */
export function stepsOf({ case: { response }, isStream }: Run, names: Names, splitting: Splitting): Step[] {
  if (isRaw(response)) return [...response.raw];
  const pieces = bodyPieces(response.body, names);
  const framing = splitting === 'single bytes' ? 'chunked' : (response.framing ?? (isStream ? 'chunked' : 'content-length'));
  const status = response.status ?? DEFAULT_STATUS;
  const lines = [`HTTP/1.1 ${status} ${response.reason ?? STATUS_CODES[status] ?? ''}`];
  for (const [name, value] of headersOf(response, isStream)) lines.push(`${name}: ${value}`);
  if (framing === 'content-length') lines.push('content-length: $LENGTH');
  if (framing === 'chunked') lines.push('transfer-encoding: chunked');
  const head: Step = { send: `${lines.join(CRLF)}${CRLF}${CRLF}` };
  const exact = pieces.map((piece) => [{ base64: piece.toString('base64') }]);
  switch (framing) {
    case 'chunked': {
      const single = splitting === 'single bytes' ? singleBytes(pieces) : exact;
      return [head, ...single.map((chunk) => ({ chunk })), LAST_CHUNK];
    }
    case 'content-length':
      return [head, ...exact.map((body) => ({ body }))];
    case 'close':
      return [head, ...exact.map((send) => ({ send })), { end: true }];
  }
}

function singleBytes(pieces: readonly Buffer[]): { base64: string }[][] {
  return Array.from(Buffer.concat(pieces), (byte) => [{ base64: Buffer.of(byte).toString('base64') }]);
}

/** The bytes that a step sends, if it sends any. */
export function bytesOfStep(step: Step, names: Names): Buffer | undefined {
  if ('send' in step) return bytesOf(step.send, names);
  if ('body' in step) return bytesOf(step.body, names);
  if (!('chunk' in step)) return undefined;
  const chunk = bytesOf(step.chunk, names);
  return Buffer.concat([Buffer.from(chunk.length.toString(16) + CRLF), chunk, Buffer.from(CRLF)]);
}

/** What `$LENGTH` stands for: the bytes of all `body` steps. */
export function lengthOf(steps: readonly Step[], names: Names): number {
  return steps.reduce((length, step) => length + ('body' in step ? bytesOf(step.body, names).length : 0), 0);
}
