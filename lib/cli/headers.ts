/** The headers that the user adds, and which of them are secret. */
import { FIELD_NAME } from '../policy/headers.js';
import { readText } from './files.js';
import type { Given } from './given.js';
import type { Io } from './io.js';
import { UsageError } from './usage_error.js';

export interface GivenHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** Names, in lower case, of those that came from a file or the environment: whoever takes that trouble has a reason. */
  readonly secretHeaders: readonly string[];
}

/** @throws {UsageError} which repeats no value: it may be a secret */
export function headersOf(given: Given, env: Io['env']): GivenHeaders {
  const headers = new Map<string, string>();
  const secretHeaders: string[] = [];
  const add = (name: string, value: string, isSecret: boolean): void => {
    const key = name.toLowerCase();
    if (headers.has(key)) throw new UsageError(`the header ${key} is given twice`);
    headers.set(key, value);
    if (isSecret) secretHeaders.push(key);
  };
  for (const value of given.list('header')) {
    if (!value.startsWith('@')) {
      add(...nameAndValue(value, "-H takes 'NAME: VALUE' or @FILE"), false);
      continue;
    }
    const lines = readText('-H', value.slice(1)).split(/\r?\n/);
    for (const [at, line] of lines.entries()) {
      if (line.trim() === '') continue;
      add(...nameAndValue(line, `-H: line ${String(at + 1)} of the file is not NAME: VALUE`), true);
    }
  }
  for (const value of given.list('header-env')) {
    const at = value.indexOf('=');
    const name = value.slice(0, at);
    const variable = value.slice(at + 1);
    if (at < 1 || !FIELD_NAME.test(name) || variable === '') {
      throw new UsageError('--header-env takes NAME=VARIABLE, the name of an environment variable');
    }
    const secret = env[variable];
    // What is no variable may be the secret itself, given by mistake.
    if (secret === undefined) throw new UsageError(`--header-env ${name}=…: there is no such environment variable`);
    add(name, secret, true);
  }
  return { headers: Object.fromEntries(headers), secretHeaders };
}

function nameAndValue(line: string, otherwise: string): [name: string, value: string] {
  const at = line.indexOf(':');
  const name = line.slice(0, Math.max(at, 0));
  if (!FIELD_NAME.test(name)) throw new UsageError(otherwise);
  return [name, line.slice(at + 1).trim()];
}
