/** Agents that are processes of their own: started, found, and ended by their own id. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { RunningAgent } from './agents.js';

/** An interpreter may have much to load on a loaded machine. */
const START_MS = 60_000;
const END_MS = 3_000;
/** Enough of what an agent complains of to see why it did not start. */
const MAX_COMPLAINT = 4_000;

/** Starts a program that says `listening <url>` on a line of its output. */
export async function startProcess(command: string, args: readonly string[]): Promise<RunningAgent> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const stop = async (): Promise<void> => {
    await end(child);
    process.off('exit', endWithUs);
  };
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-MAX_COMPLAINT)));
  try {
    return { url: await urlOf(child), stop };
  } catch (error) {
    await stop();
    throw new Error(`${command} did not start\n${complaint}`, { cause: error });
  }
}

async function urlOf(child: ChildProcess): Promise<string> {
  const clock = new AbortController();
  const timer = setTimeout(() => {
    clock.abort();
  }, START_MS);
  try {
    const failed = once(child, 'error', { signal: clock.signal }).then(([error]) => Promise.reject(error as Error));
    return await Promise.race([failed, lineWithUrl(child, clock.signal)]);
  } finally {
    clearTimeout(timer);
    clock.abort();
  }
}

async function lineWithUrl(child: ChildProcess, signal: AbortSignal): Promise<string> {
  if (child.stdout === null) throw new Error('its output is not read');
  for await (const line of createInterface({ input: child.stdout, signal })) {
    const url = /^listening (http:\/\/127\.0\.0\.1:\d+\/)$/.exec(line)?.[1];
    if (url !== undefined) {
      child.stdout.resume();
      return url;
    }
  }
  throw new Error('it ended, or did not say where it listens');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
  await ended;
  clearTimeout(timer);
}
