/** Whether a response may be kept and for how long (RFC 9111), for a cache that is private to its caller. */
import { httpDate } from '../wire/http.js';

/** Response headers by lower-case name. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * No card is taken for fresh any longer, whatever the agent says: a wrong one would stay. RFC 9111 section 4.2 lets a cache be this
 * careful.
 */
const MAX_LIFETIME_MS = 24 * 60 * 60 * 1000;

export interface Freshness {
  /** It may be kept at all. */
  readonly isStorable: boolean;
  /** How long it is fresh from when it was made; `undefined` where the headers say nothing of it. */
  readonly lifetimeMs: number | undefined;
  /** How old it was when it came (section 4.2.3). */
  readonly ageMs: number;
}

/** Until when what came at `receivedAt` is fresh, in milliseconds since 1970; `undefined` where the headers say nothing of it. */
export function freshUntilOf({ isStorable, lifetimeMs, ageMs }: Freshness, receivedAt: number): number | undefined {
  if (!isStorable) return receivedAt;
  return lifetimeMs === undefined ? undefined : receivedAt + Math.max(lifetimeMs - ageMs, 0);
}

/**
 * @param requestedAt when it was asked for, and
 * @param receivedAt when it came, in milliseconds since 1970
 */
export function freshnessOf(headers: ResponseHeaders, requestedAt: number, receivedAt: number): Freshness {
  const directives = directivesOf(valuesOf(headers, 'cache-control'));
  const varies = valuesOf(headers, 'vary').flatMap((value) => value.split(','));
  const date = dateOf(headers, 'date');
  return {
    // What varies by more than the request's headers fits no later request. By those it does not vary: they are in the key.
    isStorable: !directives.has('no-store') && !varies.some((name) => name.trim() === '*'),
    lifetimeMs: lifetimeOf(headers, directives, date ?? receivedAt),
    ageMs: Math.max(receivedAt - (date ?? receivedAt), ageOf(headers) + Math.max(receivedAt - requestedAt, 0), 0),
  };
}

function lifetimeOf(headers: ResponseHeaders, directives: ReadonlyMap<string, string | undefined>, date: number): number | undefined {
  if (directives.has('no-cache')) return 0;
  if (directives.has('max-age')) return Math.min(secondsOf(directives.get('max-age')) ?? 0, MAX_LIFETIME_MS);
  if (valuesOf(headers, 'expires').length > 0) {
    // Section 5.3: an invalid date is one that has passed.
    return Math.min(Math.max((dateOf(headers, 'expires') ?? date) - date, 0), MAX_LIFETIME_MS);
  }
  return headers['cache-control'] === undefined ? undefined : 0;
}

/** An age that is none is no reason to trust: the response is stale. */
function ageOf(headers: ResponseHeaders): number {
  const values = valuesOf(headers, 'age');
  if (values.length === 0) return 0;
  return (values.length === 1 ? secondsOf(values[0]) : undefined) ?? Infinity;
}

/** The milliseconds of a number of seconds. */
function secondsOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) * 1000 : undefined;
}

const DIRECTIVE = /^([!#$%&'*+\-.^_`|~0-9a-z]+)(?:=(?:([!#$%&'*+\-.^_`|~0-9a-z]+)|"([^"\\]*)"))?$/i;

/**
 * Section 5.2. Of one that is there twice with two values, or is malformed, what it says is unknown: it counts as there, without a value.
 */
function directivesOf(values: readonly string[]): Map<string, string | undefined> {
  const directives = new Map<string, string | undefined>();
  // A quoted comma is none of the directives' that are read here; what is left of it on either side is malformed, and harmless.
  for (const item of values.flatMap((value) => value.split(','))) {
    const text = item.trim();
    const [, name, token, quoted] = DIRECTIVE.exec(text) ?? [];
    const key = (name ?? /^[^=]*/.exec(text)?.[0] ?? '').toLowerCase();
    const value = token ?? quoted;
    directives.set(key, directives.has(key) && directives.get(key) !== value ? undefined : value);
  }
  return directives;
}

function dateOf(headers: ResponseHeaders, name: string): number | undefined {
  const [value] = valuesOf(headers, name);
  return value === undefined || valuesOf(headers, name).length > 1 ? undefined : httpDate(value);
}

function valuesOf(headers: ResponseHeaders, name: string): readonly string[] {
  const value = headers[name];
  if (value === undefined) return [];
  return (typeof value === 'string' ? [value] : value).map((item) => item.trim());
}

/** RFC 9110 section 8.8.3, in visible ASCII: what may be sent back. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/;

export interface Validators {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/** The validators that a response came with; a malformed one is none. */
export function validatorsOf(headers: ResponseHeaders): Validators {
  const [etag, otherTag] = valuesOf(headers, 'etag');
  const [lastModified] = valuesOf(headers, 'last-modified');
  return {
    etag: etag !== undefined && otherTag === undefined && ENTITY_TAG.test(etag) ? etag : undefined,
    lastModified: dateOf(headers, 'last-modified') === undefined ? undefined : lastModified,
  };
}

/** RFC 9110 section 8.8.3.2: the weak comparison. */
export function isSameTag(one: string, other: string): boolean {
  return one.replace(/^W\//, '') === other.replace(/^W\//, '');
}
