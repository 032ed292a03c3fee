/** The code of `docs/observability.md`, written to files of their own as a reader would. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Recipes {
  readonly folder: string;
  readonly files: readonly string[];
  remove(): void;
}

export function writeRecipes(): Recipes {
  const text = readFileSync(join(root, 'docs', 'observability.md'), 'utf8');
  const folder = mkdtempSync(join(root, 'spec', '.readme-'));
  const files: string[] = [];
  for (const [, name = '', code = ''] of text.matchAll(/^```ts file=(\S+)\n(.*?)^```$/gms)) {
    writeFileSync(join(folder, name), code.replaceAll("'a2a-strict'", "'../../lib/index.js'"));
    files.push(name);
  }
  return {
    folder,
    files,
    remove() {
      rmSync(folder, { recursive: true });
    },
  };
}
