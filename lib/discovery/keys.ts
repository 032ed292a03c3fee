/** The public keys that signatures are held against, and what a caller may say of them: `card.keys`. */
import { createPublicKey, type KeyObject, type webcrypto } from 'node:crypto';
import { types } from 'node:util';
import * as v from 'valibot';
import { isPlain } from '../dialect/values.js';
import { Refusal } from '../failure.js';
import { optionChecker, refused, type OptionTable } from '../policy/checker.js';
import { none } from '../policy/http.js';
import type { CardSignatureHeader, CardVerification } from './types.js';

/** The public-key algorithms of JWS (RFC 7518 section 3.1, RFC 8037, RFC 9864). Neither `none` nor an HMAC, whose key is no public one. */
const ALGORITHMS = new Set(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']);

/** A public key, ready to be used. */
export interface PublicKey {
  readonly kid: string | undefined;
  /** The one algorithm that it is for, where it says so. */
  readonly alg: string | undefined;
  readonly key: KeyObject | webcrypto.CryptoKey;
}

/** A verification, checked; holds no object of the caller's but keys and the key function. */
export interface VerificationPolicy {
  /** The keys that may have made a signature. @throws {Refusal} `card.keys` */
  readonly keys: (header: CardSignatureHeader) => readonly PublicKey[] | Promise<readonly PublicKey[]>;
  readonly algorithms: ReadonlySet<string>;
  readonly requireSignature: true | undefined;
}

const VERIFICATION: OptionTable<VerificationPolicy> = {
  keys: ['card.keys', v.pipe(v.unknown(), v.transform(keysOf))],
  algorithms: [
    'card.keys',
    v.pipe(
      v.array(
        v.pipe(
          v.string(),
          v.check((name) => ALGORITHMS.has(name)),
        ),
      ),
      v.nonEmpty(),
      v.transform((names) => new Set(names)),
    ),
  ],
  requireSignature: ['card.keys', v.optional(v.literal(true), none)],
};

/** @throws {Refusal} `options.unknown`, `card.keys` */
export const checkVerification: (verification: CardVerification) => VerificationPolicy = optionChecker(VERIFICATION);

function keysOf(value: unknown): VerificationPolicy['keys'] {
  if (typeof value === 'function') {
    return async (header) => {
      let key: unknown;
      try {
        key = await (Reflect.apply(value, undefined, [header.kid, header]) as unknown);
        return key === undefined ? [] : [{ ...keyOf(key), kid: header.kid }];
      } catch (error) {
        throw new Refusal('card.keys', { reason: error instanceof Refusal ? error.reason : error });
      }
    };
  }
  if (!Array.isArray(value) || value.length === 0) throw refused('card.keys', 'the keys are neither a list of JWKs nor a function');
  const keys = value.map((jwk: unknown) => {
    const key = keyOf(jwk);
    if (key.kid === undefined) throw refused('card.keys', 'a key without a kid, by which a signature could name it');
    return key;
  });
  return ({ kid }) => keys.filter((key) => key.kid === kid);
}

function keyOf(value: unknown): PublicKey {
  if (types.isKeyObject(value) || types.isCryptoKey(value)) {
    if (value.type !== 'public') throw refused('card.keys', 'no public key');
    return { kid: undefined, alg: undefined, key: value };
  }
  if (!isPlain(value)) throw refused('card.keys', 'no JWK, CryptoKey or KeyObject');
  // Read once.
  const jwk = { ...value };
  const { kid, alg, use, key_ops: operations } = jwk;
  if (Object.hasOwn(jwk, 'd')) throw refused('card.keys', 'a private key');
  if (use !== undefined && use !== 'sig') throw refused('card.keys', 'a key that is not for signatures');
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) {
    throw refused('card.keys', 'a key that is not for verification');
  }
  if ((kid !== undefined && (typeof kid !== 'string' || kid === '')) || (alg !== undefined && typeof alg !== 'string')) {
    throw refused('card.keys', 'a kid or an alg that is no text');
  }
  return { kid, alg, key: createPublicKey({ key: jwk, format: 'jwk' }) };
}
