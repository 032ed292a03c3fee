import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { reports } from './report.js';

const folder = fileURLToPath(new URL('.', import.meta.url));

test('The public surface is what its reports say: where a change is meant, npm run api -- --update writes them anew', () => {
  const written = readdirSync(folder).filter((name) => name.endsWith('.api.txt'));
  const current = reports();
  assert.deepEqual(written.sort(), [...current.keys()].sort());
  for (const [name, text] of current) assert.equal(text, readFileSync(join(folder, name), 'utf8'), name);
  const index = current.get('index.api.txt') ?? '';
  assert.match(index, /^class StrictClient \{$/m);
  // Named by what is exported, and marked as internal: the one is in, the other is not.
  assert.match(index, /^interface HttpOptions \{$/m);
  assert.doesNotMatch(index, /constructor\(rule: FailureRule/);
});
