/** What a caller may say of the fetch of a card, read once and checked before anything else happens. */
import * as v from 'valibot';
import { Refusal } from '../failure.js';
import { optionChecker, refused, type OptionTable } from '../policy/checker.js';
import { checkCredentials } from '../policy/headers.js';
import { HTTP_OPTIONS, limit, none, type HttpPolicy } from '../policy/http.js';
import { checkDispatcher } from '../wire/dispatcher.js';
import { MAX_TEXT_BYTES } from '../wire/json.js';
import { checkVerification, type VerificationPolicy } from './keys.js';
import { cardLocation, type CardLocation } from './location.js';
import type { CardVerification } from './types.js';

const DEFAULT_CARD_BYTES = 256 * 1024;

/** The same as `CardOptions`, checked; holds no object of the caller's but the signal and the keys. */
export interface CardPolicy extends HttpPolicy {
  readonly maxCardBytes: number;
  readonly cardPath: string | undefined;
  readonly allowLegacyCardPath: true | undefined;
  readonly verify: VerificationPolicy | undefined;
}

export const CARD_OPTIONS: OptionTable<CardPolicy> = {
  maxCardBytes: [
    'options.limit',
    v.pipe(
      v.optional(limit, DEFAULT_CARD_BYTES),
      v.transform((bytes) => Math.min(bytes, MAX_TEXT_BYTES)),
    ),
  ],
  cardPath: ['options.endpoint', v.optional(v.string(), none)],
  allowLegacyCardPath: ['options.endpoint', v.optional(v.literal(true), none)],
  verify: [
    'card.keys',
    v.optional(
      v.pipe(
        v.unknown(),
        // What is no verification, its own check says.
        v.transform((value) => checkVerification(value as CardVerification)),
      ),
      none,
    ),
  ],
  ...HTTP_OPTIONS,
};

/** Request headers that make a request conditional or partial, or that speak to caches: a card is asked for whole, and by our own cache. */
const CONDITIONS = ['cache-control', 'if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since', 'range'];

export function checkConditions({ headers }: HttpPolicy): void {
  for (const name of CONDITIONS) if (Object.hasOwn(headers, name)) throw refused('options.headers', `reserved: ${name}`);
}

/** @throws {Refusal} `options.*`, `card.keys` */
export const checkCardOptions: (options: unknown) => CardPolicy = optionChecker(CARD_OPTIONS, checkConditions);

/**
 * Where the card is that a call may fetch.
 * @throws {Refusal} `options.dispatcher`, `options.endpoint`, `options.cleartext_credentials`
 */
export function permittedLocation(dispatcher: unknown, baseUrl: unknown, policy: CardPolicy): CardLocation {
  const refusal: Refusal | undefined = checkDispatcher(dispatcher);
  if (refusal !== undefined) throw refusal;
  const location = cardLocation(baseUrl, policy.cardPath, policy.allowLegacyCardPath);
  checkCredentials({ ...policy, endpoint: location.card }, policy.headers);
  return location;
}
