/**
 * Has npm check the registry's signature, and what provenance there is, of every package in the lockfile.
 *
 * Where the signing keys cannot be reached it says so, and that nothing was checked; `--require` makes that a failure, as a release does.
 */
import { spawnSync } from 'node:child_process';

/** npm's codes of a network that is not there, as opposed to a signature that is wrong. */
const UNREACHABLE = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'ENETUNREACH', 'EHOSTUNREACH', 'ETIMEDOUT', 'ERR_SOCKET_TIMEOUT']);

const { stdout, stderr, status } = spawnSync('npm', ['audit', 'signatures', '--json', '--fetch-retries=0', '--fetch-timeout=30000'], {
  encoding: 'utf8',
  timeout: 300_000,
});

interface Audit {
  readonly error?: { readonly code?: string };
  readonly invalid?: readonly { readonly name: string; readonly version: string }[];
  readonly missing?: readonly { readonly name: string; readonly version: string }[];
}

function auditOf(text: string): Audit | undefined {
  try {
    return JSON.parse(text) as Audit;
  } catch {
    return undefined;
  }
}

const audit = auditOf(stdout);
const code = audit?.error?.code;
if (status === 0) {
  console.log('Every package has a valid registry signature.');
} else if (code !== undefined && UNREACHABLE.has(code)) {
  console.log(`NOT CHECKED: the keys that packages are signed with cannot be reached from here (${code}).`);
  process.exitCode = process.argv.includes('--require') ? 1 : 0;
} else {
  for (const { name, version } of audit?.invalid ?? []) console.error(`The signature is wrong: ${name}@${version}`);
  for (const { name, version } of audit?.missing ?? []) console.error(`There is no signature: ${name}@${version}`);
  console.error(`npm audit signatures failed${code === undefined ? '' : ` (${code})`}.\n${audit === undefined ? `${stdout}${stderr}` : ''}`);
  process.exitCode = 1;
}
