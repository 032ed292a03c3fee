/** Calls with fixed options, and their outcomes as one line of text each, so that tables of them read well. */
import type { Dispatcher } from 'undici';
import { Failure, StrictClient, userText, type CallOptions, type EventStream, type StreamOptions } from '../../lib/index.js';

export type Options = Partial<StreamOptions>;

export function streamOptions(endpoint: string, options: Options = {}): StreamOptions {
  return { endpoint, protocolVersion: '1.0', maxResponseBytes: 1 << 20, maxEventBytes: 1 << 20, ...options };
}

export function callOptions(endpoint: string, options: Options = {}): CallOptions {
  const { maxEventBytes: _, ...call } = streamOptions(endpoint, options);
  return call;
}

/** A unary call of a method that needs no schema. */
export function call(dispatcher: Dispatcher, endpoint: string, options?: Options): Promise<unknown> {
  return new StrictClient(dispatcher).call(callOptions(endpoint, options), 'Anything', { text: 'hello' });
}

export function openStream(dispatcher: Dispatcher, endpoint: string, options?: Options): EventStream {
  return new StrictClient(dispatcher).sendStreamingMessage(streamOptions(endpoint, options), { message: userText('hello') });
}

/** `ok`, or the rule and the delivery of the failure, with the status where there is one. Anything but a `Failure` is thrown on. */
export async function outcome(answer: Promise<unknown>): Promise<string> {
  try {
    await answer;
    return 'ok';
  } catch (error) {
    return lineOf(error);
  }
}

export async function failureFrom(answer: Promise<unknown>): Promise<Failure> {
  try {
    await answer;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('There was no failure');
}

export function lineOf(error: unknown): string {
  if (!(error instanceof Failure)) throw error;
  return [error.rule, error.delivery, ...(error.status === undefined ? [] : [error.status])].join(' ');
}

/** How many events came and how the stream ended. */
export async function drain(stream: EventStream): Promise<string> {
  let events = 0;
  try {
    for await (const _ of stream) events++;
  } catch (error) {
    return `${events} ${lineOf(error)}`;
  }
  return `${events} ok`;
}

export function callOutcome(dispatcher: Dispatcher, endpoint: string, options?: Options): Promise<string> {
  return outcome(call(dispatcher, endpoint, options));
}

export function streamOutcome(dispatcher: Dispatcher, endpoint: string, options?: Options): Promise<string> {
  return drain(openStream(dispatcher, endpoint, options));
}

/** Lets time pass, so that what must not happen has had its chance to. */
export function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until something holds, in steps of the event loop; fails after two seconds. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const end = performance.now() + 2000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`Never happened: ${what}`);
    await pass(1);
  }
}
