/** A response's raw headers, as they came over the wire. */
import type { Dispatcher } from 'undici';

type RawHeaders = Dispatcher.DispatchController['rawHeaders'];

/**
 * What a response's raw headers are before an interceptor changes them: `decompress` takes `content-encoding` off. It can only be there where
 * the controller is one that wraps another, and there the innermost is told of each head first.
 */
export function watchRawHeaders(controller: Dispatcher.DispatchController): (() => RawHeaders) | undefined {
  let innermost: object = controller;
  while ('target' in innermost && typeof innermost.target === 'object' && innermost.target !== null) innermost = innermost.target;
  if (innermost === controller) return undefined;
  let current: RawHeaders;
  let first: RawHeaders;
  Object.defineProperty(innermost, 'rawHeaders', {
    configurable: true,
    get: () => current,
    set(headers: RawHeaders) {
      // A copy: the list is changed in place.
      first ??= Array.isArray(headers) ? (headers as Buffer[]).slice() : { ...headers };
      current = headers;
    },
  });
  return () => {
    const headers = first;
    // Informational heads come before the real one.
    first = undefined;
    return headers;
  };
}
