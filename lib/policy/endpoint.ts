/** Where a request goes: the caller's exact URL, taken apart (`options.endpoint`). */
import { refused } from './checker.js';

/** The target of a request, taken apart. */
export interface Endpoint {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query, as given. */
  readonly target: string;
  /** What is sent to it can be read on the way: `http:`, to another machine. */
  readonly isCleartext: boolean;
}

const URL_PARTS = /^(https?):\/\/([^/?#@]+)(\/[^?#]*)?(\?[^#]*)?$/;

/** @throws {Refusal} `options.endpoint` */
export function endpointOf(value: unknown): Endpoint {
  const text = value instanceof URL ? value.href : value;
  if (typeof text !== 'string') throw refused('options.endpoint', 'it is no string and no URL');
  return parseEndpoint(text);
}

function parseEndpoint(text: string): Endpoint {
  const url = URL.parse(text);
  const parts = URL_PARTS.exec(text);
  if (url === null || parts === null) {
    throw refused('options.endpoint', 'it is no http: or https: URL, or has user info or a fragment');
  }
  const [, scheme = '', authority = '', path = '', query = ''] = parts;
  const host = authority.toLowerCase().replace(scheme === 'https' ? /:443$/ : /:80$/, '');
  const target = `${path === '' ? '/' : path}${query}`;
  // What the URL parser would have to rewrite was not exact, and another parser may rewrite it otherwise.
  if (url.href !== `${scheme}://${host}${target}`) {
    throw refused('options.endpoint', `it is not written as a URL parser would: ${url.href}`);
  }
  return { origin: url.origin, target, isCleartext: scheme === 'http' && !isLoopback(url.hostname) };
}

/** RFC 6761 section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3. The host is as the URL parser writes it. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
