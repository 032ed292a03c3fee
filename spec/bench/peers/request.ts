/** What the peers without an A2A client send. */
import { randomBytes } from 'node:crypto';

/** The id is as long as those of `StrictClient`, so that the answers are too. */
export function requestBody(method: string, id: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: randomBytes(16).toString('hex'), method, params: { id } });
}
