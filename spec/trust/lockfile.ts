/** What `package-lock.json` says is installed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './compiled.js';

/** One installed package. */
export interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** By the folder it is installed in: `node_modules/…`. The package itself, `''`, is left out. */
export function locked(): ReadonlyMap<string, Locked> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> };
  return new Map(Object.entries(packages).filter(([folder]) => folder !== ''));
}

/**
 * What a consumer gets: the dependencies of `package.json` and theirs, by the folder each is in. Optional peers of a dependency are not
 * among them: npm installs none.
 */
export function runtimeTree(): ReadonlyMap<string, Locked> {
  const all = locked();
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  const tree = new Map<string, Locked>();
  const queue = Object.keys(dependencies).map((name) => ({ name, from: '' }));
  for (const { name, from } of queue) {
    const folder = found(all, name, from);
    const package_ = folder === undefined ? undefined : all.get(folder);
    if (folder === undefined || package_ === undefined) throw new Error(`${name}, which ${from || 'the package'} needs, is not in the lockfile`);
    if (tree.has(folder)) continue;
    tree.set(folder, package_);
    for (const next of Object.keys({ ...package_.dependencies, ...package_.optionalDependencies })) queue.push({ name: next, from: folder });
  }
  return tree;
}

/** Where Node finds a package that is imported from a folder: as near as can be. */
function found(all: ReadonlyMap<string, Locked>, name: string, from: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const folder = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (all.has(folder)) return folder;
    if (at === '') return undefined;
  }
}

export function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
