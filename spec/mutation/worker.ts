/**
 * The process that mutants are run in. Every mutant has its own instances of the mutated module and of all that import it, directly or not.
 * Started without a loader, for it is one; it imports nothing of the project before that.
 */
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface Job {
  /** The mutated file, and its text. */
  readonly path: string;
  readonly text: string;
  /** Test files, in the order in which they run. */
  readonly tests: readonly string[];
  /** A pattern of names of tests that are left out. */
  readonly skip: string | undefined;
}

export interface Outcome {
  /** The test that failed; `undefined` where none did. */
  readonly killedBy: string | undefined;
  /** Nothing is left of the tests that could disturb those of the next mutant. */
  readonly isClean: boolean;
}

const ROOT = new URL('../../', import.meta.url).href;
const MINI_TEST = new URL('./mini_test.ts', import.meta.url).href;
const stripped = new Map<string, string>();
let job: Job | undefined;
let generation = 0;

registerHooks({
  resolve(specifier, context, next) {
    const from = context.parentURL ?? '';
    if (specifier === 'node:test' && from !== MINI_TEST) return { url: MINI_TEST, shortCircuit: true };
    const isOurs = specifier.startsWith(ROOT) || (specifier.startsWith('.') && from.startsWith(ROOT));
    if (!isOurs || specifier === MINI_TEST || from.includes('/node_modules/')) return next(specifier, context);
    const { href } = new URL(specifier, from);
    const [plain = '', query = ''] = href.split('?', 2);
    const source = sourceFileOf(plain);
    // A copy of a module, which a test asks for by a query of its own, stays one.
    const age = reachesMutant(source) ? generation : 0;
    return { url: `${source}?${age}${query}`, shortCircuit: true };
  },
  load(url, context, next) {
    const [file = '', query] = url.split('?', 2);
    if (!file.endsWith('.ts') || (query === undefined && url !== MINI_TEST)) return next(url, context);
    const path = fileURLToPath(file);
    return { format: 'module', source: path === job?.path ? stripTypeScriptTypes(job.text, { mode: 'transform' }) : sourceOf(path), shortCircuit: true };
  },
});

function sourceFileOf(url: string): string {
  const source = url.replace(/\.js$/, '.ts');
  return existsSync(fileURLToPath(source)) ? source : url;
}

const imports = new Map<string, string[]>();
let reached = new Map<string, boolean>();

/** Whether a module is the mutated one or imports it. */
function reachesMutant(url: string): boolean {
  const before = reached.get(url);
  if (before !== undefined) return before;
  const path = fileURLToPath(url);
  if (path === job?.path) return true;
  if (!url.endsWith('.ts')) return false;
  // Of a circle, the first to be asked for decides.
  reached.set(url, false);
  const known = imports.get(url) ?? [
    ...sourceOf(path).matchAll(/(?:from|import) *\(?'(\.[^']+)'/g),
  ].map(([, name = '']) => sourceFileOf(new URL(name, url).href));
  imports.set(url, known);
  const reaches = known.some(reachesMutant);
  reached.set(url, reaches);
  return reaches;
}

function sourceOf(path: string): string {
  const known = stripped.get(path) ?? stripTypeScriptTypes(readFileSync(path, 'utf8'), { mode: 'transform' });
  stripped.set(path, known);
  return known;
}

interface MiniTest {
  readonly runCollected: (skip: RegExp | undefined) => Promise<void>;
}
const { runCollected } = (await import(MINI_TEST)) as MiniTest;

async function run(next: Job): Promise<string | undefined> {
  if (job?.path !== next.path) reached = new Map();
  job = next;
  generation++;
  try {
    for (const file of next.tests) {
      await import(`${pathToFileURL(file).href}?${generation}`);
      await runCollected(next.skip === undefined ? undefined : new RegExp(next.skip));
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 200) : 'something thrown';
  }
}

function reply(killedBy: string | undefined): void {
  const isClean = !process.getActiveResourcesInfo().some((name) => /TCP|TLS|Timeout|Process/.test(name));
  process.send?.({ killedBy, isClean } satisfies Outcome);
}

process.on('message', (next: Job) => {
  void run(next).then(reply);
});
// What nobody awaits would have failed a test of its own.
process.on('uncaughtException', (error) => {
  reply(`uncaught: ${String(error).slice(0, 200)}`);
});
