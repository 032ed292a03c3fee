/**
 * JSON-RPC 2.0 envelopes: the request that is sent, and what counts as the answer to it: the `jsonrpc.` rules.
 */
import { randomFillSync } from 'node:crypto';
import { Refusal, RemoteError } from '../failure.js';
import { parseInner, parseJson, type JsonValue } from './json.js';

const ID_BYTES = 16;
/** Random bytes are drawn for many ids at once; a draw of its own would cost more than the rest of the request. */
const pool = Buffer.allocUnsafeSlow(ID_BYTES * 256);
let poolAt = pool.length;

/** An id that no peer can guess: 128 random bits, in hexadecimal. */
export function requestId(): string {
  if (poolAt === pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const id = pool.toString('hex', poolAt, poolAt + ID_BYTES);
  // A used id is not left behind in memory.
  pool.fill(0, poolAt, poolAt + ID_BYTES);
  poolAt += ID_BYTES;
  return id;
}

/** The bytes of one request object. `params` is absent where a method is called without any. */
export function encodeRequest(id: string, method: string, params: JsonValue | undefined): Buffer {
  const tail = params === undefined ? '' : `,"params":${JSON.stringify(params)}`;
  return Buffer.from(`{"jsonrpc":"2.0","id":"${id}","method":${JSON.stringify(method)}${tail}}`);
}

/** The result of a call. */
export class RpcResult {
  readonly value: unknown;
  /** Where in the text it stands, `end` exclusive; both 0 where there is none. */
  readonly start: number;
  readonly end: number;
  readonly #text: Buffer;

  constructor(value: unknown, text: Buffer, start: number, end: number) {
    this.value = value;
    this.start = start;
    this.end = end;
    this.#text = text;
  }

  /** Its exact bytes in a buffer of their own, made anew each time. */
  get raw(): Uint8Array {
    return copyOf(this.#text, this.start, this.end);
  }
}

/**
 * Decodes the answers to one request: one for a unary call, one an event for a stream.
 *
 * The envelopes of a stream mostly differ in their results alone. After one that was checked in full, the bytes around its result are
 * known: a later text that begins and ends with the same bytes and has just one JSON value between them has the same members with
 * the same values, so that only the value is parsed. Whatever does not fit is checked in full.
 */
export class ResponseDecoder {
  readonly #id: string;
  readonly #resultOptional: boolean;
  #before: Buffer;
  #after: Buffer;

  /** @param resultOptional whether an answer with neither result nor error stands for an empty result */
  constructor(id: string, resultOptional = false) {
    this.#id = id;
    this.#resultOptional = resultOptional;
    // How most servers write it.
    this.#before = Buffer.from(`{"jsonrpc":"2.0","id":"${id}","result":`);
    this.#after = CLOSING;
  }

  /**
   * The result that a whole JSON text gives.
   * @throws {Refusal} `json.*`, `jsonrpc.*`; `remote.error`, with a {@link RemoteError} as reason, for a well-formed error
   */
  decode(bytes: Buffer): RpcResult {
    const start = this.#before.length;
    const end = bytes.length - this.#after.length;
    if (end > start && startsWith(bytes, this.#before) && endsWith(bytes, this.#after)) {
      const value = parseInner(bytes, start, end);
      if (value !== undefined) return new RpcResult(value, bytes, start, end);
    }
    return this.#decodeInFull(bytes);
  }

  #decodeInFull(bytes: Buffer): RpcResult {
    const { value, members } = parseJson(bytes);
    if (!isObject(value)) throw new Refusal('jsonrpc.members');
    for (const { name } of members) if (!MEMBERS.has(name)) throw new Refusal('jsonrpc.members');
    const result = members.find(({ name }) => name === 'result');
    const hasError = Object.hasOwn(value, 'error');
    const isError = hasError && result === undefined;
    if (value['jsonrpc'] !== '2.0') throw new Refusal('jsonrpc.version');
    // JSON-RPC 2.0 section 5: the answer to a request whose id could not be read is an error with the id null.
    if (value['id'] !== this.#id && !(isError && value['id'] === null)) throw new Refusal('jsonrpc.id');
    if (hasError === (result !== undefined) && (hasError || !this.#resultOptional)) throw new Refusal('jsonrpc.result_or_error');
    if (isError) throw remoteError(value['error']);
    if (result === undefined) return new RpcResult(undefined, bytes, 0, 0);
    this.#before = Buffer.from(bytes.subarray(0, result.start));
    this.#after = Buffer.from(bytes.subarray(result.end));
    return new RpcResult(value['result'], bytes, result.start, result.end);
  }
}

const CLOSING = Buffer.from('}');
const MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'result', 'error']);

/** A copy of some of the bytes, in a buffer of its own. */
export function copyOf(bytes: Buffer, start: number, end: number): Uint8Array {
  return new Uint8Array(new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start));
}

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  // From its end, where the texts of a server that writes other envelopes differ.
  for (let at = prefix.length - 1; at >= 0; at--) if (bytes[at] !== prefix[at]) return false;
  return true;
}

function endsWith(bytes: Buffer, suffix: Buffer): boolean {
  for (let at = 1; at <= suffix.length; at++) if (bytes[bytes.length - at] !== suffix[suffix.length - at]) return false;
  return true;
}

function remoteError(error: unknown): Refusal {
  if (!isObject(error)) return new Refusal('jsonrpc.error_object');
  const { code, message, data, ...others } = error;
  if (!Number.isSafeInteger(code) || typeof message !== 'string' || Object.keys(others).length > 0) {
    return new Refusal('jsonrpc.error_object');
  }
  return new Refusal('remote.error', { code: code as number, reason: new RemoteError(code as number, message, data) });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
