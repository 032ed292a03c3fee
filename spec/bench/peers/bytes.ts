/** Counts the bytes of the answers and looks at none of them: what undici's `dispatch` and the sockets cost by themselves. */
import { Agent } from 'undici';
import { countEvent, nothing, slowUrl, streamUrl, type Peer, type Streamed } from '../peers.js';
import { TASK_ID } from '../wire.js';
import { requestBody } from './request.js';

export function bytesOnly(base: string): Peer {
  const dispatcher = new Agent();
  const headers = { 'content-type': 'application/json' };
  const call = (url: string, method: string, onBytes: (count: number) => void): Promise<void> => {
    const { origin, pathname } = new URL(url);
    return new Promise((resolve, reject) => {
      dispatcher.dispatch(
        { origin, path: pathname, method: 'POST', headers, body: requestBody(method, TASK_ID) },
        {
          // undici wants these two as well.
          onRequestStart() {},
          onResponseStart() {},
          onResponseData(_controller, chunk) {
            onBytes(chunk.length);
          },
          onResponseEnd() {
            resolve();
          },
          onResponseError(_controller, error) {
            reject(error);
          },
        },
      );
    });
  };
  const consume = async (url: string, seen: Streamed): Promise<Streamed> => {
    await call(url, 'SubscribeToTask', (count) => {
      // A chunk is the nearest thing to an event that there is here; to a slow stream it is one.
      countEvent(seen);
      seen.characters += count;
    });
    return seen;
  };
  return {
    async getTask() {
      let bytes = 0;
      await call(base, 'GetTask', (count) => {
        bytes += count;
      });
      return bytes;
    },
    async stream(events, perChunk, kind = 'token', seen = nothing()) {
      await consume(streamUrl(base, kind, events, perChunk), seen);
      // The server's word is taken for it, if there was anything at all for each.
      seen.events = Math.min(events, seen.characters);
      return seen;
    },
    slow: (events, perSecond, seen) => consume(slowUrl(base, events, perSecond), seen),
  };
}
