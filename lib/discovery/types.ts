/** What discovery takes and gives. */
import type { AgentCard } from '@a2a-js/sdk';
import type { CryptoKey, JWK, KeyObject } from 'jose';
import type { ProtocolVersion } from '../dialect/dialect.js';
import type { HttpOptions } from '../policy/http.js';

/** What the protected header of a signature says of its key. `jku` is not handed on: it is the agent's word, and is never fetched. */
export interface CardSignatureHeader {
  /** One of the allowed algorithms. */
  readonly alg: string;
  readonly kid: string;
}

/** A public key. */
export type CardKey = JWK | CryptoKey | KeyObject;

/** Which signatures of a card hold (A2A 1.0 section 8.4). */
export interface CardVerification {
  /**
   * The public keys: JWKs with a `kid`, or a function from a `kid` to its key, or to `undefined` where there is none. A function is called
   * each time a card is handed out, from a cache too, so that a key that was withdrawn counts no more. One that throws ends the call as
   * `card.keys`.
   */
  readonly keys: readonly JWK[] | ((kid: string, header: CardSignatureHeader) => CardKey | undefined | Promise<CardKey | undefined>);
  /** The JWS algorithms that count: public-key ones (`ES256`, `RS256`, `PS256`, `EdDSA`, …), never `none` or an HMAC (`card.keys`). */
  readonly algorithms: readonly string[];
  /** An unsigned card is refused (`card.unsigned`). Absent: it passes, and its `signedBy` is `undefined`. */
  readonly requireSignature?: true | undefined;
}

/** How a card is fetched. */
export interface CardOptions extends HttpOptions {
  /** The largest card, in bytes: a positive safe integer (`limit.response_bytes`). Absent: 256 KiB. */
  readonly maxCardBytes?: number | undefined;
  /**
   * Path and query of the card on the base URL's origin, in place of the well-known path below the base URL. Begins with `/`
   * (`options.endpoint`).
   */
  readonly cardPath?: string | undefined;
  /** Where there is no card at the well-known path (404 alone), the path of A2A 0.2 is asked too: `/.well-known/agent.json`. */
  readonly allowLegacyCardPath?: true | undefined;
  /** Holds the card's signatures against the caller's keys. A signed card of which no signature holds is refused (`card.signature`). */
  readonly verify?: CardVerification | undefined;
}

/** A card, as it was fetched. */
export interface FetchedCard {
  /**
   * The card in the SDK's 1.x shape, whatever its generation; deeply frozen. Checked against the protocol's schema; what it says is the
   * agent's own word. Where `signedBy` is set, it is decoded from the signed bytes alone.
   */
  readonly card: AgentCard;
  /** The exact bytes that were received, in a buffer of their own. I-JSON. */
  readonly raw: Uint8Array;
  /** Where it was fetched from. */
  readonly url: string;
  /** In which shape it was written. One that carries both shapes is a 1.0 card. */
  readonly generation: ProtocolVersion;
  /** The `kid` of the key under which a signature of it holds; `undefined` where none was verified. */
  readonly signedBy: string | undefined;
  /** The validators that came with it, as sent, for a cache. Untrusted. */
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /**
   * Until when it is fresh by its agent's word (RFC 9111), a day at most, in milliseconds since 1970; `undefined` where the agent said nothing of
   * it.
   */
  readonly freshUntil: number | undefined;
}
