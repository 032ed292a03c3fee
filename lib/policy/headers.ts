/** The headers that a caller adds to a request, and which of them may travel where. */
import { isPlain } from '../dialect/values.js';
import { refused } from './checker.js';
import type { Endpoint } from './endpoint.js';
import type { HttpPolicy } from './http.js';

/** RFC 9110 section 5.6.2. */
export const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 9110 section 5.5: no control character but the tab, no white space around. */
const FIELD_VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

/** What frames the message, or what every request says. */
const RESERVED = new Set([
  'host',
  'content-length',
  'content-type',
  'accept',
  'accept-encoding',
  'transfer-encoding',
  'connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'keep-alive',
  'proxy-connection',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
]);

const CREDENTIALS = new Set(['authorization', 'cookie', 'proxy-authorization']);

/** @throws {Refusal} `options.headers` */
export function headersOf(value: unknown): Record<string, string> {
  if (!isPlain(value) || Object.getOwnPropertySymbols(value).length > 0) {
    throw refused('options.headers', 'they are no plain object of names and values');
  }
  return checkHeaders(Object.entries(value));
}

/**
 * Headers that a caller or an interceptor adds, by lower-case name.
 * @throws {Refusal} `options.headers`: reserved, not legal, or twice under one name
 */
export function checkHeaders(entries: Iterable<readonly [string, unknown]>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    if (RESERVED.has(key)) throw refused('options.headers', `reserved: ${key}`);
    if (Object.hasOwn(headers, key)) throw refused('options.headers', `twice: ${key}`);
    if (!FIELD_NAME.test(name) || key === '__proto__') throw refused('options.headers', `no legal name: ${name}`);
    if (typeof value !== 'string' || !FIELD_VALUE.test(value)) throw refused('options.headers', `no legal value: ${key}`);
    headers[key] = value;
  }
  return headers;
}

/** @throws {Refusal} `options.cleartext_credentials` */
export function checkCredentials(policy: HttpPolicy & { readonly endpoint: Endpoint }, headers: Readonly<Record<string, string>>): void {
  if (!policy.endpoint.isCleartext || policy.allowCleartextCredentials === true) return;
  for (const name of Object.keys(headers)) {
    if (isCredential(name, policy.secretHeaders)) throw refused('options.cleartext_credentials', name);
  }
}

/** @param name in lower case, as those of `secretHeaders` */
export function isCredential(name: string, secretHeaders: readonly string[]): boolean {
  return CREDENTIALS.has(name) || secretHeaders.includes(name);
}
