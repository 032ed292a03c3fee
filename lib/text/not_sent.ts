/** A refusal as the caller sees it. */
import { Failure, type Refusal } from '../failure.js';

export function notSent({ rule, path, reason }: Refusal): Failure {
  return new Failure(rule, { delivery: 'not_sent', path, cause: reason });
}
