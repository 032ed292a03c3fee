// The API reference, from the doc comments of what each entry point exports. A warning is an error: a comment that has gone stale fails.
import { readFileSync } from 'node:fs';

const { exports } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'));
const sources = Object.values(exports).flatMap((target) => (target.default ? [target.default.replace('./dist/', './lib/').replace(/\.js$/, '.ts')] : []));

/** @type {Partial<import('typedoc').TypeDocOptions>} */
const config = {
  entryPoints: sources,
  tsconfig: 'lib/tsconfig.json',
  out: 'docs/api',
  readme: 'none',
  projectDocuments: ['docs/*.md'],
  excludeInternal: true,
  excludePrivate: true,
  excludeProtected: true,
  excludeExternals: true,
  disableGit: true,
  disableSources: true,
  // `npm run typecheck` says what is wrong with the types.
  skipErrorChecking: true,
  treatWarningsAsErrors: true,
  treatValidationWarningsAsErrors: true,
  validation: { notExported: true, invalidLink: true, notDocumented: true, rewrittenLink: true, unusedMergeModuleWith: true },
  requiredToBeDocumented: ['Class', 'Interface', 'TypeAlias', 'Function', 'Variable', 'Method', 'Accessor'],
  // Parts of unions that are exported whole, and a name for `string | Uint8Array`.
  intentionallyNotExported: ['lib/dialect/dialect.ts:UnaryName', 'lib/dialect/dialect.ts:StreamName', 'lib/hardened/options.ts:Pem'],
};
export default config;
