/**
 * What both dialects' schemas are made of, and how a value is held against one.
 *
 * The schemas decode as they validate: what they put out is the SDK's 1.x object, made anew from the members that the schema names.
 * Unknown members are left behind (they remain in the raw bytes), `null` is the same as absent.
 */
import * as v from 'valibot';
import { Refusal, type FailureRule } from '../failure.js';
import type { JsonValue } from '../wire/json.js';
import { INVALID, compile, giveShape, type Shape } from './compile.js';

/** The message of an issue that is `a2a.payload` rather than `a2a.schema`. */
export const PAYLOAD = 'a2a.payload';

/** A schema from anything to `T`. */
export type Schema<T> = v.GenericSchema<unknown, T>;

/**
 * Holds `value` against `schema`.
 * @param prefix where in the schema `value` stands
 * @throws {Refusal} `rule`, or `a2a.payload`, with the path of the first thing that is wrong
 */
export function check<T>(schema: Schema<T>, value: unknown, rule: FailureRule = 'a2a.schema', prefix = ''): T {
  // One issue is all that is reported: a hostile list of bad elements must not make one each.
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  // The last item of a member that the schema does not know is that member's name.
  const isUnknownMember = issue.type === 'strict_object' && issue.expected === 'never';
  const path = placeOf(isUnknownMember ? issue.path?.slice(0, -1) : issue.path, prefix);
  // What was expected and what was there, with the value: for `unwrap()` alone.
  const reason = new TypeError(isUnknownMember ? `no such member: ${String(issue.path?.at(-1)?.key)}` : issue.message);
  throw new Refusal(issue.message === PAYLOAD ? PAYLOAD : rule, { path: path === '' ? undefined : path, reason });
}

/** The decoder of results of one kind. @throws {Refusal} `a2a.schema`, `a2a.payload`; see {@link check} */
export function decoder<T>(schema: Schema<T>, prefix = ''): (value: unknown) => T {
  const decode = compile(schema);
  return (value) => {
    const decoded = decode(value);
    return decoded === INVALID ? check(schema, value, 'a2a.schema', prefix) : decoded;
  };
}

/** Member names of the schema and list positions. A map's keys are the peer's words: the path ends before them. */
function placeOf(items: readonly v.IssuePathItem[] | undefined, prefix: string): string {
  let path = prefix;
  for (const item of items ?? []) {
    if (item.type === 'array' && typeof item.key === 'number') path += `[${String(item.key)}]`;
    else if (item.type === 'object' && typeof item.key === 'string') path += path === '' ? item.key : `.${item.key}`;
    else break;
  }
  return path;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * An object literal, of this realm or another. Of anything else (an instance, a Map, Headers) the own members are not all that it
 * says, and what is inherited is not read.
 */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const undefinedByDefault = (): undefined => undefined;

/** The member may be missing or null, and is then `undefined`. */
export const maybe = <T>(schema: Schema<T>): v.NullishSchema<Schema<T>, () => undefined> =>
  v.nullish(schema, undefinedByDefault);

/** A string that may be missing or null, and is then empty, as in ProtoJSON. */
export const text = v.nullish(v.string(), '');

/** A boolean that may be missing or null, and is then false. */
export const flag = v.nullish(v.boolean(), false);

/** An integer of 32 bits that may be missing or null, and is then 0. */
export const int32 = v.nullish(v.pipe(v.number(), v.integer(), v.minValue(-(2 ** 31)), v.maxValue(2 ** 31 - 1)), 0);

/** A string that has to be there and not empty. */
export const nonEmpty = v.pipe(v.string(), v.nonEmpty());

/** A list that may be missing or null, and is then empty. */
export const list = <T>(schema: Schema<T>): v.NullishSchema<v.ArraySchema<Schema<T>, undefined>, () => []> =>
  v.nullish(v.array(schema), () => []);

/** A list that has to be there and not empty. */
export const nonEmptyList = <T>(
  schema: Schema<T>,
): v.SchemaWithPipe<readonly [v.ArraySchema<Schema<T>, undefined>, v.NonEmptyAction<T[], undefined>]> =>
  v.pipe(v.array(schema), v.nonEmpty());

/** Any JSON object, handed over as parsed. Not a valibot record: those drop members named like something of JavaScript's. */
export const open = v.custom<Record<string, unknown>>(isObject);

/** An object. valibot's own takes a list for one. */
export const object = <Entries extends v.ObjectEntries>(
  entries: Entries,
): v.SchemaWithPipe<readonly [typeof open, v.ObjectSchema<Entries, undefined>]> => v.pipe(open, v.object(entries));

/** The same, for objects of which there are many: see {@link Shape}. */
export function shaped<Entries extends v.ObjectEntries>(entries: Entries, shape: Shape<Entries>): ReturnType<typeof object<Entries>> {
  giveShape(entries, shape);
  return object(entries);
}

/** `metadata` and its like. */
export const metadata = maybe(open);

/** A map from names that the peer chose: each is data, whatever it means to JavaScript (the one that would set a prototype is refused before). */
export function map<T>(schema: Schema<T>): Schema<Record<string, T>> {
  return v.pipe(
    v.nullish(open, () => ({})),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const entries: [string, T][] = [];
      for (const [name, value] of Object.entries(dataset.value)) {
        const result = v.safeParse(schema, value, { abortEarly: true });
        if (!result.success) {
          addIssue({ message: result.issues[0].message });
          return NEVER;
        }
        entries.push([name, result.output]);
      }
      return Object.fromEntries(entries);
    }),
  );
}

