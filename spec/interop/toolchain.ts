/** Makes what an agent in another language needs, once for each set of pins, in a folder that no repository holds. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const HERE = fileURLToPath(new URL('.', import.meta.url));
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/interop/', import.meta.url));
const MAKE_MS = 600_000;

/** A path below this folder. */
export function source(...names: readonly string[]): string {
  return join(HERE, ...names);
}

/** What a toolchain says its version is, or `undefined` where it is not there. */
export async function versionOf(command: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout } = await run(command, args, { timeout: MAKE_MS });
    return /\d+\.\d+(?:\.\d+)?/.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}

/** A virtual environment with the packages of a requirements file: the path of its interpreter. */
export async function pythonWith(requirements: string, python: string): Promise<string> {
  const folder = await cached('python', [source('python', requirements)], python, async (into) => {
    // Made at the place where it stays: a virtual environment cannot be moved.
    await run('python3', ['-m', 'venv', into], { timeout: MAKE_MS });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', source('python', requirements)];
    await run(join(into, 'bin', 'python'), pip, { timeout: MAKE_MS });
  });
  return join(folder, 'bin', 'python');
}

/** The Go agent, built: the path of the program. */
export async function goProgram(go: string): Promise<string> {
  const sources = ['main.go', 'go.mod', 'go.sum'].map((name) => source('go', name));
  const folder = await cached('go', sources, go, async (into) => {
    mkdirSync(into);
    await run('go', ['build', '-mod=readonly', '-o', join(into, 'agent'), '.'], { cwd: source('go'), timeout: MAKE_MS });
  });
  return join(folder, 'agent');
}

/** The Java agent, built: the path of what runs it. */
export async function javaProgram(java: string): Promise<string> {
  const names = ['pom.xml', 'src/main/java/ObedientAgent.java', 'src/main/resources/application.properties'];
  const sources = names.map((name) => source('java', name));
  const folder = await cached('java', sources, java, async (into) => {
    await run('mvn', ['--quiet', '--batch-mode', `-Doutput=${into}`, 'package'], { cwd: source('java'), timeout: MAKE_MS });
  });
  return join(folder, 'quarkus-app', 'quarkus-run.jar');
}

/** The folder that `make` fills, once for each content of `sources`; what was half made is made again. */
async function cached(kind: string, sources: readonly string[], toolchain: string, make: (into: string) => Promise<void>): Promise<string> {
  const hash = createHash('sha256').update(toolchain);
  for (const file of sources) hash.update('\0').update(readFileSync(file));
  const folder = join(CACHE, `${kind}-${hash.digest('hex').slice(0, 16)}`);
  const done = join(folder, 'made');
  if (existsSync(done)) return folder;
  mkdirSync(CACHE, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  await make(folder);
  writeFileSync(`${done}.tmp`, '');
  renameSync(`${done}.tmp`, done);
  return folder;
}
