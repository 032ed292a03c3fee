/**
 * Imports modules one after the other, and prints as JSON what each import changed in its process.
 * Arguments: what to import.
 */
import { createHook } from 'node:async_hooks';
import { builtinModules } from 'node:module';

/** Built-in modules whose mere loading is experimental, deprecated or a thing of its own. */
const LEFT_OUT = /^(?:node:|_|punycode|sys|wasi|inspector|repl|trace_events|cluster|sqlite|sea|test)/;

/** State that the loading of any module changes: of Node itself, not of what runs in it. */
const STATE = new Set(['_cache', '_pathCache', 'moduleLoadList', '_preloadModules', 'domain', '_exiting', 'env']);

const roots = new Map([
  ['globalThis', globalThis],
  ['%Iterator%', Object.getPrototypeOf([].values())],
  ['%IteratorPrototype%', Object.getPrototypeOf(Object.getPrototypeOf([].values()))],
  ['%TypedArray%', Object.getPrototypeOf(Uint8Array)],
  ['%Generator%', Object.getPrototypeOf(function* () {})],
  ['%AsyncFunction%', Object.getPrototypeOf(async () => {})],
  ['%AsyncGenerator%', Object.getPrototypeOf(async function* () {})],
  ...builtinModules.filter((name) => !LEFT_OUT.test(name)).map((name) => [name, process.getBuiltinModule(name)]),
]);

/** Every object that can be reached from the roots in a few steps without running anything, with its own properties. */
function world() {
  const found = new Map();
  const queue = [...roots].map(([path, object]) => ({ path, object, depth: 0 }));
  for (const { path, object, depth } of queue) {
    if (found.has(object)) continue;
    const properties = Object.getOwnPropertyDescriptors(object);
    found.set(object, { path, properties, prototype: Object.getPrototypeOf(object) });
    if (depth === 4) continue;
    for (const key of Reflect.ownKeys(properties)) {
      const { value, get, set } = properties[key];
      if (STATE.has(key)) continue;
      for (const next of [value, get, set]) {
        if ((typeof next === 'object' && next !== null) || typeof next === 'function') {
          queue.push({ path: `${path}.${String(key)}`, object: next, depth: depth + 1 });
        }
      }
    }
    if (found.get(object).prototype) queue.push({ path: `${path}.[[Prototype]]`, object: found.get(object).prototype, depth: depth + 1 });
  }
  return found;
}

/** What is another between two worlds, as paths. */
function changes(before, after) {
  const changed = [];
  for (const [object, { path, properties, prototype }] of before) {
    const now = after.get(object);
    if (now === undefined) continue;
    if (now.prototype !== prototype) changed.push(`${path}: prototype`);
    for (const key of new Set([...Reflect.ownKeys(properties), ...Reflect.ownKeys(now.properties)])) {
      if (STATE.has(key)) continue;
      const [was, is] = [properties[key], now.properties[key]];
      const same = was && is && ['value', 'get', 'set', 'writable', 'enumerable', 'configurable'].every((part) => Object.is(was[part], is[part]));
      if (!same) changed.push(`${path}.${String(key)}`);
    }
  }
  return changed.sort();
}

const resources = new Set();
let isOurs = false;
createHook({
  init(_id, type) {
    if (!isOurs) resources.add(type);
  },
}).enable();

const reads = new Set();
process.env = new Proxy(process.env, {
  get(target, name) {
    if (typeof name === 'string') reads.add(name);
    return target[name];
  },
  has(target, name) {
    reads.add(String(name));
    return name in target;
  },
  ownKeys(target) {
    reads.add('*');
    return Reflect.ownKeys(target);
  },
});

/** Does something, and tells what it left behind. */
async function watched(act) {
  const before = world();
  const active = process.getActiveResourcesInfo();
  resources.clear();
  reads.clear();
  await act();
  // What was put off has its chance.
  await new Promise((resolve) => {
    isOurs = true;
    setImmediate(resolve);
    isOurs = false;
  });
  const report = { env: [...reads].sort(), resources: [...resources].sort() };
  const left = process.getActiveResourcesInfo();
  for (const type of active) if (left.includes(type)) left.splice(left.indexOf(type), 1);
  return { ...report, left, changed: changes(before, world()) };
}

// To look at some globals is to load them: what that adds is not what is looked for.
world();
const reports = {};
for (const name of process.argv.slice(2)) reports[name] = await watched(() => import(name));
console.log(JSON.stringify({ size: world().size, reports }));
