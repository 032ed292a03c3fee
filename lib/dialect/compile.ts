/**
 * A valibot schema as closures, made once at load: what streams of small events spend most of their time in otherwise.
 *
 * It has no say of its own. What it accepts, it decodes as the schema would; whatever it does not accept, valibot judges again and
 * explains. Parts of a schema that it does not know it leaves to valibot. No code is generated.
 */
import * as v from 'valibot';
import type { Schema } from './values.js';

/** What a decoder gives for a value that is not to its liking. */
export const INVALID: unique symbol = Symbol('invalid');

/** The decoded value, or {@link INVALID}. */
export type Decoder<T> = (value: unknown) => T | typeof INVALID;

type AnyDecoder = Decoder<unknown>;
type AnySchema = v.GenericSchema;

/** The decoder of `schema`. */
export function compile<T>(schema: Schema<T>): Decoder<T> {
  // The closures are made of the schema's parts, so what they give is what the schema gives.
  return decoderOf(schema) as Decoder<T>;
}

function decoderOf(schema: AnySchema): AnyDecoder {
  if ('pipe' in schema) return pipeDecoder(schema.pipe as readonly v.PipeItem<unknown, unknown, v.BaseIssue<unknown>>[], schema);
  if (isType<v.StringSchema<undefined>>(schema, 'string')) return (value) => (typeof value === 'string' ? value : INVALID);
  if (isType<v.BooleanSchema<undefined>>(schema, 'boolean')) return (value) => (typeof value === 'boolean' ? value : INVALID);
  if (isType<v.CustomSchema<unknown, undefined>>(schema, 'custom')) return (value) => (schema.check(value) ? value : INVALID);
  if (isType<v.ObjectSchema<v.ObjectEntries, undefined>>(schema, 'object')) return objectDecoder(schema.entries);
  if (isType<v.ArraySchema<AnySchema, undefined>>(schema, 'array')) return listDecoder(decoderOf(schema.item));
  if (isType<v.NullishSchema<AnySchema, unknown>>(schema, 'nullish')) return nullishDecoder(schema);
  // `optional(unknown())`, of which there are many more in a stream than of all else that is left.
  if (schema.type === 'optional' && 'wrapped' in schema && (schema.wrapped as AnySchema).type === 'unknown') return (value) => value;
  return slowDecoder(schema);
}

function isType<S extends AnySchema>(schema: AnySchema, type: S['type']): schema is S {
  return schema.type === type;
}

/** valibot's own run. */
function slowDecoder(schema: AnySchema): AnyDecoder {
  return (value) => {
    const result = v.safeParse(schema, value, { abortEarly: true });
    return result.success ? result.output : INVALID;
  };
}

function nullishDecoder(schema: v.NullishSchema<AnySchema, unknown>): AnyDecoder {
  const decode = decoderOf(schema.wrapped);
  const stated = schema.default;
  const defaultOf = typeof stated === 'function' ? (stated as () => unknown) : () => stated;
  return (value) => (value === undefined || value === null ? defaultOf() : decode(value));
}

function listDecoder(decode: AnyDecoder): AnyDecoder {
  return (value) => {
    if (!Array.isArray(value)) return INVALID;
    const output: unknown[] = [];
    for (const item of value as unknown[]) {
      const decoded = decode(item);
      if (decoded === INVALID) return INVALID;
      output.push(decoded);
    }
    return output;
  };
}

/** A member of an object that is there. */
interface MemberDecoder {
  readonly decode: AnyDecoder;
  readonly isRequired: boolean;
  /** A string, or null for the default. Most members of most objects are. */
  readonly isText: boolean;
}

/** A value that many objects may share. */
const isShared = (value: unknown): boolean => typeof value !== 'object';

/**
 * Looks only for the members that are there, and begins from an object that has all the others: to add them one by one, from code that serves
 * every schema, is what would cost.
 */
function objectDecoder(entries: v.ObjectEntries): AnyDecoder {
  const members = new Map<string, MemberDecoder>();
  const template: Record<string, unknown> = {};
  /** Members whose default has to be made anew for each object: lists. */
  const made: [name: string, make: () => unknown][] = [];
  let required = 0;
  for (const [name, schema] of Object.entries(entries) as [string, AnySchema][]) {
    const decode = decoderOf(schema);
    const isOptional = schema.type === 'optional' || schema.type === 'nullish';
    const hasDefault = 'default' in schema && schema.default !== undefined;
    // What a missing member comes to: valibot holds defaults, too, against the schema.
    const initial = hasDefault ? decode(undefined) : undefined;
    const isRequired = !isOptional || initial === INVALID;
    if (isRequired) required++;
    // A member that is optional and has no default stays out where it is missing.
    if (isRequired || hasDefault) template[name] = isShared(initial) && !isRequired ? initial : undefined;
    if (!isShared(initial)) made.push([name, () => decode(undefined)]);
    const isText = schema.type === 'nullish' && 'wrapped' in schema && isPlainString(schema.wrapped as AnySchema) && initial === '';
    members.set(name, { decode, isRequired, isText });
  }
  return (value) => {
    if (typeof value !== 'object' || value === null) return INVALID;
    const output = { ...template };
    let seen = 0;
    for (const name in value) {
      const member = members.get(name);
      if (member === undefined) continue;
      const given = (value as Record<string, unknown>)[name];
      if (member.isText && typeof given === 'string') {
        output[name] = given;
        continue;
      }
      const decoded = member.decode(given);
      if (decoded === INVALID) return INVALID;
      output[name] = decoded;
      if (member.isRequired) seen++;
    }
    if (seen !== required) return INVALID;
    for (const [name, make] of made) output[name] ??= make();
    return output;
  };
}

function isPlainString(schema: AnySchema): boolean {
  return schema.type === 'string' && !('pipe' in schema);
}

function pipeDecoder(pipe: readonly v.PipeItem<unknown, unknown, v.BaseIssue<unknown>>[], whole: AnySchema): AnyDecoder {
  const steps: AnyDecoder[] = [];
  for (const [position, item] of pipe.entries()) {
    const step = position === 0 ? decoderOf(item as AnySchema) : stepOf(item);
    if (step === undefined) return slowDecoder(whole);
    steps.push(step);
  }
  return (value) => {
    let at = value;
    for (const step of steps) {
      at = step(at);
      if (at === INVALID) return INVALID;
    }
    return at;
  };
}

function stepOf(item: v.PipeItem<unknown, unknown, v.BaseIssue<unknown>>): AnyDecoder | undefined {
  if (item.kind === 'schema') return decoderOf(item);
  switch (item.type) {
    case 'check': {
      const { requirement } = item as v.CheckAction<unknown, undefined>;
      return (value) => (requirement(value) ? value : INVALID);
    }
    case 'non_empty':
      return (value) => ((value as string | unknown[]).length > 0 ? value : INVALID);
    case 'transform': {
      const { operation } = item as v.TransformAction<unknown, unknown>;
      return (value) => operation(value);
    }
    default:
      return undefined;
  }
}
