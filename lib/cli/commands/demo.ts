/** `a2a-strict demo` */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDemoAgent } from '../demo/agent.js';
import { show } from '../demo/show.js';
import { EXIT } from '../exit_codes.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage_error.js';

export async function demo(session: Session): Promise<number> {
  const { words, output, signal, given } = session;
  const port = given.text('serve');
  if (port !== undefined) return serve(session, port);
  return (await show(words, output, signal)) ? EXIT.ok : EXIT.broken;
}

const MAX_PORT = 65_535;

/** Runs the agent until it is interrupted. */
async function serve({ words, output, signal }: Session, given: string): Promise<number> {
  const port = /^\d{1,5}$/.test(given) ? Number(given) : NaN;
  if (!(port <= MAX_PORT)) throw new UsageError('--serve is a port, from 0 to 65535');
  if (words.length > 0) throw new UsageError('with --serve, demo takes no text');
  let agent;
  try {
    // Slow enough to see that events arrive one by one.
    agent = await startDemoAgent(() => sleep(20), 2, port);
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    throw new UsageError(isTaken ? `something else listens on port ${given}` : `port ${given} cannot be listened on`);
  }
  try {
    await output.line(`${agent.url}  an agent of A2A 1.0 and 0.3, which measures texts; Ctrl-C ends it`);
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    await agent.close();
  }
  return EXIT.ok;
}
