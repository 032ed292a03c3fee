/**
 * A valibot schema as closures, made once at load: what streams of small events spend most of their time in otherwise.
 *
 * It has no say of its own. What it accepts, it decodes as the schema would; whatever it does not accept, valibot judges again and
 * explains. Parts of a schema that it does not know it leaves to valibot. No code is generated.
 */
import * as v from 'valibot';
import type { Schema } from './values.js';

type AnySchema = v.GenericSchema;
type AnyDecoder = (value: unknown) => unknown;
type Pipe = readonly v.PipeItem<unknown, unknown, v.BaseIssue<unknown>>[];

/** Thrown inside, and by no one else: the value is not to the schema's liking. Made once: a stack for each would cost more than all else. */
const REJECTED = new Error('rejected');

/** What a decoder gives for a value that is not to its liking. */
export const INVALID: unique symbol = Symbol('invalid');

/**
 * The decoder of `schema`.
 * @returns a function that gives the decoded value, or {@link INVALID}
 */
export function compile<T>(schema: Schema<T>): (value: unknown) => T | typeof INVALID {
  const decode = decoderOf(schema);
  return (value) => {
    try {
      // The closures are made of the schema's parts, so what they give is what the schema gives.
      return decode(value) as T;
    } catch (error) {
      if (error === REJECTED) return INVALID;
      throw error;
    }
  };
}

/** The decoders of an object's members, by their names. */
export type MemberDecoders<Entries extends v.ObjectEntries> = {
  readonly [Name in keyof Entries]: (value: unknown) => v.InferOutput<Entries[Name]>;
};

/** Decodes an object member by member, each named outright: to reach them by names that differ from schema to schema is what would cost. */
export type Shape<Entries extends v.ObjectEntries> = (
  value: Readonly<Record<keyof Entries, unknown>>,
  decode: MemberDecoders<Entries>,
) => v.InferOutput<v.ObjectSchema<Entries, undefined>>;

type AnyShape = (value: object, decode: Readonly<Record<string, AnyDecoder>>) => unknown;

const shapes = new WeakMap<v.ObjectEntries, AnyShape>();

/** Objects of these entries are decoded by `shape`, which has to give just what the schema gives. */
export function giveShape<Entries extends v.ObjectEntries>(entries: Entries, shape: Shape<Entries>): void {
  shapes.set(entries, shape as AnyShape);
}

function decoderOf(schema: AnySchema): AnyDecoder {
  if ('pipe' in schema) return pipeDecoder(schema.pipe as Pipe, schema);
  if (isType<v.StringSchema<undefined>>(schema, 'string')) return (value) => (typeof value === 'string' ? value : reject());
  if (isType<v.BooleanSchema<undefined>>(schema, 'boolean')) return (value) => (typeof value === 'boolean' ? value : reject());
  if (isType<v.CustomSchema<unknown, undefined>>(schema, 'custom')) return (value) => (schema.check(value) ? value : reject());
  if (isType<v.ObjectSchema<v.ObjectEntries, undefined>>(schema, 'object')) return objectDecoder(schema);
  if (isType<v.ArraySchema<AnySchema, undefined>>(schema, 'array')) return listDecoder(decoderOf(schema.item));
  if (isType<v.NullishSchema<AnySchema, unknown>>(schema, 'nullish')) return absentDecoder(schema, true);
  if (isType<v.LazySchema<AnySchema>>(schema, 'lazy')) return lazyDecoder(schema);
  if (isType<v.OptionalSchema<AnySchema, unknown>>(schema, 'optional')) return absentDecoder(schema, false);
  if (schema.type === 'unknown') return (value) => value;
  return slowDecoder(schema);
}

function reject(): never {
  throw REJECTED;
}

function isType<S extends AnySchema>(schema: AnySchema, type: S['type']): schema is S {
  return schema.type === type;
}

/** valibot's own run. */
function slowDecoder(schema: AnySchema): AnyDecoder {
  return (value) => {
    const result = v.safeParse(schema, value, { abortEarly: true });
    return result.success ? result.output : reject();
  };
}

/** What may be absent, and may have a default, which is held against the schema too. */
function absentDecoder(
  { wrapped, default: stated }: v.NullishSchema<AnySchema, unknown> | v.OptionalSchema<AnySchema, unknown>,
  nullIsAbsent: boolean,
): AnyDecoder {
  const decode = decoderOf(wrapped);
  const isAbsent = nullIsAbsent ? (value: unknown) => value === undefined || value === null : (value: unknown) => value === undefined;
  if (stated === undefined) return (value) => (isAbsent(value) ? value : decode(value));
  if (typeof stated !== 'function') return (value) => decode(isAbsent(value) ? stated : value);
  const make = stated as () => unknown;
  return (value) => {
    if (!isAbsent(value)) return decode(value);
    const made = make();
    return made === undefined ? undefined : decode(made);
  };
}

/** What it turns out to be is compiled when it first does. */
function lazyDecoder(schema: v.LazySchema<AnySchema>): AnyDecoder {
  const decoders = new WeakMap<AnySchema, AnyDecoder>();
  return (value) => {
    const actual = schema.getter(value);
    let decode = decoders.get(actual);
    if (decode === undefined) {
      decode = decoderOf(actual);
      decoders.set(actual, decode);
    }
    return decode(value);
  };
}

function listDecoder(decode: AnyDecoder): AnyDecoder {
  return (value) => (Array.isArray(value) ? value.map((item) => decode(item)) : reject());
}

function objectDecoder({ entries }: v.ObjectSchema<v.ObjectEntries, undefined>): AnyDecoder {
  const members = Object.entries(entries) as [string, AnySchema][];
  const decode = Object.fromEntries(members.map(([name, member]) => [name, decoderOf(member)]));
  const shape = shapes.get(entries) ?? anyShape(members);
  return (value) => (typeof value === 'object' && value !== null ? shape(value, decode) : reject());
}

/** The shape of objects of which there are few. */
function anyShape(members: readonly [string, AnySchema][]): AnyShape {
  // A member that is optional and has no default stays out where it is missing.
  const names = members.map(([name, schema]) => [name, schema.type === 'optional' && 'default' in schema && schema.default === undefined] as const);
  return (value, decode) => {
    const given = value as Readonly<Record<string, unknown>>;
    const output: Record<string, unknown> = {};
    for (const [name, mayStayOut] of names) {
      if (!mayStayOut || name in given) output[name] = decode[name]?.(given[name]);
    }
    return output;
  };
}

function pipeDecoder(pipe: Pipe, whole: AnySchema): AnyDecoder {
  const steps: AnyDecoder[] = [];
  for (const [position, item] of pipe.entries()) {
    const step = position === 0 ? decoderOf(item as AnySchema) : stepOf(item);
    if (step === undefined) return slowDecoder(whole);
    steps.push(step);
  }
  // Most pipes have two or three steps: each is called by the next, rather than by a loop.
  return steps.reduce((first, second) => (value) => second(first(value)));
}

function stepOf(item: v.PipeItem<unknown, unknown, v.BaseIssue<unknown>>): AnyDecoder | undefined {
  if (item.kind === 'schema') return decoderOf(item);
  switch (item.type) {
    case 'check': {
      const { requirement } = item as v.CheckAction<unknown, undefined>;
      return (value) => (requirement(value) ? value : reject());
    }
    case 'non_empty':
      return (value) => ((value as string | unknown[]).length > 0 ? value : reject());
    case 'transform': {
      const { operation } = item as v.TransformAction<unknown, unknown>;
      return (value) => operation(value);
    }
    default:
      return undefined;
  }
}
