/**
 * As much of JSON Schema 2020-12 as `fixtures/case.schema.json` uses. A keyword that is not known here is refused, so that the schema
 * cannot say more than is checked.
 */
import { isDeepStrictEqual } from 'node:util';

type Schema = Readonly<Record<string, unknown>>;

const ANNOTATIONS = new Set(['$schema', '$id', '$defs', 'title', 'description']);

/** What is wrong with `value`, one line for each place; empty where nothing is. */
export function violations(schema: unknown, value: unknown): string[] {
  const root = asObject(schema);
  return check(root, root, value, '');
}

function check(root: Schema, schema: Schema, value: unknown, at: string): string[] {
  return Object.entries(schema).flatMap(([keyword, operand]) => {
    if (ANNOTATIONS.has(keyword)) return [];
    return checkKeyword(root, schema, keyword, operand, value, at);
  });
}

function checkKeyword(root: Schema, schema: Schema, keyword: string, operand: unknown, value: unknown, at: string): string[] {
  const wrong = (holds: boolean): string[] => (holds ? [] : [`${at}: ${keyword} ${JSON.stringify(operand)}`]);
  switch (keyword) {
    case '$ref':
      return check(root, definition(root, operand), value, at);
    case 'type':
      return wrong(asList(operand, [operand]).includes(typeOf(value)));
    case 'const':
      return wrong(isDeepStrictEqual(value, operand));
    case 'enum':
      return wrong(asList(operand).includes(value));
    case 'pattern':
      return wrong(typeof value !== 'string' || new RegExp(String(operand), 'u').test(value));
    case 'minimum':
      return wrong(typeof value !== 'number' || value >= Number(operand));
    case 'minItems':
      return wrong(!Array.isArray(value) || value.length >= Number(operand));
    case 'oneOf':
      return wrong(asList(operand).filter((one) => check(root, asObject(one), value, at).length === 0).length === 1);
    case 'required':
      return isObject(value) ? asList(operand).filter((name) => !Object.hasOwn(value, String(name))).map((name) => `${at}: ${name} is missing`) : [];
    case 'items':
      return Array.isArray(value) ? value.flatMap((item, index) => check(root, asObject(operand), item, `${at}/${index}`)) : [];
    case 'properties':
      return checkMembers(root, asObject(operand), value, at);
    case 'additionalProperties':
      return checkOthers(root, schema, operand, value, at);
    default:
      return [`the schema's keyword ${keyword} is not known`];
  }
}

function checkMembers(root: Schema, members: Schema, value: unknown, at: string): string[] {
  if (!isObject(value)) return [];
  return Object.entries(members).flatMap(([name, member]) =>
    Object.hasOwn(value, name) ? check(root, asObject(member), value[name], `${at}/${name}`) : [],
  );
}

function checkOthers(root: Schema, schema: Schema, operand: unknown, value: unknown, at: string): string[] {
  if (!isObject(value)) return [];
  const known = asObject(schema['properties'] ?? {});
  const others = Object.keys(value).filter((name) => !Object.hasOwn(known, name));
  if (operand === false) return others.map((name) => `${at}: ${name} is not known`);
  return others.flatMap((name) => check(root, asObject(operand), value[name], `${at}/${name}`));
}

function definition(root: Schema, reference: unknown): Schema {
  const name = String(reference).replace('#/$defs/', '');
  return asObject(asObject(root['$defs'])[name]);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeOf(value) === 'object';
}

function asObject(value: unknown): Schema {
  if (!isObject(value)) throw new TypeError('The schema holds something else where a schema should be');
  return value;
}

function asList(value: unknown, otherwise: readonly unknown[] = []): readonly unknown[] {
  return Array.isArray(value) ? value : otherwise;
}
