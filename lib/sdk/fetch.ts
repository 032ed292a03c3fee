/** `strictFetch`: a `fetch` for code that brings its own idea of what to do with a response. */
import type { Dispatcher } from 'undici';
import { checkDispatcher } from '../wire/dispatcher.js';
import { checkFetch, checkFetchOptions, type FetchPolicy, type StrictFetchOptions } from './fetch_request.js';
import { fetchResponse } from './fetch_response.js';
import { notSent } from './refusal.js';

/**
 * A `fetch` within bounds, for code that takes a `fetchImpl`: the SDK's `DefaultAgentCardResolver`, its REST transport, its
 * `createAuthenticatingFetchWithRetry`. It takes a string or a `URL` and, of what `fetch` takes beside it, `method` (GET, POST or DELETE), `headers`
 * (a plain object or `Headers`), `body` (a string or bytes) and `signal`.
 *
 * - No redirect is followed: a 3xx is `http.redirect`. Any other status is the caller's to judge, as with `fetch`.
 * - `accept-encoding: identity` is sent, and a body in another coding is refused; nothing else is added to the request.
 * - A body is read whole, within `maxResponseBytes`, before the promise resolves. An event stream that `accept` asked for arrives as it is read,
 *   within `maxStreamBytes`; the agent is held back meanwhile.
 * - There is no clock but the caller's, and credentials do not travel over `http:` to another machine.
 *
 * It rejects, and a body fails, with a `Failure`. What a body holds is not checked.
 * @throws {Failure} `options.*` for wrong options
 */
export function strictFetch(dispatcher: Dispatcher, options: StrictFetchOptions): typeof fetch {
  let policy: FetchPolicy;
  try {
    const refusal = checkDispatcher(dispatcher);
    if (refusal !== undefined) throw refusal;
    policy = checkFetchOptions(options);
  } catch (error) {
    throw notSent(error);
  }
  return async (input, init) => {
    let request;
    try {
      request = checkFetch(policy, input, init);
    } catch (error) {
      throw notSent(error);
    }
    return fetchResponse(dispatcher, request);
  };
}
