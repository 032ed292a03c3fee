/** The corpus through the pure layers, in one go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyPieces } from '../../conformance/bytes.js';
import { FILES, isRaw, readLayer, runsOf } from '../../conformance/corpus.js';
import { judgeRun, type Chunking } from '../../conformance/layers.js';
import { differences } from '../../conformance/verdict.js';

const SINGLE_BYTES_AT_MOST = 4096;

for (const chunking of ['all at once', 'byte by byte'] satisfies Chunking[]) {
  test(`Every case of the corpus has its verdict, ${chunking}`, () => {
    for (const run of FILES.flatMap((file) => readLayer(file).cases).flatMap(runsOf)) {
      const { response } = run.case;
      if (isRaw(response)) continue;
      const size = Buffer.concat(bodyPieces(response.body, { id: '' })).length;
      if (chunking === 'all at once' || size <= SINGLE_BYTES_AT_MOST) assert.deepEqual(
        differences(run, judgeRun(run, response, chunking)),
        [],
        run.name,
      );
    }
  });
}
