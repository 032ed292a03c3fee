/**
 * Stands in for `node:test` where mutants are run: the same words, but tests run when they are asked to, in this process, and the first
 * that fails ends the run.
 */
import { mock } from 'node:test';

type Work = (context: Context) => unknown;
interface Options {
  readonly concurrency?: number | boolean;
}
interface Test {
  readonly name: string;
  readonly work: Work;
}

class Suite {
  readonly name: string;
  readonly concurrency: number;
  readonly children: (Suite | Test)[] = [];
  readonly hooks: Readonly<Record<'before' | 'after' | 'beforeEach' | 'afterEach', Work[]>> = {
    before: [],
    after: [],
    beforeEach: [],
    afterEach: [],
  };

  constructor(name: string, { concurrency = 1 }: Options = {}) {
    this.name = name;
    this.concurrency = concurrency === true ? 8 : Number(concurrency);
  }
}

/** What a test is given. */
class Context {
  readonly name: string;
  readonly mock = mock;
  readonly signal = new AbortController().signal;
  readonly ends: Work[] = [];

  constructor(name: string) {
    this.name = name;
  }

  after(work: Work): void {
    this.ends.push(work);
  }

  diagnostic(): void {
    // Nobody reads along.
  }

  async test(name: string, ...rest: [Work] | [Options, Work]): Promise<void> {
    await runTest({ name, work: rest.at(-1) as Work }, []);
  }
}

let current = new Suite('');

export function test(name: string, ...rest: [Work] | [Options, Work]): void {
  current.children.push({ name, work: rest.at(-1) as Work });
}

export function describe(name: string, ...rest: [() => void] | [Options, () => void]): void {
  const outer = current;
  const suite = new Suite(name, rest.length === 2 ? rest[0] : {});
  outer.children.push(suite);
  current = suite;
  (rest.at(-1) as () => void)();
  current = outer;
}

export const before = (work: Work): number => current.hooks.before.push(work);
export const after = (work: Work): number => current.hooks.after.push(work);
export const beforeEach = (work: Work): number => current.hooks.beforeEach.push(work);
export const afterEach = (work: Work): number => current.hooks.afterEach.push(work);
export { test as it, describe as suite, mock };

/** A test that failed. */
export class Failed extends Error {
  constructor(name: string, cause: unknown) {
    super(name, { cause });
  }
}

/** Runs what has been collected since the last time. @param skip tests that are left out, by their names @throws {Failed} */
export async function runCollected(skip: RegExp | undefined): Promise<void> {
  const root = current;
  current = new Suite('');
  await runSuite(root, [], skip);
}

async function runSuite(suite: Suite, outer: readonly Suite[], skip: RegExp | undefined): Promise<void> {
  const chain = [...outer, suite];
  const context = new Context(suite.name);
  try {
    for (const work of suite.hooks.before) await work(context);
    const waiting = suite.children.filter(({ name }) => skip?.test(name) !== true);
    const worker = async (): Promise<void> => {
      for (let child = waiting.shift(); child !== undefined; child = waiting.shift()) {
        try {
          if (child instanceof Suite) await runSuite(child, chain, skip);
          else await runTest(child, chain);
        } catch (error) {
          waiting.length = 0;
          throw error instanceof Failed ? error : new Failed(child.name, error);
        }
      }
    };
    await Promise.all(Array.from({ length: suite.concurrency }, worker));
  } finally {
    for (const work of suite.hooks.after) await work(context);
  }
}

async function runTest({ name, work }: Test, chain: readonly Suite[]): Promise<void> {
  const context = new Context(name);
  try {
    for (const suite of chain) for (const hook of suite.hooks.beforeEach) await hook(context);
    await work(context);
  } catch (error) {
    throw new Failed(name, error);
  } finally {
    for (const end of context.ends) await end(context);
    for (const suite of chain) for (const hook of suite.hooks.afterEach) await hook(context);
  }
}
