/** One signal for what the caller and the peer have to say about a call. */
import { signalRefusal, unwatch, watch, isAborted } from '../wire/signal.js';

export interface Link {
  readonly signal: AbortSignal;
  /** Nobody is listened to any more. */
  readonly release: () => void;
}

/**
 * A signal that aborts with either of two, for the reason of that one. Unlike what `AbortSignal.any` makes it depends on no garbage
 * collection: it holds both until it is released, and is held by neither after that.
 */
export function link(peers: AbortSignal, callers: AbortSignal | undefined): Link {
  if (callers === undefined) return { signal: peers, release: () => undefined };
  const both = new AbortController();
  const onPeer = (): void => {
    end(peers);
  };
  const onCaller = (): void => {
    end(callers);
  };
  const release = (): void => {
    unwatch(peers, onPeer);
    unwatch(callers, onCaller);
  };
  const end = (signal: AbortSignal): void => {
    release();
    both.abort(signalRefusal(signal).reason);
  };
  watch(peers, onPeer);
  watch(callers, onCaller);
  if (isAborted(callers) === true) end(callers);
  return { signal: both.signal, release };
}
