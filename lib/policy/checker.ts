/**
 * The check of an object of options: each member read once, and one that is none of ours refused rather than ignored.
 *
 * A check fails closed. Options are plain objects: only their own members count.
 */
import * as v from 'valibot';
import { isPlain } from '../dialect/values.js';
import { Refusal, type FailureRule } from '../failure.js';

/** Each option with what it has to be, and the rule that it breaks otherwise. */
export type OptionTable<T> = { readonly [N in keyof T]: readonly [rule: FailureRule, schema: v.GenericSchema<unknown, T[N]>] };

/** What was read the last time, if that were plain values alone, and the policy that it came to. */
interface Remembered<T> {
  readonly read: Readonly<Record<string, unknown>>;
  readonly size: number;
  readonly policy: T;
}

/**
 * The check of one kind of options. Callers mostly make one call after another with the same: where every member read is the same plain
 * value as before, the policy is too. Objects could have changed meanwhile, and are checked each time.
 * @param whole what has to hold between options
 * @returns a function that throws a {@link Refusal}: `options.unknown`, or the rule of the option that is wrong
 */
export function optionChecker<T extends object>(table: OptionTable<T>, whole?: (policy: T) => void): (options: unknown) => T {
  let last: Remembered<T> | undefined;
  return (options) => {
    const read = readOnce(options, table);
    const names = Object.keys(read);
    if (last?.size === names.length) {
      const before = last.read;
      if (names.every((name) => read[name] === before[name] && name in before)) return last.policy;
    }
    const policy = checkEach(read, table);
    whole?.(policy);
    if (names.every((name) => typeof read[name] !== 'object')) last = { read, size: names.length, policy };
    return policy;
  };
}

function checkEach<T extends object>(read: Readonly<Record<string, unknown>>, table: OptionTable<T>): T {
  const policy: Partial<T> = {};
  for (const name in table) {
    const [rule, schema] = table[name];
    let reason: unknown;
    let path: string = name;
    try {
      const result = v.safeParse(schema, read[name], { abortEarly: true });
      if (result.success) {
        policy[name] = result.output;
        continue;
      }
      // What it has to be, and not what it is: that may be a secret.
      const [{ expected }] = result.issues;
      reason = new TypeError(expected === null ? 'it has not the form that it has to have' : `it is not ${expected}`);
    } catch (error) {
      // What a check of ours says, or a proxy or a getter inside an option.
      reason = error instanceof Refusal ? error.reason : error;
      // Of an option that holds others, the one that is wrong.
      if (error instanceof Refusal && error.path !== undefined) path = `${name}.${error.path}`;
    }
    throw new Refusal(rule, { path, reason });
  }
  // Each name of the table has been filled in.
  return policy as T;
}

/** The caller's own members, each read once, into an object that nobody else holds. */
function readOnce<T extends object>(options: unknown, table: OptionTable<T>): Record<string, unknown> {
  const read = Object.create(null) as Record<string, unknown>;
  let rule: FailureRule = 'options.unknown';
  let path: string | undefined;
  try {
    if (!isPlain(options)) throw refused('options.unknown', 'the options are no plain object');
    for (const name of Reflect.ownKeys(options)) {
      if (!isNameOf(table, name)) throw refused('options.unknown', `no such option: ${String(name)}`);
      rule = table[name][0];
      path = name;
      read[name] = options[name];
    }
  } catch (reason) {
    if (reason instanceof Refusal) throw reason;
    throw new Refusal(rule, { path, reason });
  }
  return read;
}

function isNameOf<T extends object>(table: OptionTable<T>, name: string | symbol): name is keyof T & string {
  return typeof name === 'string' && Object.hasOwn(table, name);
}

/** A refusal that says why to the caller alone, whose own words may be in it. */
export function refused(rule: FailureRule, why: string): Refusal {
  return new Refusal(rule, { reason: new TypeError(why) });
}
