/** What the entry point loads from outside: each package, and which of its files. */
import { registerHooks } from 'node:module';

const loaded = new Set<string>();
registerHooks({
  resolve(specifier, context, next) {
    const result = next(specifier, context);
    const [, file] = /\/node_modules\/(.+)$/.exec(result.url) ?? [];
    if (file !== undefined) loaded.add(file);
    return result;
  },
});
await import('../../../lib/sdk/index.js');
console.log(JSON.stringify([...loaded]));
