/** Where a text peer is: an `a2a:` address, or an exact endpoint (`text.address`). */
import { Refusal } from '../failure.js';
import { refused } from '../policy/checker.js';
import { endpointOf } from '../policy/endpoint.js';

/** Scheme, authority, query. The path is not the caller's to say. */
const ADDRESS = /^(a2as?):\/\/([^/?#@]+)\/?(\?[^#]*)?$/;

/**
 * The exact endpoint that an address stands for. `a2a://host:port` is `http://host:port/invoke`, `a2as://host:port` is
 * `https://host:port/invoke`; a port that is left out is the one of `http:` or `https:`. The query goes along as it is and configures
 * nothing. An `http:` or `https:` URL is an exact endpoint already.
 * @throws {Refusal} `text.address`: also an `a2a:` address with a path, user info or a fragment
 */
export function endpointOfAddress(address: unknown): string {
  const text = address instanceof URL ? address.href : address;
  if (typeof text !== 'string') throw refused('text.address', 'it is no string and no URL');
  const endpoint = /^a2as?:/.test(text) ? expand(text) : text;
  try {
    endpointOf(endpoint);
  } catch (error) {
    throw new Refusal('text.address', { reason: error instanceof Refusal ? error.reason : error });
  }
  return endpoint;
}

function expand(address: string): string {
  const [, scheme, authority, query = ''] = ADDRESS.exec(address) ?? [];
  if (authority === undefined) throw refused('text.address', 'it is not written as a2a://host:port or a2as://host:port');
  return `${scheme === 'a2as' ? 'https' : 'http'}://${authority}/invoke${query}`;
}
