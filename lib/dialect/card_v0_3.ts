/**
 * The agent card of 0.3, decoded to the SDK's 1.x shape.
 *
 * What 1.x has no place for stays in the raw bytes alone: `capabilities.stateTransitionHistory`, and of several OAuth flows in one
 * scheme all but the first of authorization code, client credentials, implicit, password (a 1.x scheme has one).
 */
import type {
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
import { flag, isObject, list, map, maybe, metadata, object, text, type Schema } from './values.js';

const strings = list(v.string());
const scopes = map(v.string());

const flows: Schema<OAuthFlows> = v.pipe(
  object({
    authorizationCode: maybe(object({ authorizationUrl: text, tokenUrl: text, refreshUrl: text, scopes })),
    clientCredentials: maybe(object({ tokenUrl: text, refreshUrl: text, scopes })),
    implicit: maybe(object({ authorizationUrl: text, refreshUrl: text, scopes })),
    password: maybe(object({ tokenUrl: text, refreshUrl: text, scopes })),
  }),
  v.transform(({ authorizationCode, clientCredentials, implicit, password }): OAuthFlows => {
    if (authorizationCode) {
      return { flow: { $case: 'authorizationCode', value: { ...authorizationCode, pkceRequired: false } } };
    }
    if (clientCredentials) return { flow: { $case: 'clientCredentials', value: clientCredentials } };
    if (implicit) return { flow: { $case: 'implicit', value: implicit } };
    return { flow: password && { $case: 'password', value: password } };
  }),
);

const apiKey: Schema<SecurityScheme> = v.pipe(
  object({ description: text, in: text, name: text }),
  v.transform(({ description, in: location, name }): SecurityScheme => ({
    scheme: { $case: 'apiKeySecurityScheme', value: { description, location, name } },
  })),
);
const http: Schema<SecurityScheme> = v.pipe(
  object({ description: text, scheme: text, bearerFormat: text }),
  v.transform((value): SecurityScheme => ({ scheme: { $case: 'httpAuthSecurityScheme', value } })),
);
const oauth2: Schema<SecurityScheme> = v.pipe(
  object({ description: text, flows: maybe(flows), oauth2MetadataUrl: text }),
  v.transform((value): SecurityScheme => ({ scheme: { $case: 'oauth2SecurityScheme', value } })),
);
const openIdConnect: Schema<SecurityScheme> = v.pipe(
  object({ description: text, openIdConnectUrl: text }),
  v.transform((value): SecurityScheme => ({ scheme: { $case: 'openIdConnectSecurityScheme', value } })),
);
const mutualTLS: Schema<SecurityScheme> = v.pipe(
  object({ description: text }),
  v.transform((value): SecurityScheme => ({ scheme: { $case: 'mtlsSecurityScheme', value } })),
);
/** A type that a later version adds. */
const unknownScheme: Schema<SecurityScheme> = v.pipe(
  v.custom<Record<string, unknown>>(isObject),
  v.transform((): SecurityScheme => ({ scheme: undefined })),
);

const SCHEMES: ReadonlyMap<unknown, Schema<SecurityScheme>> = new Map([
  ['apiKey', apiKey],
  ['http', http],
  ['oauth2', oauth2],
  ['openIdConnect', openIdConnect],
  ['mutualTLS', mutualTLS],
]);

const securityScheme: Schema<SecurityScheme> = v.lazy((input) =>
  isObject(input) ? (SCHEMES.get(input['type']) ?? unknownScheme) : unknownScheme,
);

const requirement: Schema<SecurityRequirement> = v.pipe(
  map(strings),
  v.transform((schemes): SecurityRequirement => ({
    schemes: Object.fromEntries(Object.entries(schemes).map(([name, scopeList]) => [name, { list: scopeList }])),
  })),
);

const additionalInterface: Schema<AgentInterface> = v.pipe(
  object({ url: text, transport: text }),
  v.transform(({ url, transport }) => ({ url, protocolBinding: transport, tenant: '', protocolVersion: '0.3' })),
);

const provider: Schema<AgentProvider> = object({ url: text, organization: text });

const extension: Schema<AgentExtension> = object({ uri: text, description: text, required: flag, params: metadata });

const capabilities = object({
  streaming: maybe(v.boolean()),
  pushNotifications: maybe(v.boolean()),
  extensions: list(extension),
});

const skill: Schema<AgentSkill> = v.pipe(
  object({
    id: text,
    name: text,
    description: text,
    tags: strings,
    examples: strings,
    inputModes: strings,
    outputModes: strings,
    security: list(requirement),
  }),
  v.transform(({ security, ...others }): AgentSkill => ({ ...others, securityRequirements: security })),
);

const signature: Schema<AgentCardSignature> = object({ protected: text, signature: text, header: metadata });

/** An agent card as 0.3 writes it. */
export const agentCard: Schema<AgentCard> = v.pipe(
  object({
    name: text,
    description: text,
    url: text,
    preferredTransport: v.nullish(v.string(), 'JSONRPC'),
    protocolVersion: v.nullish(v.string(), '0.3'),
    additionalInterfaces: list(additionalInterface),
    provider: maybe(provider),
    version: text,
    documentationUrl: maybe(v.string()),
    capabilities: maybe(capabilities),
    supportsAuthenticatedExtendedCard: maybe(v.boolean()),
    securitySchemes: map(securityScheme),
    security: list(requirement),
    defaultInputModes: strings,
    defaultOutputModes: strings,
    skills: list(skill),
    signatures: list(signature),
    iconUrl: maybe(v.string()),
  }),
  v.transform(
    ({
      url,
      preferredTransport,
      protocolVersion,
      additionalInterfaces,
      supportsAuthenticatedExtendedCard,
      capabilities: stated,
      security,
      ...others
    }): AgentCard => ({
      ...others,
      supportedInterfaces: [
        { url, protocolBinding: preferredTransport, tenant: '', protocolVersion },
        ...additionalInterfaces,
      ],
      capabilities: {
        streaming: stated?.streaming,
        pushNotifications: stated?.pushNotifications,
        extensions: stated?.extensions ?? [],
        extendedAgentCard: supportsAuthenticatedExtendedCard,
      },
      securityRequirements: security,
    }),
  ),
);
