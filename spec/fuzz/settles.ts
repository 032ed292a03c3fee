import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';

/** Turns of the event loop that a call may take when nothing is waited for: all that it needs is there, and no clock is set. */
const TURNS = 100;

/** What a promise comes to; an error where it comes to nothing. No clock: turns are counted, which no slow machine makes more of. */
export async function settles<T>(promise: Promise<T>): Promise<T> {
  const pending = Symbol('pending');
  for (let turn = 0; turn < TURNS; turn++) {
    const first = await Promise.race([promise, setImmediate(pending)]);
    if (first !== pending) return promise;
  }
  throw new assert.AssertionError({ message: 'The call does not end' });
}
