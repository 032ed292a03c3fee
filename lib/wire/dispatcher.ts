/** Which dispatchers a call may be given: any but those that send to an origin of their own, whatever the call's endpoint says. */
import { Refusal } from '../failure.js';

/** What undici calls those that are bound to an origin, or to a list of them. */
const BOUND = new Set(['Client', 'Pool', 'BalancedPool', 'RoundRobinPool', 'H2CClient', 'MockClient', 'MockPool']);

/** The refusal of a dispatcher (`options.dispatcher`), or `undefined`. Sees through undici's composition and over copies of undici. */
export function checkDispatcher(dispatcher: unknown): Refusal | undefined {
  let reason: unknown;
  try {
    if (isDispatcher(dispatcher) && !isBound(dispatcher)) return undefined;
  } catch (error) {
    reason = error;
  }
  return new Refusal('options.dispatcher', { reason });
}

function isDispatcher(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'dispatch' in value && typeof value.dispatch === 'function';
}

function isBound(dispatcher: object): boolean {
  // undici keeps the origin of a bound dispatcher, and of one that wraps it (`RetryAgent`), under a symbol of this name; where it has a list
  // of origins, it says so under another.
  for (const symbol of Object.getOwnPropertySymbols(dispatcher)) {
    const value = (dispatcher as Record<symbol, unknown>)[symbol];
    if ((symbol.description === 'url' && value != null) || (symbol.description === 'originless' && value === true)) return true;
  }
  for (let at: unknown = Object.getPrototypeOf(dispatcher); at !== null; at = Object.getPrototypeOf(at)) {
    const { constructor } = at as { constructor?: { name?: unknown } };
    if (typeof constructor?.name === 'string' && BOUND.has(constructor.name)) return true;
  }
  return false;
}
