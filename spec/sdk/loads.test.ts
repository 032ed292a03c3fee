/** What an application loads with `a2a-strict/sdk`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

test('The entry point loads of the SDK its types and errors alone: no client, no server, no gRPC', { timeout: 20_000 }, async () => {
  const child = fileURLToPath(new URL('./children/loads.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', child], { timeout: 15_000 });
  const files = JSON.parse(stdout) as string[];
  const ofSdk = files.filter((file) => file.startsWith('@a2a-js/sdk/')).sort();
  assert.deepEqual(ofSdk, ['@a2a-js/sdk/dist/errors/index.js', '@a2a-js/sdk/dist/index.js']);
  const packages = new Set(files.map((file) => /^(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]));
  for (const name of packages) assert.ok(['@a2a-js/sdk', 'jose', 'undici', 'valibot'].includes(name ?? ''), name);
});
