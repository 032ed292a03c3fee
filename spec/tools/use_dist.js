// Puts the built package in the place of its sources: the same tests then judge what is published.
import { registerHooks } from 'node:module';

const lib = new URL('../../lib/', import.meta.url).href;
const dist = new URL('../../dist/', import.meta.url).href;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    if (!resolved.url.startsWith(lib)) return resolved;
    const { pathname } = new URL(resolved.url.replace(lib, dist));
    return { ...resolved, url: new URL(pathname.replace(/\.ts$/, '.js'), dist).href, format: 'module' };
  },
});
