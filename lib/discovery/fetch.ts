/** One fetch of a card, and what is handed out of it. */
import type { Dispatcher } from 'undici';
import { Refusal } from '../failure.js';
import { Flight, Waiter, notSent } from './flight.js';
import { freshUntilOf, freshnessOf, validatorsOf, type Validators } from './freshness.js';
import { checkCardOptions, permittedLocation, type CardPolicy } from './options.js';
import { CardRequest, type CardContent } from './request.js';
import type { CardOptions, FetchedCard } from './types.js';
import { verifyCard } from './verify.js';

/**
 * Fetches the card of the agent at a base URL, under the rules of every call: one request, no redirect, bounded, I-JSON, checked against
 * the protocol's schema.
 *
 * Nothing throws synchronously. Without `timeoutMs` it may take as long as the agent likes.
 * @param dispatcher as for `StrictClient`
 * @param baseUrl an `http(s)` URL as exact as an endpoint. The card is at `/.well-known/agent-card.json` below its path; one that ends in
 * that path is taken as it is. A query is refused, unless it is that of the card's own URL or the card is at `cardPath`.
 * @throws {Failure} `options.*`, `card.keys`; `http.*`, `limit.response_bytes`, `json.*`, `a2a.*`, `card.unsigned`, `card.signature`
 */
export function fetchAgentCard(dispatcher: Dispatcher, baseUrl: string | URL, options: CardOptions = {}): Promise<FetchedCard> {
  return attempt(() => {
    const policy = checkCardOptions(options);
    const request = new CardRequest(dispatcher, policy, permittedLocation(dispatcher, baseUrl, policy));
    const waiter = new Waiter();
    return waiter.run(policy, async () => {
      const { content, url, headers, requestedAt } = await waiter.join(new Flight(request, request.send()));
      const receivedAt = Date.now();
      const freshUntil = freshUntilOf(freshnessOf(headers, requestedAt, receivedAt), receivedAt);
      return present(content, { url, ...validatorsOf(headers), freshUntil }, policy);
    });
  });
}

/** Nothing throws synchronously. */
export function attempt<T>(act: () => Promise<T>): Promise<T> {
  try {
    return act();
  } catch (error) {
    return Promise.reject(error instanceof Refusal ? notSent(error) : (error as Error));
  }
}

/**
 * What one caller gets of a card: nothing of it is another's to change.
 * @throws {Refusal} `limit.response_bytes`, `card.unsigned`, `card.signature`, `card.keys`
 */
export async function present(
  { bytes, decoded }: CardContent,
  { url, etag, lastModified, freshUntil }: Validators & Pick<FetchedCard, 'url' | 'freshUntil'>,
  { maxCardBytes, verify }: CardPolicy,
): Promise<FetchedCard> {
  if (bytes.length > maxCardBytes) throw new Refusal('limit.response_bytes');
  const { card, generation, signedBy } = verify === undefined ? { ...decoded, signedBy: undefined } : await verifyCard(bytes, verify);
  return { card, raw: new Uint8Array(bytes), url, generation, signedBy, etag, lastModified, freshUntil };
}
