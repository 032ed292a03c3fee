/**
 * An agent's words on their way to a terminal. What could drive it, or make a line look like another, is shown instead of sent: escape
 * sequences (ECMA-48) begin with ESC or with a control character of C1; bidirectional controls (UAX #9) reorder what is read.
 */

/** C0 and DEL, but for the tab and the line feed; C1; line and paragraph separators; bidirectional controls; interlinear annotations. */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]/g;

/** A text of several lines, safe to print. */
export function safeText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, shown);
}

/**
 * A text on one line, safe to print.
 * @param max characters that are shown, as a reader counts them; what is longer is cut
 */
export function safeLine(text: string, max = 200): string {
  // No more is looked at than could be shown.
  const head = text.slice(0, max * 20);
  const line = safeText(head).replaceAll('\n', '␊').replaceAll('\t', ' ');
  const cut = [...new Intl.Segmenter().segment(line)][max]?.index;
  return cut === undefined && head.length === text.length ? line : `${line.slice(0, cut)}…`;
}

/** A JSON text that says the same, and is safe to print: outside of strings JSON has none of these characters. */
export function safeJson(text: string): string {
  return text.replace(UNSAFE, (character) => (character === '\r' ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`));
}

/** A control character by its picture, another by its number. */
function shown(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
