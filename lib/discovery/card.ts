/** Bytes → an agent card of either generation, in the SDK's 1.x shape. */
import type { AgentCard } from '@a2a-js/sdk';
import { agentCard as card0_3 } from '../dialect/card_v0_3.js';
import { agentCard as card1_0 } from '../dialect/card_v1_0.js';
import type { ProtocolVersion } from '../dialect/dialect.js';
import { check, decoder, isObject, nonEmpty, object } from '../dialect/values.js';
import { Refusal } from '../failure.js';
import { parseJson } from '../wire/json.js';

export interface DecodedCard {
  readonly generation: ProtocolVersion;
  /** Deeply frozen. */
  readonly card: AgentCard;
}

/** What a card has to say to be one, beside what ProtoJSON may leave out. */
const REQUIRED = { '1.0': object({ name: nonEmpty }), '0.3': object({ name: nonEmpty, url: nonEmpty }) };
const DECODERS = { '1.0': decoder(card1_0), '0.3': decoder(card0_3) };

/** Members that 1.0 does not have, of which a 0.3 card has one or the other. */
const OLD_MEMBERS = ['url', 'protocolVersion', 'preferredTransport', 'additionalInterfaces'];

/**
 * Decodes the card that a body is.
 * @throws {Refusal} `json.*`, `a2a.schema`, `a2a.payload`
 */
export function decodeCard(bytes: Buffer): DecodedCard {
  const value = cardValue(bytes);
  const generation = generationOf(value);
  return { generation, card: cardOf(value, generation) };
}

/** The JSON object that a card is written as. @throws {Refusal} `json.*`, `a2a.schema` */
export function cardValue(bytes: Buffer): Record<string, unknown> {
  const { value } = parseJson(bytes);
  if (!isObject(value)) throw new Refusal('a2a.schema');
  return value;
}

/** A card that carries both shapes is read by its `supportedInterfaces`. */
export function generationOf(value: Readonly<Record<string, unknown>>): ProtocolVersion {
  const has = (name: string): boolean => (value[name] ?? null) !== null;
  return !has('supportedInterfaces') && OLD_MEMBERS.some(has) ? '0.3' : '1.0';
}

/** @throws {Refusal} `a2a.schema`, `a2a.payload` */
export function cardOf(value: Readonly<Record<string, unknown>>, generation: ProtocolVersion): AgentCard {
  check(REQUIRED[generation], value);
  return frozen(DECODERS[generation](value));
}

/** Freezes all of a value that was decoded, and so is a tree and no deeper than JSON may be. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen<unknown>(member);
    Object.freeze(value);
  }
  return value;
}
