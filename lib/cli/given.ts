/** The values of options, read as what they are to be. */
import type { OptionName } from './options.js';
import { UsageError } from './usage_error.js';

const UNITS_OF_SIZE = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 } as const;
const UNITS_OF_TIME = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

export class Given {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  flag(name: OptionName): true | undefined {
    return this.#values[name] === true ? true : undefined;
  }

  text(name: OptionName): string | undefined {
    const value = this.#values[name];
    if (typeof value !== 'string') return undefined;
    if (value === '') throw new UsageError(`--${name} is empty`);
    return value;
  }

  list(name: OptionName): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  }

  choice<T extends string>(name: OptionName, choices: readonly T[]): T | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new UsageError(`--${name} is one of ${choices.join(', ')}`);
    return found;
  }

  count(name: OptionName): number | undefined {
    return this.#number(name, /^(\d+)()$/, { '': 1 }, 'a whole number');
  }

  /** In bytes. */
  size(name: OptionName): number | undefined {
    return this.#number(name, /^(\d+)([KMG]?)$/, UNITS_OF_SIZE, 'a number of bytes, such as 65536, 64K or 8M');
  }

  /** In milliseconds; `undefined` for none. */
  time(name: OptionName, byDefault?: number): number | undefined {
    const value = this.text(name);
    if (value === undefined) return byDefault;
    if (value === 'none') return undefined;
    return this.#number(name, /^(\d+(?:\.\d+)?)(ms|s|m|h)$/, UNITS_OF_TIME, 'a time, such as 500ms, 30s or 5m, or none');
  }

  #number(name: OptionName, form: RegExp, units: Readonly<Record<string, number>>, what: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const [, digits = '', unit = ''] = form.exec(value) ?? [];
    const number = Math.round(Number(digits) * (units[unit] ?? NaN));
    if (digits === '' || !Number.isSafeInteger(number)) throw new UsageError(`--${name} is ${what}`);
    return number;
  }
}
