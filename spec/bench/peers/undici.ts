/** No A2A client at all: what the HTTP client, the SSE parser and `JSON.parse` cost by themselves. Nothing is checked. */
import { createParser } from 'eventsource-parser';
import { Agent, request } from 'undici';
import { countEvent, nothing, slowUrl, streamUrl, type Peer, type Streamed } from '../peers.js';
import { TASK_ID } from '../wire.js';
import { requestBody } from './request.js';

/** The wire shapes that are read, as this peer trusts them to be. */
interface WireArtifact {
  readonly parts: readonly { readonly text?: string }[];
}

interface WireEvent {
  readonly artifactUpdate?: { readonly artifact: WireArtifact };
  /** 0.3 has it here. */
  readonly artifact?: WireArtifact;
}

export function bareUndici(base: string): Peer {
  const dispatcher = new Agent();
  const headers = { 'content-type': 'application/json' };
  const call = (url: string, method: string): ReturnType<typeof request> =>
    request(url, { dispatcher, method: 'POST', headers, body: requestBody(method, TASK_ID) });
  const consume = async (url: string, seen: Streamed): Promise<Streamed> => {
    const parser = createParser({
      onEvent({ data }) {
        const { result } = JSON.parse(data) as { result: WireEvent };
        countEvent(seen);
        seen.characters += (result.artifactUpdate ?? result).artifact?.parts[0]?.text?.length ?? 0;
      },
    });
    const { body } = await call(url, 'SubscribeToTask');
    const decoder = new TextDecoder();
    for await (const chunk of body) parser.feed(decoder.decode(chunk as Buffer, { stream: true }));
    return seen;
  };
  return {
    async getTask() {
      const { body } = await call(base, 'GetTask');
      const { result } = JSON.parse(await body.text()) as { result: { artifacts: readonly WireArtifact[] } };
      return result.artifacts[0]?.parts[0]?.text?.length ?? 0;
    },
    stream: (events, perChunk, kind = 'token', seen = nothing()) => consume(streamUrl(base, kind, events, perChunk), seen),
    slow: (events, perSecond, seen) => consume(slowUrl(base, events, perSecond), seen),
  };
}
