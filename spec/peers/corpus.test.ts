/** The judgement over what clients make of the corpus: it can tell good from bad, and one behaviour from another. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure, FAILURE_RULES } from '../../lib/index.js';
import type { Run } from '../conformance/corpus.js';
import { leakedWords, textsOf } from './leak.js';
import { replay } from './replay.js';
import { markdown, reportOf } from './report.js';
import { CASE_BASIS, RULE_BASIS } from './rules.js';
import { RUNS, judgementOf, withNumericId, wordsOf, type PeerRun } from './runs.js';

function runNamed(name: string): PeerRun {
  const found = RUNS.find(({ run }) => run.case.name === name);
  if (found === undefined) throw new Error(`There is no run ${name}`);
  return found;
}

describe('Over the wire', { concurrency: true, timeout: 60_000 }, () => {
  const broken = runNamed('Another task than the one asked for is refused');

  for (const [name, end] of [['sdk', 'taken'], ['strict', 'refused']] as const) {
    test(`${name}: an answer about another task is ${end}, a good one taken, and what is no JSON refused`, async () => {
      const sample = [broken, runNamed('A body in chunks is read to its last chunk'), runNamed('A trailing comma in a list is no JSON')];
      const played = await replay(name, sample.map(({ run }) => run));
      assert.deepEqual(played.map((one) => one.end), [end, 'taken', 'refused']);
    });
  }

  test('What a client does is told apart, a crash from those it takes with it', async () => {
    const behaviours = ['takes', 'refuses', 'leaks', 'has no such call', 'takes', 'hangs', 'crashes'];
    const runs = behaviours.map((behaviour): Run => ({ ...broken.run, params: { behaviour } }));
    const played = await replay('stand-in', runs, { first: 500, last: 1000 });
    assert.deepEqual(played.map(({ end }) => end), ['taken', 'refused', 'refused', 'not offered', 'taken', 'hangs', 'crashes']);
    const leaked = played.map((one) => (one.end === 'refused' ? one.leaked : undefined));
    assert.ok(wordsOf(broken.run).includes(leaked[2] ?? 'nothing'), leaked[2]);
    assert.deepEqual(leaked.filter((words) => words !== undefined).length, 1);
  });
});

test('Words of the agent are found wherever an error shows them, and nowhere else', () => {
  const said = '{"jsonrpc":"2.0","id":"1","result":{"note":"drop table users","code":-32001,"statusUpdate":{}}}';
  const leaking: Readonly<Record<string, unknown>> = {
    'its message': new Error('Bad answer: drop table users'),
    'its cause': new Error('Bad', { cause: new Error('drop table users') }),
    'a member': Object.assign(new Error('Bad'), { body: said }),
    'its JSON': { toJSON: () => ({ at: { body: said } }) },
    'no error at all': said,
  };
  for (const [where, error] of Object.entries(leaking)) assert.notEqual(leakedWords(said, textsOf(error)), undefined, where);
  const path = 'statusUpdate.status';
  const quiet: Readonly<Record<string, unknown>> = {
    'a failure with a code and a path of the schema': new Failure('a2a.schema', { delivery: 'answered', code: -32001, path, cause: said }),
    'an error in its own words': new Error('The answer is not what "jsonrpc" asks for'),
  };
  for (const [what, error] of Object.entries(quiet)) assert.equal(leakedWords(said, textsOf(error)), undefined, what);
});

test('An id that is a number is echoed as one, and nothing else changes', () => {
  // Lengths and fills follow the two bytes less.
  const unframed = (words: string): string => words.replaceAll(/content-length: .*|^[0-9a-f]+\r$/gim, '').replaceAll(/([^])\1{20,}/g, '$1');
  const echoes = RUNS.filter(({ run }) => wordsOf(run).includes('"$ID"'));
  assert.ok(echoes.length > 1000, `${echoes.length}`);
  for (const { run } of echoes) {
    assert.equal(unframed(wordsOf(withNumericId(run))), unframed(wordsOf(run)).replaceAll('"$ID"', '$ID'), run.name);
  }
});

test('Every rule that the corpus refuses by has a basis, and every exception a case', () => {
  const expected = RUNS.map(({ run }) => run.case.expect);
  const rules = new Set(expected.flatMap((expect) => (expect.ok || expect.rule === 'remote.error' ? [] : [expect.rule])));
  assert.deepEqual(Object.keys(RULE_BASIS).sort(), [...rules].sort());
  const names = new Set(RUNS.map(({ run }) => run.case.name));
  assert.deepEqual([...CASE_BASIS.keys()].filter((name) => !names.has(name)), []);
  assert.ok(Object.keys(RULE_BASIS).every((rule) => rule in FAILURE_RULES));
});

test('The table counts each answer where it belongs', () => {
  const good = runNamed('A body in chunks is read to its last chunk');
  const broken = runNamed('Another task than the one asked for is refused');
  const chosen = runNamed('A charset of UTF-16 is refused');
  const error = runNamed('An error with data is the agent speaking');
  assert.deepEqual([good, broken, chosen, error].map(({ run }) => judgementOf(run.case)), ['good', 'specification', 'choice', 'error']);
  const runs = [good, good, broken, broken, chosen, chosen, error, error, broken];
  const report = reportOf(['A'], runs, [
    [
      { end: 'taken' },
      { end: 'refused' },
      { end: 'taken' },
      { end: 'refused', leaked: 'words' },
      { end: 'taken' },
      { end: 'hangs' },
      { end: 'taken' },
      { end: 'refused', leaked: 'words' },
      { end: 'not offered' },
    ],
  ]);
  const { total, notOffered } = report;
  assert.deepEqual([total.hostile, total.good, total.errors, notOffered], [{ specification: 2, choice: 2 }, 2, 2, 1]);
  assert.deepEqual(total.clients, [
    { taken: { specification: 1, choice: 1 }, hangs: 1, crashes: 0, leaks: 1, refused: 1, errorsTaken: 1, errorsTold: 1 },
  ]);
  const lines = markdown(report, 'Made today.').split('\n');
  assert.equal(lines[0], 'Made today. The client is A.');
  assert.ok(lines.includes('| all | 2 + 2 | 1 + 1 | 1 | 1 | 0 | 2 | 1 |'), lines.join('\n'));
});
