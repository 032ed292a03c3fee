/** The agent card of 1.0, as ProtoJSON: everything at its default may be missing. */
import type {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  OAuthFlows,
  SecurityRequirement,
  SecurityScheme,
} from '@a2a-js/sdk';
import * as v from 'valibot';
import { PAYLOAD, flag, isObject, list, map, maybe, metadata, object, text, type Schema } from './values.js';

const strings = list(v.string());

/**
 * The one member of an object that is also the `$case` of the SDK's union. Several are `a2a.payload`; where there is none that is
 * known, the union is `undefined`, as for a kind that a later version adds.
 */
function caseOf<T>(name: string, cases: Record<string, Schema<unknown>>): Schema<T> {
  return v.pipe(
    v.custom<Record<string, unknown>>(isObject),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const present = Object.entries(cases).filter(([key]) => (dataset.value[key] ?? null) !== null);
      const [first] = present;
      if (present.length > 1) {
        addIssue({ message: PAYLOAD });
        return NEVER;
      }
      if (first === undefined) return { [name]: undefined } as T;
      const [key, schema] = first;
      const result = v.safeParse(schema, dataset.value[key], { abortEarly: true });
      if (!result.success) {
        addIssue({ message: result.issues[0].message });
        return NEVER;
      }
      return { [name]: { $case: key, value: result.output } } as T;
    }),
  );
}

const scopes = map(v.string());

const flows = caseOf<OAuthFlows>('flow', {
  authorizationCode: object({
    authorizationUrl: text,
    tokenUrl: text,
    refreshUrl: text,
    scopes,
    pkceRequired: flag,
  }),
  clientCredentials: object({ tokenUrl: text, refreshUrl: text, scopes }),
  implicit: object({ authorizationUrl: text, refreshUrl: text, scopes }),
  password: object({ tokenUrl: text, refreshUrl: text, scopes }),
  deviceCode: object({ deviceAuthorizationUrl: text, tokenUrl: text, refreshUrl: text, scopes }),
});

const securityScheme = caseOf<SecurityScheme>('scheme', {
  apiKeySecurityScheme: object({ description: text, location: text, name: text }),
  httpAuthSecurityScheme: object({ description: text, scheme: text, bearerFormat: text }),
  oauth2SecurityScheme: object({ description: text, flows: maybe(flows), oauth2MetadataUrl: text }),
  openIdConnectSecurityScheme: object({ description: text, openIdConnectUrl: text }),
  mtlsSecurityScheme: object({ description: text }),
});

const requirement: Schema<SecurityRequirement> = object({ schemes: map(object({ list: strings })) });

const agentInterface: Schema<AgentInterface> = object({
  url: text,
  protocolBinding: text,
  tenant: text,
  protocolVersion: text,
});

const provider: Schema<AgentProvider> = object({ url: text, organization: text });

const extension: Schema<AgentExtension> = object({ uri: text, description: text, required: flag, params: metadata });

const capabilities: Schema<AgentCapabilities> = object({
  streaming: maybe(v.boolean()),
  pushNotifications: maybe(v.boolean()),
  extensions: list(extension),
  extendedAgentCard: maybe(v.boolean()),
});

const skill: Schema<AgentSkill> = object({
  id: text,
  name: text,
  description: text,
  tags: strings,
  examples: strings,
  inputModes: strings,
  outputModes: strings,
  securityRequirements: list(requirement),
});

const signature: Schema<AgentCardSignature> = object({ protected: text, signature: text, header: metadata });

/** An agent card as 1.0 writes it. */
export const agentCard: Schema<AgentCard> = object({
  name: text,
  description: text,
  supportedInterfaces: list(agentInterface),
  provider: maybe(provider),
  version: text,
  documentationUrl: maybe(v.string()),
  capabilities: maybe(capabilities),
  securitySchemes: map(securityScheme),
  securityRequirements: list(requirement),
  defaultInputModes: strings,
  defaultOutputModes: strings,
  skills: list(skill),
  signatures: list(signature),
  iconUrl: maybe(v.string()),
});
