/** Imports modules, and prints as JSON which module imported which. Arguments: the URLs. */
import { registerHooks } from 'node:module';

const edges = [];
registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    edges.push([context.parentURL, resolved.url]);
    return resolved;
  },
});
for (const url of process.argv.slice(2)) await import(url);
console.log(JSON.stringify(edges));
