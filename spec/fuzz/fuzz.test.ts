/**
 * Every property, for a while, from one seed: what runs here is the beginning of what `npm run fuzz -- --seed 1` runs. A counterexample
 * is printed with the command that shows it again.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PROPERTIES } from './properties.js';
import { described, runFor } from './runner.js';

const SEED = 1;
/** For all properties together. */
const BUDGET_MS = 15_000;

describe('Generated cases', () => {
  for (const property of PROPERTIES) {
    test(property.name, async () => {
      const { runs, missed, finding } = await runFor(BUDGET_MS / PROPERTIES.length, SEED, property);
      if (finding !== undefined) assert.fail(described(finding));
      assert.ok(runs >= property.batch, `${runs} cases`);
      assert.deepEqual(missed, [], 'outcomes that never turned up');
    });
  }
});

test('No two properties have the same name', () => {
  assert.equal(new Set(PROPERTIES.map(({ name }) => name)).size, PROPERTIES.length);
});