/** Base64 as ProtoJSON takes it: either alphabet, padded or not, nothing else. */
export const base64: Schema<Buffer> = v.pipe(
  v.string(),
  v.check(isBase64),
  v.transform(decodeBase64),
);

/** In a buffer of its own: `Buffer.from` would make a small one a part of a pool. */
function decodeBase64(encoded: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(encoded, 'base64'));
  return bytes.subarray(0, bytes.write(encoded, 'base64'));
}

function isBase64(encoded: string): boolean {
  const padding = encoded.endsWith('==') ? 2 : encoded.endsWith('=') ? 1 : 0;
  if (padding > 0 && encoded.length % 4 !== 0) return false;
  const digits = encoded.length - padding;
  // Searches for what is wrong rather than matching what is right: linear, and no backtracking on a text of any length.
  const wrong = /[^A-Za-z0-9+/]/.test(encoded.slice(0, digits)) && /[^A-Za-z0-9\-_]/.test(encoded.slice(0, digits));
  return !wrong && digits % 4 !== 1;
}

/** RFC 3339, any offset, up to nanoseconds; kept as sent. */
export const timestamp = v.pipe(
  v.string(),
  v.check((value) => isTimestamp(value, false)),
);

/** As {@link timestamp}, but the offset may be missing: 0.3 asks for ISO 8601 alone. */
export const localTimestamp = v.pipe(
  v.string(),
  v.check((value) => isTimestamp(value, true)),
);

const DATE_TIME = String.raw`^\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?`;
const OFFSET = String.raw`(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)`;
const TIMESTAMP = new RegExp(`${DATE_TIME}${OFFSET}$`);
const LOCAL_TIMESTAMP = new RegExp(`${DATE_TIME}${OFFSET}?$`);

function isTimestamp(value: string, offsetOptional: boolean): boolean {
  if (!(offsetOptional ? LOCAL_TIMESTAMP : TIMESTAMP).test(value)) return false;
  const day = twoDigits(value, 8);
  return day >= 1 && day <= daysOf(twoDigits(value, 0) * 100 + twoDigits(value, 2), twoDigits(value, 5));
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30;
}

function daysOf(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** One of the names of `values`; the decoded value is the SDK's. Never a number. */
export function oneOf<T>(values: ReadonlyMap<string, T>): Schema<T> {
  return v.pipe(
    v.string(),
    v.check((name) => values.has(name)),
    // The check before has found it.
    v.transform((name) => values.get(name) as T),
  );
}

/** Deleting answers with nothing: null, or an empty message as ProtoJSON writes it. */
export function decodeNothing(result: unknown): undefined {
  if (result !== undefined && result !== null && !isObject(result)) throw new Refusal('a2a.schema');
  return undefined;
}

// ---- Requests ----

/** As ProtoJSON does: a member at its default is left out. */
export function compact(members: Record<string, JsonValue | undefined>): Record<string, JsonValue> {
  const kept: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined || value === '' || value === false || (Array.isArray(value) && value.length === 0)) continue;
    kept[name] = value;
  }
  return kept;
}

/** Objects that a request carries as they are; the request's check has proven them JSON. */
export function asJson(value: unknown): JsonValue | undefined {
  return value as JsonValue | undefined;
}

/** The name that an enum's value goes by. */
export function nameOf<T>(values: ReadonlyMap<string, T>, wanted: T): string | undefined {
  for (const [name, value] of values) if (value === wanted) return name;
  return undefined;
}
