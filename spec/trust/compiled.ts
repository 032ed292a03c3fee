/**
 * The library as plain JavaScript, in a folder of its own: what a child process loads is then the library and what it depends on, and
 * nothing that would compile it.
 */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** What a caller imports. */
export interface EntryPoint {
  /** As in `package.json`: `.`, `./agent`, … */
  readonly name: string;
  /** Its source, below `lib`. */
  readonly source: string;
}

/** The entry points that `package.json` names, the plain one first. */
export function entryPoints(): EntryPoint[] {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Record<string, { default?: string } | string> };
  return Object.entries(manifest.exports).flatMap(([name, target]) => {
    const built = typeof target === 'string' ? undefined : target.default;
    return built === undefined ? [] : [{ name, source: built.replace('./dist/', '').replace(/\.js$/, '.ts') }];
  });
}

export interface Compiled {
  readonly folder: string;
  /** The packages that the library imports. */
  readonly packages: readonly string[];
  urlOf(entry: EntryPoint): string;
  remove(): void;
}

export function compile(): Compiled {
  const folder = mkdtempSync(join(root, 'spec', '.trust-'));
  const packages = new Set<string>();
  const lib = join(root, 'lib');
  for (const name of readdirSync(lib, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const code = withoutTypes(readFileSync(join(lib, name), 'utf8'));
    for (const [, from = ''] of code.matchAll(/^(?:import|.*\bfrom) '((?!node:)[^.'][^']*)';$/gm)) packages.add(from);
    const target = join(folder, name.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code);
  }
  return {
    folder,
    packages: [...packages].sort(),
    urlOf: ({ source }) => pathToFileURL(join(folder, source.replace(/\.ts$/, '.js').split('/').join(sep))).href,
    remove() {
      rmSync(folder, { recursive: true });
    },
  };
}

/** The types are all that is taken away: the sources are JavaScript but for them. */
function withoutTypes(source: string): string {
  const emitWarning = process.emitWarning.bind(process);
  // That it is experimental in some versions is no matter of the tests'.
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}
