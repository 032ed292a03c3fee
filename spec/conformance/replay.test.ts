/**
 * Every case of the corpus gives the verdict that it declares: over a socket, as written and byte by byte, and through the pure layers.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Agent } from 'undici';
import { RawAgent } from './agent.js';
import { bodyPieces, type Splitting } from './bytes.js';
import { FILES, isRaw, readLayer, runsOf, type Run, type ShortResponse } from './corpus.js';
import { judgeRun, type Chunking } from './layers.js';
import { callOverSocket, requestDifferences } from './socket.js';
import { differences } from './verdict.js';

/** Cases that are played at the same time. Most of a replay is waiting. */
const AT_ONCE = 24;

/** Bodies larger than these are not cut into bytes: it would take longer than it tells. */
const SINGLE_BYTES_AT_MOST = { socket: 16 * 1024, layers: 256 * 1024 };

let agent: RawAgent;
let shared: Agent;

before(async () => {
  agent = await RawAgent.listen();
  shared = new Agent();
});

after(async () => {
  await shared.destroy();
  await agent[Symbol.asyncDispose]();
});

for (const file of FILES) {
  const { layer, cases } = readLayer(file);
  const runs = cases.flatMap(runsOf);
  const short = runs.filter(({ case: { response } }) => !isRaw(response));

  describe(layer, () => {
    test(`Every case of ${layer} has its verdict over a socket`, async () => {
      await replay(runs, 'as written');
    });

    if (short.length === 0) return;

    test(`Every case of ${layer} has its verdict in HTTP chunks of a single byte`, async () => {
      await replay(short.filter((run) => sizeOf(run) <= SINGLE_BYTES_AT_MOST.socket), 'single bytes');
    });

    for (const chunking of ['all at once', 'byte by byte'] satisfies Chunking[]) {
      test(`Every case of ${layer} has its verdict in the pure layers, ${chunking}`, () => {
        const most = chunking === 'byte by byte' ? SINGLE_BYTES_AT_MOST.layers : Infinity;
        const judged = short.filter((run) => sizeOf(run) <= most);
        report(judged.map((run) => [run, differences(run, judgeRun(run, run.case.response as ShortResponse, chunking))]));
      });
    }
  });
}

function sizeOf({ case: { response } }: Run): number {
  return isRaw(response) ? 0 : Buffer.concat(bodyPieces(response.body, { id: '' })).length;
}

async function replay(runs: readonly Run[], splitting: Splitting): Promise<void> {
  const results: [Run, string[]][] = [];
  const waiting = [...runs];
  const worker = async (): Promise<void> => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) results.push([run, await play(run, splitting)]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  report(results);
}

async function play(run: Run, splitting: Splitting): Promise<string[]> {
  const { response } = run.case;
  // A case that breaks its connection must not break that of another.
  const own = isRaw(response) || response.framing === 'close' ? new Agent() : undefined;
  try {
    const prepared = agent.prepare(run, splitting);
    const observed = await callOverSocket(own ?? shared, run, prepared.endpoint);
    return [...differences(run, observed), ...requestDifferences(run, prepared)];
  } finally {
    await own?.destroy();
  }
}

function report(results: readonly (readonly [Run, string[]])[]): void {
  const wrong = results.filter(([, differ]) => differ.length > 0);
  const lines = wrong.map(([{ name }, differ]) => `${name}\n    ${differ.join('\n    ')}`);
  assert.equal(wrong.length, 0, `${wrong.length} of ${results.length} cases differ:\n${lines.join('\n')}`);
}
