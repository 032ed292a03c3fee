/** Whether what an error says of itself holds words of the agent's: what a log line would show of it. */
import { STATUS_CODES } from 'node:http';
import { inspect } from 'node:util';

/** Fewer characters in a row may be the same by chance. */
const TELLING = 12;

/** Kept of each text: enough to hold a leak. */
const KEPT = 64 * 1024;

/** What anybody says who speaks of HTTP. */
const COMMON = [
  ...Object.entries(STATUS_CODES).map(([status, reason]) => ` ${status} ${reason ?? ''}`),
  'content-type: application/json',
  'content-type: text/event-stream',
  'content-length: ',
  'content-encoding: ',
  'transfer-encoding: chunked',
  'http://127.0.0.1:',
].join('\n').toLowerCase();

/** All that an error shows without being asked for more than itself. */
export function textsOf(error: unknown): string {
  const texts = [String(error), inspect(error)];
  if (error instanceof Error) texts.push(error.message, error.stack ?? '');
  try {
    // As JSON it has quotes and commas of its own, which any JSON has: its strings are what tells.
    JSON.stringify(error, (name, value: unknown) => {
      texts.push(name);
      if (typeof value === 'string') texts.push(value);
      return value;
    });
  } catch {
    // It cannot be logged so.
  }
  return texts.map((text) => text.slice(0, KEPT)).join('\n');
}

/** A run of characters that is both in `said` and in `texts`, and that is no word of the trade. */
export function leakedWords(said: string, texts: string): string | undefined {
  const shown = new Set<string>();
  for (let at = 0; at + TELLING <= texts.length; at++) shown.add(texts.slice(at, at + TELLING));
  for (let at = 0; at + TELLING <= said.length; at++) {
    const words = said.slice(at, at + TELLING);
    if (shown.has(words) && isTelling(words)) return words;
  }
  return undefined;
}

/** Neither one word (names of the schema are), nor a number, nor a run of a few characters, nor what anybody says. */
function isTelling(words: string): boolean {
  return /\p{L}/u.test(words) && /\P{L}/u.test(words) && new Set(words).size > 4 && !COMMON.includes(words.toLowerCase());
}
