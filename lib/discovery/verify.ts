/** The signatures of a card (A2A 1.0 section 8.4.3, RFC 7515): `card.unsigned`, `card.signature`. */
import type { AgentCard } from '@a2a-js/sdk';
import { flattenedVerify } from 'jose';
import { isObject } from '../dialect/values.js';
import { Failure, Refusal } from '../failure.js';
import { parseJson } from '../wire/json.js';
import { signedTexts } from './canonical.js';
import { cardOf, cardValue, generationOf, type DecodedCard } from './card.js';
import { checkVerification, type PublicKey, type VerificationPolicy } from './keys.js';
import type { CardSignatureHeader, CardVerification, FetchedCard } from './types.js';

/** A card with more signatures is refused unseen: each of them costs time, and may cost a call of the caller's key function. */
const MAX_SIGNATURES = 16;

/** A card as far as its signature goes. */
export interface VerifiedCard extends DecodedCard {
  readonly signedBy: string | undefined;
}

/**
 * Holds the signatures of a card that was fetched before against keys.
 * @returns the card as it was signed: see {@link FetchedCard.card}
 * @throws {Failure} `card.signature`, `card.unsigned`, `card.keys`, `options.unknown`; its bytes are checked again as well
 */
export async function verifyAgentCard(fetched: FetchedCard, verification: CardVerification): Promise<FetchedCard> {
  try {
    const raw = new Uint8Array(fetched.raw);
    const { card, generation, signedBy } = await verifyCard(Buffer.from(raw.buffer), checkVerification(verification));
    const { url, etag, lastModified, freshUntil } = fetched;
    return { card, raw, url, generation, signedBy, etag, lastModified, freshUntil };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Failure(error.rule, { delivery: 'not_sent', path: error.path, cause: error.reason });
  }
}

/**
 * What of a card is signed, decoded. An unsigned card passes as it is, unless a signature is required.
 * @throws {Refusal} `card.unsigned`, `card.signature`, `card.keys`; `json.*`, `a2a.*`
 */
export async function verifyCard(bytes: Buffer, policy: VerificationPolicy): Promise<VerifiedCard> {
  const value = cardValue(bytes);
  const generation = generationOf(value);
  const card = cardOf(value, generation);
  if (card.signatures.length === 0) {
    if (policy.requireSignature === true) throw new Refusal('card.unsigned');
    return { card, generation, signedBy: undefined };
  }
  if (card.signatures.length > MAX_SIGNATURES) throw new Refusal('card.signature', { reason: new RangeError('too many signatures') });
  const texts = signedTexts(value, generation);
  for (const signature of card.signatures) {
    const header = headerOf(signature.protected, policy);
    if (header === undefined) continue;
    const { kid, alg } = header;
    for (const key of await policy.keys(header)) {
      if (key.alg !== undefined && key.alg !== alg) continue;
      for (const text of texts) {
        if (!(await holds(signature, text, key, alg))) continue;
        // What the signature does not cover is not handed out: empty members, in the form that leaves these out.
        const signed = cardValue(Buffer.from(text));
        const signatures = { signatures: value['signatures'] };
        return { card: cardOf({ ...signed, ...signatures }, generation), generation, signedBy: kid };
      }
    }
  }
  throw new Refusal('card.signature');
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** The protected header, or `undefined` where it does not name an allowed algorithm and a key, or asks for what is not understood here. */
function headerOf(encoded: string, { algorithms }: VerificationPolicy): CardSignatureHeader | undefined {
  if (!BASE64URL.test(encoded)) return undefined;
  let header: unknown;
  try {
    header = parseJson(Buffer.from(encoded, 'base64url')).value;
  } catch {
    return undefined;
  }
  if (!isObject(header)) return undefined;
  const { alg, kid, typ } = header;
  // RFC 7515 section 4.1.11: no extension is understood here, `b64` (RFC 7797) among them.
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) return undefined;
  // Section 8.4.2: all three have to be there.
  if (typeof alg !== 'string' || typeof kid !== 'string' || kid === '' || typeof typ !== 'string') return undefined;
  return algorithms.has(alg) ? Object.freeze({ alg, kid }) : undefined;
}

/** Only the protected header counts: whoever has a card can write another unprotected one. */
async function holds(signature: AgentCard['signatures'][number], text: string, { key }: PublicKey, alg: string): Promise<boolean> {
  const payload = Buffer.from(text).toString('base64url');
  try {
    await flattenedVerify({ payload, protected: signature.protected, signature: signature.signature }, key, { algorithms: [alg] });
    return true;
  } catch {
    // A key that does not fit the algorithm, or a signature that is none of its own.
    return false;
  }
}
