/** Agent cards, as values of the SDK's 1.x type. */
import type { AgentCard, OAuthFlows, SecurityScheme } from '@a2a-js/sdk';
import fc from 'fast-check';
import { anyText, map, names, openObject, optional, record } from './arbitraries_values.js';

const texts = <Name extends string>(...keys: Name[]): { [N in Name]: fc.Arbitrary<string> } =>
  Object.fromEntries(keys.map((key) => [key, anyText])) as { [N in Name]: fc.Arbitrary<string> };

/** One case of a union. */
const cased = <Case extends string, T>($case: Case, value: fc.Arbitrary<T>): fc.Arbitrary<{ $case: Case; value: T }> =>
  record({ $case: fc.constant($case), value });

const scopes = map(anyText);

/** @param dialect 0.3 knows neither device codes nor whether PKCE is required, one interface is its own, and no requirement is empty */
export function agentCards(dialect: '1.0' | '0.3'): fc.Arbitrary<AgentCard> {
  const isFirst = dialect === '1.0';
  const authorizationCode = record({
    ...texts('authorizationUrl', 'tokenUrl', 'refreshUrl'),
    scopes,
    pkceRequired: isFirst ? fc.boolean() : fc.constant(false),
  });
  const flow: fc.Arbitrary<OAuthFlows['flow']> = fc.oneof(
    fc.constant(undefined),
    cased('authorizationCode', authorizationCode),
    cased('clientCredentials', record({ ...texts('tokenUrl', 'refreshUrl'), scopes })),
    cased('implicit', record({ ...texts('authorizationUrl', 'refreshUrl'), scopes })),
    cased('password', record({ ...texts('tokenUrl', 'refreshUrl'), scopes })),
    ...(isFirst ? [cased('deviceCode', record({ ...texts('deviceAuthorizationUrl', 'tokenUrl', 'refreshUrl'), scopes }))] : []),
  );
  const scheme: fc.Arbitrary<SecurityScheme['scheme']> = fc.oneof(
    fc.constant(undefined),
    cased('apiKeySecurityScheme', record(texts('description', 'location', 'name'))),
    cased('httpAuthSecurityScheme', record(texts('description', 'scheme', 'bearerFormat'))),
    cased('oauth2SecurityScheme', record({ ...texts('description', 'oauth2MetadataUrl'), flows: optional(record({ flow })) })),
    cased('openIdConnectSecurityScheme', record(texts('description', 'openIdConnectUrl'))),
    cased('mtlsSecurityScheme', record(texts('description'))),
  );
  const requirements = fc.array(record({ schemes: map(record({ list: names })) }), { maxLength: 2 });
  const anInterface = record({
    ...texts('url', 'protocolBinding'),
    tenant: isFirst ? anyText : fc.constant(''),
    protocolVersion: isFirst ? anyText : fc.constant('0.3'),
  });
  const ownInterface = record({ ...texts('url', 'protocolBinding', 'protocolVersion'), tenant: fc.constant('') });
  const interfaces = fc.array(anInterface, { maxLength: 2 });
  return record({
    ...texts('name', 'description', 'version'),
    supportedInterfaces: isFirst ? interfaces : fc.tuple(ownInterface, interfaces).map(([own, others]) => [own, ...others]),
    provider: optional(record(texts('url', 'organization'))),
    documentationUrl: optional(anyText),
    capabilities: (isFirst ? optional : <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => arbitrary)(
      record({
        streaming: optional(fc.boolean()),
        pushNotifications: optional(fc.boolean()),
        extensions: fc.array(
          record({ ...texts('uri', 'description'), required: fc.boolean(), params: optional(openObject) }),
          { maxLength: 2 },
        ),
        extendedAgentCard: optional(fc.boolean()),
      }),
    ),
    securitySchemes: map(record({ scheme })),
    securityRequirements: requirements,
    defaultInputModes: names,
    defaultOutputModes: names,
    skills: fc.array(
      record({
        ...texts('id', 'name', 'description'),
        tags: names,
        examples: names,
        inputModes: names,
        outputModes: names,
        securityRequirements: requirements,
      }),
      { maxLength: 2 },
    ),
    signatures: fc.array(record({ ...texts('protected', 'signature'), header: optional(openObject) }), { maxLength: 2 }),
    iconUrl: optional(anyText),
  });
}
