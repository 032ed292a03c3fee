/**
 * JSON-RPC 2.0 envelopes: the request that is sent, and what counts as the answer to it (section 5 of the profile).
 */
import { randomFillSync } from 'node:crypto';
import { Refusal, RemoteError } from '../failure.js';
import { parseJson, type JsonValue } from './json.js';

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
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
}

/** The result of a call: its value, and its exact bytes in a buffer of their own. */
export interface RpcResult {
  readonly value: unknown;
  readonly raw: Uint8Array;
}

const NO_RESULT: RpcResult = { value: undefined, raw: new Uint8Array(0) };

/**
 * The result that a whole JSON text gives as the answer to request `id`.
 * @param resultOptional whether an answer with neither result nor error stands for an empty result
 * @throws {Refusal} `json.*`, `jsonrpc.*`; `remote.error`, with a {@link RemoteError} as reason, for a well-formed error
 */
export function decodeResponse(bytes: Buffer, id: string, resultOptional = false): RpcResult {
  const { value, members } = parseJson(bytes);
  if (!isObject(value)) throw new Refusal('jsonrpc.members');
  let hasError = false;
  let hasId = false;
  let start = -1;
  let end = -1;
  for (const member of members) {
    switch (member.name) {
      case 'jsonrpc':
        break;
      case 'id':
        hasId = true;
        break;
      case 'result':
        start = member.start;
        end = member.end;
        break;
      case 'error':
        hasError = true;
        break;
      default:
        throw new Refusal('jsonrpc.members');
    }
  }
  const hasResult = start >= 0;
  const isError = hasError && !hasResult;
  if (value['jsonrpc'] !== '2.0') throw new Refusal('jsonrpc.version');
  // JSON-RPC 2.0 section 5: the answer to a request whose id could not be read is an error with the id null.
  if (!hasId || (value['id'] !== id && !(isError && value['id'] === null))) throw new Refusal('jsonrpc.id');
  if (hasError === hasResult && (hasError || !resultOptional)) throw new Refusal('jsonrpc.result_or_error');
  if (isError) throw remoteError(value['error']);
  if (!hasResult) return NO_RESULT;
  return { value: value['result'], raw: new Uint8Array(bytes.subarray(start, end)) };
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
