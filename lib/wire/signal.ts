/** The caller's signal: `deadline.signal`, `canceled.signal`. */
import { Refusal } from '../failure.js';

// The platform's own, whatever a caller has put in their place on a signal: each is called with the signal as `this`.
/* eslint-disable @typescript-eslint/unbound-method */
const { addEventListener, removeEventListener } = EventTarget.prototype;
const abortedOf = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'aborted')?.get;
const reasonOf = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'reason')?.get;
/* eslint-enable @typescript-eslint/unbound-method */

/** @throws {TypeError} for an object that is no signal */
export function isAborted(signal: AbortSignal): unknown {
  return abortedOf?.call(signal) as unknown;
}

export function watch(signal: AbortSignal, onAbort: () => void): void {
  addEventListener.call(signal, 'abort', onAbort, { once: true });
}

export function unwatch(signal: AbortSignal, onAbort: () => void): void {
  removeEventListener.call(signal, 'abort', onAbort);
}

/** What a call ends with whose signal has aborted. */
export function signalRefusal(signal: AbortSignal): Refusal {
  const reason: unknown = reasonOf?.call(signal);
  let isTimeout = false;
  try {
    isTimeout = typeof reason === 'object' && reason !== null && 'name' in reason && reason.name === 'TimeoutError';
  } catch {
    // A reason of the caller's that throws when it is looked at is some other reason.
  }
  return new Refusal(isTimeout ? 'deadline.signal' : 'canceled.signal', { reason });
}
