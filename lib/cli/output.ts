/** What a command prints: its answer on stdout, all else on stderr. */
import { setImmediate as turn } from 'node:timers/promises';
import { styleText } from 'node:util';
import type { Io, Sink } from './io.js';
import { safeJson } from './sanitize.js';

/** Whoever read the output wants no more of it (`| head`): no error of anybody's. */
export class OutputClosed extends Error {}

/** A JSON text of the agent's, to be printed as it is. */
export class Raw {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** The members of one printed JSON object; those that are undefined are left out. */
export type Members = Readonly<Record<string, unknown>>;

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export class Output {
  readonly json: boolean;
  readonly #io: Io;
  readonly #colours: { readonly stdout: boolean; readonly stderr: boolean };
  /** Whether there is a terminal whose last line may be taken back. */
  readonly #hasProgress: boolean;
  #progress = false;
  #until: AbortSignal | undefined;
  /** When something else than printing was last let do its work. */
  #turnedAt = 0;
  #atLineStart = true;

  constructor(io: Io, json: boolean) {
    const { stdout, stderr, env } = io;
    this.#io = io;
    this.json = json;
    const isSmart = env['TERM'] !== 'dumb';
    // https://no-color.org: any value but an empty one.
    const mayColour = isSmart && (env['NO_COLOR'] ?? '') === '';
    this.#colours = { stdout: mayColour && stdout.isTTY === true, stderr: mayColour && stderr.isTTY === true };
    this.#hasProgress = isSmart && stderr.isTTY === true;
    // A write to stdout learns of its own error; one to stderr has nobody left to tell. Errors may come after the last write.
    stdout.on('error', () => undefined);
    stderr.on('error', () => undefined);
  }

  style(style: Style, text: string): string {
    return this.#colours.stdout ? styleText(style, text, { validateStream: false }) : text;
  }

  /** Printing ends, also in the middle of a write, as soon as the user wants that: whatever there is to print, and whether it is read. */
  endWith(signal: AbortSignal): void {
    this.#until = signal;
  }

  /** Prints a text that is safe, and waits until it is written. @throws {OutputClosed}, or the reason of the signal to end with */
  async write(text: string): Promise<void> {
    if (text === '') return;
    this.#until?.throwIfAborted();
    this.clear();
    // As if it were written whole: what follows an interruption begins a line.
    this.#atLineStart = text.endsWith('\n');
    await written(this.#io.stdout, text, this.#until);
    await this.#turn();
  }

  /** Writes to a file or a terminal are over at once: without a pause, a Ctrl-C would never be heard of. */
  async #turn(): Promise<void> {
    if (performance.now() - this.#turnedAt < TURN_MS) return;
    await turn();
    this.#turnedAt = performance.now();
  }

  async line(text = ''): Promise<void> {
    await this.write(`${text}\n`);
  }

  /** Ends a line that was begun. */
  async endLine(): Promise<void> {
    if (this.#atLineStart) return;
    if (this.#until?.aborted !== true) {
      await this.line();
      return;
    }
    // Nobody waits for a reader any more.
    this.clear();
    this.#atLineStart = true;
    this.#io.stdout.write('\n');
  }

  /**
   * Prints one JSON object on one line. The agent's JSON is byte for byte what it sent, but for line breaks, which in JSON are white space:
   * they become spaces. On a terminal, characters that could drive it are written as the escapes of JSON for them.
   */
  async object(members: Members): Promise<void> {
    const text = objectText(members);
    await this.line(this.#io.stdout.isTTY === true ? safeJson(text) : text);
  }

  /** Tells the user something, on a line of its own. */
  note(text: string, style?: Style): void {
    this.clear();
    // The terminal may be the same.
    const lead = this.#atLineStart || this.#io.stdout.isTTY !== true || this.#io.stderr.isTTY !== true ? '' : '\n';
    if (lead !== '') this.#atLineStart = true;
    this.#io.stderr.write(`${lead}${style !== undefined && this.#colours.stderr ? styleText(style, text, { validateStream: false }) : text}\n`);
  }

  /** Tells what goes on, on a line that what comes next takes the place of; only on a terminal. */
  progress(text: string): void {
    if (!this.#hasProgress || !this.#atLineStart) return;
    this.clear();
    // A terminal that does not know its width says 0.
    const width = this.#io.stderr.columns ?? 0;
    const line = text.slice(0, (width === 0 ? 80 : width) - 1);
    this.#io.stderr.write(this.#colours.stderr ? styleText('dim', line, { validateStream: false }) : line);
    this.#progress = true;
  }

  /** What is said to a person at a terminal, and to nobody else. */
  remark(text: string): void {
    if (this.#hasProgress) this.note(text, 'dim');
  }

  /** Takes back what was said of progress. */
  clear(): void {
    if (!this.#progress) return;
    this.#progress = false;
    this.#io.stderr.write('\r\x1b[K');
  }
}

const TURN_MS = 20;

function objectText(members: Members): string {
  const texts: string[] = [];
  for (const [name, value] of Object.entries(members)) {
    const text = value instanceof Raw ? rawText(value.bytes) : (JSON.stringify(value) as string | undefined);
    if (text !== undefined) texts.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${texts.join(',')}}`;
}

function rawText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().replace(/[\r\n]/g, ' ');
}

function written(sink: Sink, text: string, until: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(until?.reason as Error);
    };
    until?.addEventListener('abort', stop, { once: true });
    sink.write(text, (error) => {
      until?.removeEventListener('abort', stop);
      if (error == null) resolve();
      else reject(isClosed(error) ? new OutputClosed() : error);
    });
  });
}

function isClosed(error: Error & { readonly code?: unknown }): boolean {
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED' || error.code === 'ERR_STREAM_WRITE_AFTER_END';
}
