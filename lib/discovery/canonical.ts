/**
 * What the signature of a card is made over (A2A 1.0 section 8.4.1): the card without its signatures and its defaults, as RFC 8785 writes
 * it.
 *
 * It is made of what was received, unknown members included, so that no change of any of them goes unnoticed.
 */
import type { ProtocolVersion } from '../dialect/dialect.js';
import { isObject } from '../dialect/values.js';

/** RFC 8785. The value is I-JSON that was parsed: no half surrogates, no number that is none, no name twice. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  // By UTF-16 code units, as `sort` does.
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(',')}}`;
}

/**
 * The texts that a signature of a card may be over. First the one that the specification tells; then the one that the official JavaScript
 * and Python SDKs sign, which leave out what is empty even where the specification keeps it: required members, and items of lists.
 *
 * 0.3 does not say what is signed: the card as it is, or, by those SDKs, the same without what is empty.
 */
export function signedTexts(card: Readonly<Record<string, unknown>>, generation: ProtocolVersion): string[] {
  const { signatures: _, ...signed } = card;
  const told = generation === '1.0' ? withoutDefaults(signed, CARD) : signed;
  return [...new Set([canonicalJson(told), canonicalJson(withoutEmpties(told) ?? {})])];
}

/** How protobuf holds a member, which decides when it is left out. */
interface Field {
  /** `required`: never. `optional`: never where it was set. `plain`: at its default. */
  readonly presence: 'required' | 'optional' | 'plain';
  /** Its default; none where it is a message, which is set or not. */
  readonly empty?: '' | false | readonly [] | Readonly<Record<string, never>>;
  /** What it holds: a message, a list of them or a map to them. */
  readonly of?: { readonly message: Message; readonly as: 'one' | 'list' | 'map' };
}
type Message = ReadonlyMap<string, Field>;

const plain = (empty: NonNullable<Field['empty']>): Field => ({ presence: 'plain', empty });
const TEXT = plain('');
const FLAG = plain(false);
const LIST = plain([]);
const MAP = plain({});
const OPTIONAL: Field = { presence: 'optional' };
const required = (field: Field): Field => ({ ...field, presence: 'required' });
const one = (message: Message): Field => ({ presence: 'optional', of: { message, as: 'one' } });
const listOf = (message: Message): Field => ({ ...LIST, of: { message, as: 'list' } });
const mapOf = (message: Message): Field => ({ ...MAP, of: { message, as: 'map' } });
const message = (fields: Record<string, Field>): Message => new Map(Object.entries(fields));

// As the protocol's a2a.proto declares them. A `Struct` is a message whose own members are data: it is kept as it is.
const CODE_FLOW = message({
  authorizationUrl: required(TEXT),
  tokenUrl: required(TEXT),
  refreshUrl: TEXT,
  scopes: required(MAP),
  pkceRequired: FLAG,
});
const CREDENTIALS_FLOW = message({ tokenUrl: required(TEXT), refreshUrl: TEXT, scopes: required(MAP) });
const IMPLICIT_FLOW = message({ authorizationUrl: TEXT, refreshUrl: TEXT, scopes: MAP });
const PASSWORD_FLOW = message({ tokenUrl: TEXT, refreshUrl: TEXT, scopes: MAP });
const DEVICE_FLOW = message({
  deviceAuthorizationUrl: required(TEXT),
  tokenUrl: required(TEXT),
  refreshUrl: TEXT,
  scopes: required(MAP),
});
const FLOWS = message({
  authorizationCode: one(CODE_FLOW),
  clientCredentials: one(CREDENTIALS_FLOW),
  implicit: one(IMPLICIT_FLOW),
  password: one(PASSWORD_FLOW),
  deviceCode: one(DEVICE_FLOW),
});
const SCHEME = message({
  apiKeySecurityScheme: one(message({ description: TEXT, location: required(TEXT), name: required(TEXT) })),
  httpAuthSecurityScheme: one(message({ description: TEXT, scheme: required(TEXT), bearerFormat: TEXT })),
  oauth2SecurityScheme: one(message({ description: TEXT, flows: one(FLOWS), oauth2MetadataUrl: TEXT })),
  openIdConnectSecurityScheme: one(message({ description: TEXT, openIdConnectUrl: required(TEXT) })),
  mtlsSecurityScheme: one(message({ description: TEXT })),
});
const REQUIREMENT = message({ schemes: mapOf(message({ list: LIST })) });
const INTERFACE = message({
  url: required(TEXT),
  protocolBinding: required(TEXT),
  tenant: TEXT,
  protocolVersion: required(TEXT),
});
const EXTENSION = message({ uri: TEXT, description: TEXT, required: FLAG, params: OPTIONAL });
const CAPABILITIES = message({
  streaming: OPTIONAL,
  pushNotifications: OPTIONAL,
  extensions: listOf(EXTENSION),
  extendedAgentCard: OPTIONAL,
});
const SKILL = message({
  id: required(TEXT),
  name: required(TEXT),
  description: required(TEXT),
  tags: required(LIST),
  examples: LIST,
  inputModes: LIST,
  outputModes: LIST,
  securityRequirements: listOf(REQUIREMENT),
});
const CARD = message({
  name: required(TEXT),
  description: required(TEXT),
  supportedInterfaces: required(listOf(INTERFACE)),
  provider: one(message({ url: required(TEXT), organization: required(TEXT) })),
  version: required(TEXT),
  documentationUrl: OPTIONAL,
  capabilities: one(CAPABILITIES),
  securitySchemes: mapOf(SCHEME),
  securityRequirements: listOf(REQUIREMENT),
  defaultInputModes: required(LIST),
  defaultOutputModes: required(LIST),
  skills: required(listOf(SKILL)),
  iconUrl: OPTIONAL,
});

/** What section 8.4.1 leaves of a message whose members have the types of the schema. Unknown members stay. */
function withoutDefaults(value: Readonly<Record<string, unknown>>, fields: Message): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const field = fields.get(name);
    if (field === undefined) {
      kept[name] = member;
      continue;
    }
    // In ProtoJSON, null is the same as absent.
    if (member === null) continue;
    const inner = withinField(member, field);
    if (field.presence === 'plain' && isEmpty(inner)) continue;
    kept[name] = inner;
  }
  for (const [name, { presence, empty }] of fields) {
    if (presence === 'required' && !Object.hasOwn(kept, name)) kept[name] = empty;
  }
  return kept;
}

function withinField(member: unknown, { of }: Field): unknown {
  if (of === undefined) return member;
  const within = (value: unknown): unknown => (isObject(value) ? withoutDefaults(value, of.message) : value);
  if (of.as === 'list' && Array.isArray(member)) return member.map(within);
  if (of.as === 'map' && isObject(member)) return Object.fromEntries(Object.entries(member).map(([name, value]) => [name, within(value)]));
  return within(member);
}

/** At the default of a member that has one. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) ? Object.keys(value).length === 0 : value === '' || value === false;
}

/** Without empty texts, nulls, and whatever holds nothing else; `undefined` where nothing is left. */
function withoutEmpties(value: unknown): unknown {
  if (value === '' || value === null) return undefined;
  if (Array.isArray(value)) {
    const items = value.map(withoutEmpties).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return value;
  const kept = Object.entries(value)
    .map(([name, member]): [string, unknown] => [name, withoutEmpties(member)])
    .filter(([, member]) => member !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
