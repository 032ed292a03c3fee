/** Tests of a batch or two of properties: enough for nearly every fault, in the time that there is for a mutant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { described, type Property } from '../../fuzz/runner.js';

const BATCHES = 1;

export function testBriefly(properties: readonly Property[]): void {
  for (const property of properties) {
    test(property.name, async () => {
      for (let seed = 1; seed <= BATCHES; seed++) {
        const finding = await property.runBatch({ seed, runs: property.batch, unshrunk: true }, new Map());
        if (finding !== undefined) assert.fail(described(finding));
      }
    });
  }
}
