/** What the package costs before it does anything: loading each entry point, in a process of its own, and its size. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { median } from './job.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

/** The cost of loading an entry point, its dependencies included. */
export interface Load {
  readonly specifier: string;
  readonly milliseconds: number;
  readonly rssMiB: number;
  readonly heapMiB: number;
  /** Source text that is loaded, and how much of it is this package's own, as it is and compressed. */
  readonly allKiB: number;
  readonly ownKiB: number;
  readonly ownGzipKiB: number;
}

const TIMED = `
  const memory = () => { gc(); const { rss, heapUsed } = process.memoryUsage(); return [rss, heapUsed]; };
  const [rss, heap] = memory();
  const startedAt = performance.now();
  await import(process.argv[1]);
  const milliseconds = performance.now() - startedAt;
  const [rssNow, heapNow] = memory();
  console.log(JSON.stringify([milliseconds, (rssNow - rss) / 2 ** 20, (heapNow - heap) / 2 ** 20]));
`;

/** Hooks take time, so that the sizes are found by a run of their own. */
const WEIGHED = `
  import { registerHooks } from 'node:module';
  import { readFileSync } from 'node:fs';
  import { gzipSync } from 'node:zlib';
  const own = [];
  let all = 0;
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) {
        const text = readFileSync(new URL(url));
        all += text.length;
        if (url.startsWith(process.argv[2])) own.push(text);
      }
      return next(url, context);
    },
  });
  await import(process.argv[1]);
  const mine = Buffer.concat(own);
  console.log(JSON.stringify([all / 1024, mine.length / 1024, mine.length === 0 ? 0 : gzipSync(mine).length / 1024]));
`;

/** In the package's own folder, so that its name leads to what it exports. Nothing of this process's Node options is handed on. */
function child(script: string, ...args: string[]): number[] {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const nodeArgs = ['--expose-gc', '--input-type=module', '-e', script, ...args];
  const output = execFileSync(process.execPath, nodeArgs, { cwd: root, env, encoding: 'utf8' });
  return JSON.parse(output) as number[];
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as Manifest;
}

/** Of each entry point, and for comparison of what the peers load; medians of so many rounds, taken in turn. */
export function loads(rounds: number): readonly Load[] {
  const { name, exports } = manifest();
  const entries = Object.keys(exports).filter((path) => !path.endsWith('.json'));
  const specifiers = [...entries.map((path) => path.replace('.', name)), '@a2a-js/sdk/client', 'undici'];
  const runs = specifiers.map((): number[][] => []);
  for (let round = 0; round < rounds; round++) specifiers.forEach((specifier, i) => runs[i]!.push(child(TIMED, specifier)));
  const dist = new URL('../../dist/', import.meta.url).href;
  return specifiers.map((specifier, i) => {
    const figure = (at: number): number => median(runs[i]!.map((numbers) => numbers[at]!));
    const [allKiB = 0, ownKiB = 0, ownGzipKiB = 0] = child(WEIGHED, specifier, dist);
    return { specifier, milliseconds: figure(0), rssMiB: figure(1), heapMiB: figure(2), allKiB, ownKiB, ownGzipKiB };
  });
}

/** The tarball as it would be published. */
export interface PackageSize {
  readonly packedKiB: number;
  readonly unpackedKiB: number;
  readonly files: number;
}

interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly entryCount: number;
}

/** Of what is built: scripts, which would build it anew, are left out. */
export function packageSize(): PackageSize {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const output = execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [packed] = JSON.parse(output) as Packed[];
  if (packed === undefined) throw new Error('npm has packed nothing');
  return { packedKiB: packed.size / 1024, unpackedKiB: packed.unpackedSize / 1024, files: packed.entryCount };
}
