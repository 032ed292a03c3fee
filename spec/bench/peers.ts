/** Who is compared: three clients, each used in the leanest way it offers. Each looks at what it is given, so that none can skip it. */
import { AgentCard } from '@a2a-js/sdk';
import { JsonRpcTransportFactory, type Transport } from '@a2a-js/sdk/client';
import { createParser } from 'eventsource-parser';
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { StrictClient, type CallOptions } from '../../lib/index.js';
import { TASK_ID } from './wire.js';

/** What a peer has seen of a stream. */
interface Streamed {
  events: number;
  /** Characters of text, all artifact chunks together. */
  characters: number;
  /** When the first event was there: `performance.now()`. */
  firstAt: number;
}

export interface Peer {
  /** One unary call; gives the length of the first artifact's text. */
  getTask(): Promise<number>;
  /** One stream of so many events, to its end. */
  stream(events: number, perChunk: number): Promise<Streamed>;
}

function streamUrl(base: string, events: number, perChunk: number): string {
  return `${base}stream/${String(events)}/${String(perChunk)}`;
}

function strictClient(base: string): Peer {
  const dispatcher = new Agent();
  const client = new StrictClient(dispatcher);
  const options: CallOptions = { endpoint: base, protocolVersion: '1.0', maxResponseBytes: 1024 * 1024 };
  return {
    async getTask() {
      const { result } = await client.getTask(options, { id: TASK_ID });
      const content = result.artifacts[0]?.parts[0]?.content;
      return content?.$case === 'text' ? content.value.length : 0;
    },
    async stream(events, perChunk) {
      const seen: Streamed = { events: 0, characters: 0, firstAt: 0 };
      const to = { ...options, endpoint: streamUrl(base, events, perChunk), maxEventBytes: 1024 * 1024 };
      for await (const { event } of client.subscribeToTask(to, { id: TASK_ID })) {
        if (seen.events++ === 0) seen.firstAt = performance.now();
        if (event.$case === 'artifactUpdate') {
          const content = event.value.artifact?.parts[0]?.content;
          if (content?.$case === 'text') seen.characters += content.value.length;
        }
      }
      return seen;
    },
  };
}

/** The transport alone, without the `Client` around it: the leanest the SDK has. */
async function sdkClient(base: string): Promise<Peer> {
  const factory = new JsonRpcTransportFactory();
  // A transport without the compatibility layer reads nothing of the card.
  const to = (url: string): Promise<Transport> => factory.create(url, AgentCard.fromJSON({}));
  const unary = await to(base);
  return {
    async getTask() {
      const result = await unary.getTask({ tenant: '', id: TASK_ID });
      const content = result.artifacts[0]?.parts[0]?.content;
      return content?.$case === 'text' ? content.value.length : 0;
    },
    async stream(events, perChunk) {
      const seen: Streamed = { events: 0, characters: 0, firstAt: 0 };
      const transport = await to(streamUrl(base, events, perChunk));
      for await (const { payload } of transport.resubscribeTask({ tenant: '', id: TASK_ID })) {
        if (seen.events++ === 0) seen.firstAt = performance.now();
        if (payload?.$case === 'artifactUpdate') {
          const content = payload.value.artifact?.parts[0]?.content;
          if (content?.$case === 'text') seen.characters += content.value.length;
        }
      }
      return seen;
    },
  };
}

/** The wire shapes that the last peer reads, as it trusts them to be. */
interface WireArtifact {
  readonly parts: readonly { readonly text: string }[];
}

/** No A2A client at all: what the HTTP client, the SSE parser and `JSON.parse` cost by themselves. Nothing is checked. */
function bareUndici(base: string): Peer {
  const dispatcher = new Agent();
  const call = (url: string, method: string): ReturnType<typeof request> =>
    request(url, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: randomUUID(), method, params: { id: TASK_ID } }),
    });
  return {
    async getTask() {
      const { body } = await call(base, 'GetTask');
      const { result } = JSON.parse(await body.text()) as { result: { artifacts: readonly WireArtifact[] } };
      return result.artifacts[0]?.parts[0]?.text.length ?? 0;
    },
    async stream(events, perChunk) {
      const seen: Streamed = { events: 0, characters: 0, firstAt: 0 };
      const parser = createParser({
        onEvent({ data }) {
          const { result } = JSON.parse(data) as { result: { artifactUpdate?: { artifact: WireArtifact } } };
          if (seen.events++ === 0) seen.firstAt = performance.now();
          seen.characters += result.artifactUpdate?.artifact.parts[0]?.text.length ?? 0;
        },
      });
      const { body } = await call(streamUrl(base, events, perChunk), 'SubscribeToTask');
      const decoder = new TextDecoder();
      for await (const chunk of body) parser.feed(decoder.decode(chunk as Buffer, { stream: true }));
      return seen;
    },
  };
}

export const PEERS = { strict: strictClient, sdk: sdkClient, undici: bareUndici } as const;

export type PeerName = keyof typeof PEERS;
