/** The official SDK: the transport alone, without the `Client` around it, is the leanest it has. In 0.3 that of its compatibility layer. */
import { AgentCard } from '@a2a-js/sdk';
import { JsonRpcTransportFactory, type Transport } from '@a2a-js/sdk/client';
import { countEvent, nothing, slowUrl, streamUrl, type Peer, type Streamed } from '../peers.js';
import { TASK_ID } from '../wire.js';

export async function sdkTransport(base: string): Promise<Peer> {
  const factory = new JsonRpcTransportFactory();
  // A transport without the compatibility layer reads nothing of the card.
  const to = (url: string): Promise<Transport> => factory.create(url, AgentCard.fromJSON({}));
  const legacyTo = async (endpoint: string): Promise<Transport> => {
    const { LegacyJsonRpcTransport } = await import('@a2a-js/sdk/compat/v0_3/client');
    return new LegacyJsonRpcTransport({ endpoint });
  };
  const consume = async (transport: Transport, seen: Streamed): Promise<Streamed> => {
    for await (const { payload } of transport.resubscribeTask({ tenant: '', id: TASK_ID })) {
      countEvent(seen);
      if (payload?.$case === 'artifactUpdate') {
        const content = payload.value.artifact?.parts[0]?.content;
        if (content?.$case === 'text') seen.characters += content.value.length;
      }
    }
    return seen;
  };
  const unary = await to(base);
  return {
    async getTask() {
      const result = await unary.getTask({ tenant: '', id: TASK_ID });
      const content = result.artifacts[0]?.parts[0]?.content;
      return content?.$case === 'text' ? content.value.length : 0;
    },
    async stream(events, perChunk, kind = 'token', seen = nothing()) {
      const url = streamUrl(base, kind, events, perChunk);
      return consume(await (kind === 'token-0.3' ? legacyTo(url) : to(url)), seen);
    },
    slow: async (events, perSecond, seen) => consume(await to(slowUrl(base, events, perSecond)), seen),
  };
}
