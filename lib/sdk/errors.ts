/** The SDK's typed errors, in place of a failure that is the agent's own word. */
import { fromJsonRpcErrorResponse } from '@a2a-js/sdk/errors';
import { isObject } from '../dialect/values.js';
import { Failure, RemoteError } from '../failure.js';

type Envelope = Parameters<typeof fromJsonRpcErrorResponse>[0];
type ErrorData = NonNullable<Envelope['error']['data']>;

/**
 * What the SDK's transports throw for the same answer (`TaskNotFoundError`, …), with the failure as its `cause`: its message and data are
 * the agent's words. Anything but the agent's own error is thrown as it is.
 */
export function sdkError(error: unknown): unknown {
  if (!(error instanceof Failure)) return error;
  const cause = error.unwrap();
  if (!(cause instanceof RemoteError)) return error;
  const { code, message, data } = cause;
  const typed = fromJsonRpcErrorResponse({
    jsonrpc: '2.0',
    id: null,
    // Data of another form than the SDK's type allows is in the failure alone.
    error: { code, message, ...(isErrorData(data) && { data }) },
  });
  // As the constructor of an Error sets it; the SDK has no other way to it here.
  Object.defineProperty(typed, 'cause', { value: error, writable: true, configurable: true });
  return typed;
}

function isErrorData(data: unknown): data is ErrorData {
  return Array.isArray(data) ? data.every(isObject) : isObject(data);
}
