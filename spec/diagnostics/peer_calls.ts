/** Calls of a peer whose every word is known, with secrets wherever a caller or an agent could put one. */
import { userText, type StreamOptions } from '../../lib/index.js';
import type { Peer, PeerCall } from '../stream/peer.js';

export const SECRET = 'hush-hush';
export const TASK = { id: 'task-1', contextId: 'context-1', status: { state: 'TASK_STATE_WORKING' } };
export const DONE = { statusUpdate: { taskId: 'task-1', contextId: 'context-1', status: { state: 'TASK_STATE_COMPLETED' } } };
export const message = { message: userText(SECRET) };

export const optionsOf = (peer: Peer, more: Partial<StreamOptions> = {}): StreamOptions => ({
  endpoint: `${peer.endpoint}agent?key=${SECRET}`,
  protocolVersion: '1.0',
  maxResponseBytes: 10_000,
  maxEventBytes: 10_000,
  headers: { 'x-key': SECRET },
  ...more,
});

export const task = (call: PeerCall): void => void call.json({ result: { task: TASK } });
export const story = (call: PeerCall): void => void call.head().event({ task: TASK }).event(DONE).end();

export async function drain(events: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of events) count++;
  return count;
}
