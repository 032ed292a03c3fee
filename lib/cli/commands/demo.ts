/** `a2a-strict demo` */
import { show } from '../demo/show.js';
import { EXIT } from '../exit_codes.js';
import type { Session } from '../session.js';

export async function demo({ words, output, signal }: Session): Promise<number> {
  return (await show(words, output, signal)) ? EXIT.ok : EXIT.broken;
}
