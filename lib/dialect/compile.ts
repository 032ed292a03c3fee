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

function objectDecoder(entries: v.ObjectEntries): AnyDecoder {
  const members = Object.entries(entries).map(([name, schema]) => ({
    name,
    decode: decoderOf(schema as AnySchema),
    // Of these, valibot writes a member that is missing only where it has a default, and runs any other on nothing at all.
    isOptional: schema.type === 'optional' || schema.type === 'nullish',
    hasDefault: 'default' in schema && schema.default !== undefined,
  }));
  return (value) => {
    if (typeof value !== 'object' || value === null) return INVALID;
    const output: Record<string, unknown> = {};
    for (const { name, decode, isOptional, hasDefault } of members) {
      const member = (value as Record<string, unknown>)[name];
      if (member === undefined && !hasDefault) {
        if (!isOptional) return INVALID;
        continue;
      }
      const decoded = decode(member);
      if (decoded === INVALID) return INVALID;
      output[name] = decoded;
    }
    return output;
  };
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
