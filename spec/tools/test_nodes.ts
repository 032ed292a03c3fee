/**
 * Runs the wire tests against the built package on the oldest Node that is supported and on the newest, whatever this machine has.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { engines: { node: string } };
const oldest = `${manifest.engines.node.replace('>=', '')}.0`;

const tests = [
  'spec/json.test.ts',
  'spec/conformance/*.test.ts',
  'spec/stream/*.test.ts',
  'spec/trust/{purity,loading,confined}.test.ts',
  'spec/diagnostics/*.test.ts',
];
const command = `node --import tsx --import ./spec/tools/use_dist.js --expose-gc --test ${tests.map((glob) => `'${glob}'`).join(' ')}`;

for (const version of [oldest, 'latest']) {
  console.log(`\nNode ${version}`);
  const { status } = spawnSync('npm', ['exec', '--yes', `--package=node@${version}`, '--call', `node --version && ${command}`], { stdio: 'inherit' });
  if (status !== 0) {
    console.error(`The wire tests failed on Node ${version}.`);
    process.exit(status ?? 1);
  }
}
