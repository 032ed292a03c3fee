/** What a test opens is closed after it, however it ended. */
import type { TestContext } from 'node:test';
import { MockAgent, type Dispatcher } from 'undici';

export function keep<T extends { close(): Promise<void> }>(t: TestContext, opened: T): T {
  t.after(() => opened.close());
  return opened;
}

/** A dispatcher is not asked to finish what it does: it is ended. */
export function keepDispatcher<T extends Dispatcher>(t: TestContext, dispatcher: T): T {
  // A MockAgent has no other end.
  t.after(() => (dispatcher instanceof MockAgent ? dispatcher.close() : dispatcher.destroy()));
  return dispatcher;
}
