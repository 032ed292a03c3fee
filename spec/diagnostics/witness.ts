/** Subscribes to the calls of this process, and keeps what each of the five channels says, and when. */
import { tracingChannel } from 'node:diagnostics_channel';
import type { TestContext } from 'node:test';
import type { CallMessage } from '../../lib/index.js';

export const calls = tracingChannel<unknown, CallMessage>('a2a-strict:call');

export const CHANNELS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;

export interface Seen {
  readonly channel: (typeof CHANNELS)[number];
  readonly message: CallMessage;
  /** What its own enumerable members were at that moment. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** What is published until the test is over. */
export function witness(t: TestContext, also?: Seen['channel'], act?: (message: CallMessage) => void): Seen[] {
  const seen: Seen[] = [];
  const subscribers = Object.fromEntries(
    CHANNELS.map((channel) => [
      channel,
      (message: CallMessage) => {
        seen.push({ channel, message, members: { ...message } });
        if (channel === also) act?.(message);
      },
    ]),
  ) as Record<Seen['channel'], (message: CallMessage) => void>;
  calls.subscribe(subscribers);
  t.after(() => {
    calls.unsubscribe(subscribers);
  });
  return seen;
}

export function channelsOf(seen: readonly Seen[]): string {
  return seen.map(({ channel }) => channel).join(' ');
}

/** The message of the only call that was made, as it was at the end. */
export function only(seen: readonly Seen[]): CallMessage {
  const messages = new Set(seen.map(({ message }) => message));
  const [message] = messages;
  if (message === undefined || messages.size > 1) throw new Error(`${String(messages.size)} calls were seen`);
  return message;
}
