/** How this layer says no before anything is sent. */
import { Failure, Refusal } from '../failure.js';

/** The failure of a call that was never sent. What is no refusal is the engine at its limits: a request that no buffer can hold. */
export function notSent(error: unknown): Failure {
  const { rule, path, reason } = error instanceof Refusal ? error : new Refusal('request.bytes', { reason: error });
  return new Failure(rule, { delivery: 'not_sent', path, cause: reason });
}
