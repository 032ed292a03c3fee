/**
 * A JSON text → its value, without `JSON.parse` for the names of members.
 *
 * V8's `JSON.parse` takes an escaped member name for one that begins as it is spelled, if another text in the process has had that in the same
 * place (nodejs/node#63785): `{"a":1,"\\n":2}` is `{"a":1,"\\\\":2}` after `{"a":1,"\\\\":0}`. One agent could so change or lose members of another's answer.
 */

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The value of a text that keeps every rule of `json.ts`. Calls itself as deep as the text is nested, which is bounded there. */
export function build(text: string): unknown {
  let at = 0;
  const skipSpace = (): void => {
    while (isWhiteSpace(text.charCodeAt(at))) at++;
  };
  const string = (): string => {
    const start = at;
    at++;
    while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
    at++;
    return JSON.parse(text.slice(start, at)) as string;
  };
  const word = (): unknown => {
    const start = at;
    while (at < text.length && !isEndOfWord(text.charCodeAt(at))) at++;
    return JSON.parse(text.slice(start, at));
  };
  const object = (): Record<string, unknown> => {
    const members: Record<string, unknown> = {};
    at++;
    skipSpace();
    while (text.charCodeAt(at) !== CLOSE_OBJECT) {
      const name = string();
      skipSpace();
      at++;
      members[name] = value();
      if (text.charCodeAt(at) === COMMA) at++;
      skipSpace();
    }
    at++;
    return members;
  };
  const list = (): unknown[] => {
    const items: unknown[] = [];
    at++;
    skipSpace();
    while (text.charCodeAt(at) !== CLOSE_LIST) {
      items.push(value());
      if (text.charCodeAt(at) === COMMA) at++;
    }
    at++;
    return items;
  };
  const bare = (): unknown => {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        return string();
      case OPEN_OBJECT:
        return object();
      case OPEN_LIST:
        return list();
      default:
        return word();
    }
  };
  const value = (): unknown => {
    skipSpace();
    const built = bare();
    skipSpace();
    return built;
  };
  return value();
}

/** Of a number, `true`, `false` or `null`. */
function isEndOfWord(code: number): boolean {
  return code === COMMA || code === CLOSE_OBJECT || code === CLOSE_LIST || isWhiteSpace(code);
}

function isWhiteSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
