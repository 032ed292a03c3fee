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

/** The result of a call: its value, and its exact bytes in a buffer of their own. */
export interface RpcResult {
  readonly value: unknown;
  readonly raw: Uint8Array;
  /** Where in the text it begins. */
  readonly start: number;
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
      if (value !== undefined) return { value, raw: copyOf(bytes, start, end), start };
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
    if (result === undefined) return { value: undefined, raw: new Uint8Array(0), start: 0 };
    this.#before = Buffer.from(bytes.subarray(0, result.start));
    this.#after = Buffer.from(bytes.subarray(result.end));
    return { value: value['result'], raw: copyOf(bytes, result.start, result.end), start: result.start };
  }
}

const CLOSING = Buffer.from('}');
const MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'result', 'error']);

/** A copy in a buffer of its own. */
function copyOf(bytes: Buffer, start: number, end: number): Uint8Array {
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
