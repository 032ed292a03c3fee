/** This package. */
import { Agent } from 'undici';
import { StrictClient, type CallOptions } from '../../../lib/index.js';
import { countEvent, nothing, slowUrl, streamUrl, type Peer, type Streamed } from '../peers.js';
import { TASK_ID } from '../wire.js';

export function strictClient(base: string, more: { readonly repeatRecognition?: boolean } = {}): Peer {
  const client = new StrictClient(new Agent());
  const options: CallOptions = { endpoint: base, protocolVersion: '1.0', maxResponseBytes: 1024 * 1024 };
  const consume = async (endpoint: string, protocolVersion: '1.0' | '0.3', seen: Streamed): Promise<Streamed> => {
    const to = { ...options, ...more, endpoint, protocolVersion, maxEventBytes: 8 * 1024 * 1024 };
    for await (const { event } of client.subscribeToTask(to, { id: TASK_ID })) {
      countEvent(seen);
      if (event.$case === 'artifactUpdate') {
        const content = event.value.artifact?.parts[0]?.content;
        if (content?.$case === 'text') seen.characters += content.value.length;
      }
    }
    return seen;
  };
  return {
    async getTask() {
      const { result } = await client.getTask(options, { id: TASK_ID });
      const content = result.artifacts[0]?.parts[0]?.content;
      return content?.$case === 'text' ? content.value.length : 0;
    },
    stream: (events, perChunk, kind = 'token', seen = nothing()) =>
      consume(streamUrl(base, kind, events, perChunk), kind === 'token-0.3' ? '0.3' : '1.0', seen),
    slow: (events, perSecond, seen) => consume(slowUrl(base, events, perSecond), '1.0', seen),
  };
}
