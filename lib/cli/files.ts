/** What a command reads beside its arguments. */
import { readFileSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Io } from './io.js';
import { UsageError } from './usage_error.js';

/**
 * The text of a file that an option names.
 * @throws {UsageError}
 */
export function readText(option: string, file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new UsageError(`${option}: the file cannot be read (${code})`);
  }
  return decode(bytes, `${option}: the file`);
}

/**
 * The text that arguments are: themselves, with spaces between, or for `-` alone all of stdin.
 * @throws {UsageError}
 */
export async function textOf(words: readonly string[], { stdin }: Io, signal: AbortSignal): Promise<string> {
  const isStdin = words.length === 1 && words[0] === '-';
  const text = isStdin ? decode(await buffer(addAbortSignal(signal, stdin)), 'stdin') : words.join(' ');
  if (text === '') throw new UsageError('the text is empty');
  return text;
}

function decode(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`${what} is not UTF-8`);
  }
}
