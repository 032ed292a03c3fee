/**
 * What I-JSON forbids, found the plain way: a recursive walk over a text that `JSON.parse` has accepted, which makes a string of every
 * token. Slow and obvious, and written apart from the scan that it judges. The value too is the walk's: `JSON.parse` of V8 now and then
 * takes an escaped member name for another one that it has met before (https://github.com/nodejs/node/issues/63785).
 */
import type { FailureRule } from '../../lib/failure.js';

/** A member of the root object, its range in bytes. */
interface OracleMember {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export interface OracleVerdict {
  /** `undefined`: accepted. */
  readonly rule: FailureRule | undefined;
  readonly value?: unknown;
  readonly members: readonly OracleMember[];
}

/** In the order of the README's table. */
const ORDER = ['json.depth', 'json.duplicate_member', 'json.forbidden_member', 'json.surrogate', 'json.number'] as const;
type Broken = (typeof ORDER)[number];

const DEPTH = 100;

/** @param outer how many objects and lists the text stands in */
export function judgeJson(bytes: Buffer, outer = 0): OracleVerdict {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { rule: 'json.utf8', members: [] };
  }
  if (text.startsWith('\ufeff')) return { rule: 'json.utf8', members: [] };
  try {
    JSON.parse(text);
  } catch {
    return { rule: 'json.syntax', members: [] };
  }
  const walk = new Walk(text);
  const value = walk.value(outer);
  const rule = ORDER.find((each) => walk.broken.has(each));
  return rule === undefined ? { rule, value, members: walk.members } : { rule, members: [] };
}

/** The value of a text that is JSON. */
export function readJson(text: string): unknown {
  return new Walk(text).value(0);
}

class Walk {
  readonly broken = new Set<Broken>();
  readonly members: OracleMember[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): unknown {
    this.#take(/[ \t\r\n]*/y);
    const value = this.#bare(depth + 1);
    this.#take(/[ \t\r\n]*/y);
    return value;
  }

  #bare(depth: number): unknown {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#list(depth);
      case '"':
        return this.#string();
      default:
        return this.#scalar();
    }
  }

  #object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    if (depth > DEPTH) this.broken.add('json.depth');
    const names: string[] = [];
    this.#at++;
    this.#take(/[ \t\r\n]*/y);
    while (this.#text[this.#at] !== '}') {
      this.#take(/[ \t\r\n,]*/y);
      const name = this.#string();
      if (names.includes(name)) this.broken.add('json.duplicate_member');
      if (name === '__proto__') this.broken.add('json.forbidden_member');
      names.push(name);
      this.#take(/[ \t\r\n]*:[ \t\r\n]*/y);
      const start = this.#at;
      const value = this.value(depth);
      if (name !== '__proto__') object[name] = value;
      const held = this.#text.slice(start, this.#at).replace(/[ \t\r\n]+$/, '');
      // Past the fifth the envelope is refused whatever the others are: `parseJson` need not say where they are.
      if (depth === 1 && this.members.length < 5) {
        const from = Buffer.byteLength(this.#text.slice(0, start));
        this.members.push({ name, start: from, end: from + Buffer.byteLength(held) });
      }
    }
    this.#at++;
    return object;
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = [];
    if (depth > DEPTH) this.broken.add('json.depth');
    this.#at++;
    this.#take(/[ \t\r\n]*/y);
    while (this.#text[this.#at] !== ']') {
      list.push(this.value(depth));
      this.#take(/,?/y);
    }
    this.#at++;
    return list;
  }

  #string(): string {
    const token = this.#take(/"(?:[^"\\]|\\.)*"/y);
    const text = JSON.parse(token) as string;
    if (!text.isWellFormed()) this.broken.add('json.surrogate');
    return text;
  }

  #scalar(): unknown {
    const token = this.#take(/[^ \t\r\n,\]}]+/y);
    if (!/^[-0-9]/.test(token)) return JSON.parse(token) as unknown;
    const isInteger = /^-?\d+$/.test(token);
    const most = BigInt(Number.MAX_SAFE_INTEGER);
    const exact = isInteger ? BigInt(token) <= most && BigInt(token) >= -most : Math.abs(Number(token)) !== Infinity;
    if (!exact) this.broken.add('json.number');
    return Number(token);
  }

  /** What matches here, which the grammar says is there. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [token = ''] = pattern.exec(this.#text) ?? [];
    this.#at += token.length;
    return token;
  }
}
