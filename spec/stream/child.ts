/** Runs one of `children/` in a process of its own: what it prints last is its report. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** @throws where the process ends with a code other than 0, prints anything to stderr, or takes a minute */
export async function runChild(name: string, ...flags: readonly string[]): Promise<unknown> {
  const [file, ...given] = [fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url)), ...flags];
  const isFlag = (text: string): boolean => text.startsWith('--');
  const { stdout, stderr } = await run(
    process.execPath,
    [...given.filter(isFlag), '--import', 'tsx', file, ...given.filter((text) => !isFlag(text))],
    { timeout: 60_000 },
  );
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}
