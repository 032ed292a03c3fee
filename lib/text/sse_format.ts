/** Server-sent events as text, in the grammar of the HTML standard (section 9.2.5). */

export const KEEP_ALIVE = ':\n\n';

/** One event. @param data its lines are split at LF alone: no CR may be in it */
export function sseEvent(id: number, data: string, name?: string): string {
  const named = name === undefined ? '' : `event: ${name}\n`;
  return `id: ${String(id)}\n${named}data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}

/** An id without an event: what comes back as `last-event-id` if the connection breaks from here on. */
export function sseMark(id: number): string {
  return `id: ${String(id)}\n\n`;
}

/**
 * CR and CRLF, which no data line can hold, as the LF that a reader would make of them, over the bounds of chunks too: a CR that ends one
 * and an LF that begins the next are one line break.
 */
export class LineBreaks {
  #endedInCr = false;

  normalize(chunk: string): string {
    const rest = this.#endedInCr && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    this.#endedInCr = chunk.endsWith('\r');
    return rest.replace(/\r\n?/g, '\n');
  }
}
