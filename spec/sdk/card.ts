/** Cards of agents, and the SDK's own transports to hold ours against. */
import type { AgentCard, AgentInterface } from '@a2a-js/sdk';
import { JsonRpcTransportFactory, RestTransportFactory, type TransportFactory } from '@a2a-js/sdk/client';

/** A card with one interface. */
export function cardAt(url: string, more: Partial<AgentInterface> = {}): AgentCard {
  return cardOf([{ url, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0', ...more }]);
}

export function cardOf(supportedInterfaces: AgentInterface[]): AgentCard {
  return {
    name: 'other',
    description: '',
    version: '1',
    supportedInterfaces,
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: true, extensions: [], extendedAgentCard: true },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    signatures: [],
  };
}

/* eslint-disable @typescript-eslint/no-unsafe-class-instance-assignment -- the SDK declares these options as a class, and exports it nowhere */

/** The SDK's JSON-RPC transport, both dialects. */
export function sdkTransport(fetchImpl?: typeof fetch): TransportFactory {
  const options = { legacyCompat: { enabled: true }, ...(fetchImpl && { fetchImpl }) };
  return new JsonRpcTransportFactory(options);
}

/** The SDK's HTTP+JSON transport. */
export function sdkRestTransport(fetchImpl: typeof fetch): TransportFactory {
  const options = { fetchImpl };
  return new RestTransportFactory(options);
}
