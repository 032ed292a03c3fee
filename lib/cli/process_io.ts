/** The process as a command sees it. */
import { EXIT_OF_SIGNAL } from './exit_codes.js';
import type { Io, StopSignal } from './io.js';

const SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM'];

export function processIo(): Io {
  const { stdin, stdout, stderr, env } = process;
  return { stdin, stdout, stderr, env, onInterrupt };
}

function onInterrupt(listener: (signal: StopSignal) => void): () => void {
  let wasAsked = false;
  const onSignal = (signal: StopSignal): void => {
    // Who asks twice does not want to wait.
    if (wasAsked) process.exit(EXIT_OF_SIGNAL[signal]);
    wasAsked = true;
    listener(signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}
