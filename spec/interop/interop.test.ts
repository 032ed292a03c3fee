/** The parts of the suite that need no other language: what is expected, how a difference is told, and the JavaScript agent. */
import assert from 'node:assert/strict';
import { after, before, describe, mock, test } from 'node:test';
import type { ProtocolVersion } from '../../lib/index.js';
import { AGENTS, type RunningAgent } from './agents.js';
import { EXPECTED, askedOf, differences } from './expectations.js';
import { startJavaScriptAgent } from './javascript.js';
import { matrix, type Report } from './matrix.js';
import { Peer } from './peer.js';
import { AS_ASKED, STEPS, play, stepsFor } from './scenario.js';
import type { Silence } from './step.js';
import { traitsOf } from './traits.js';

const peers = AGENTS.flatMap((kind) => kind.dialects.map((dialect) => ({ kind, dialect, isOnlyDialect: kind.dialects.length === 1 })));

/** What comes of it if all is as expected. */
function expectedReport({ kind, dialect, isOnlyDialect }: (typeof peers)[number]): Report {
  const expected = EXPECTED[kind.name][dialect];
  assert.ok(expected !== undefined, `nothing is known of ${kind.name} in ${dialect}`);
  const outcomes = stepsFor({ dialect, isOnlyDialect }).map(({ name }) => ({
    step: name,
    outcome: expected.deviations[name]?.outcomes[0] ?? askedOf(name, dialect),
  }));
  return { agent: kind.name, dialect, sdk: kind.sdk, toolchain: kind.language, outcomes, traits: expected.traits };
}

describe('What is expected of the agents', () => {
  test('Every step has a name of its own', () => {
    assert.equal(new Set(STEPS.map(({ name }) => name)).size, STEPS.length);
  });

  test('Every agent is known in just its dialects', () => {
    assert.deepEqual(
      Object.entries(EXPECTED).map(([name, dialects]) => [name, Object.keys(dialects).sort()]),
      AGENTS.map(({ name, dialects }) => [name, [...dialects].sort()]),
    );
  });

  test('Every deviation is one, of a step that is played, and has its reason', () => {
    for (const { kind, dialect, isOnlyDialect } of peers) {
      const played = stepsFor({ dialect, isOnlyDialect }).map(({ name }) => name);
      for (const [step, { outcomes, why }] of Object.entries(EXPECTED[kind.name][dialect]?.deviations ?? {})) {
        assert.ok(played.includes(step), `${kind.name} is not asked for ${step}`);
        assert.ok(outcomes.length > 0 && !outcomes.includes(askedOf(step, dialect)), step);
        assert.match(why, /^[A-Z].*\.$/, step);
      }
    }
  });

  test('What is as expected is no difference, and anything else is one that says what', () => {
    for (const peer of peers) {
      const report = expectedReport(peer);
      assert.deepEqual(differences(report), []);
      const outcomes = report.outcomes.map((one, at) => (at === 0 ? { ...one, outcome: 'sse.field' } : one));
      const traits = { ...report.traits, comments: ': hello' };
      const [first = '', second = '', ...more] = differences({ ...report, outcomes, traits });
      assert.match(first, /sse\.field, where as asked was expected$/);
      assert.match(second, /comments: : hello, where .* was expected$/);
      assert.deepEqual(more, []);
    }
  });
});

describe('The matrix', () => {
  const date = new Date('2026-11-30T12:00:00Z');

  test('It has a column for each server and dialect, in the order of the agents', () => {
    const lines = matrix(peers.map(expectedReport).reverse(), date).split('\n');
    assert.match(lines[0] ?? '', /^Played on 30 November 2026, with .+\.$/);
    const title = lines[2]?.split(' | ') ?? [];
    assert.equal(title.length, 1 + peers.length);
    assert.match(title[1] ?? '', /^JavaScript \(@a2a-js\/sdk \d+\.\d+\.\d+\) in 1\.0$/);
    assert.match(title.at(-1) ?? '', /^Java \(a2a-java \d+\.\d+\.\d+\.Final\) in 0\.3 \|$/);
    const table = lines.slice(2, lines.indexOf('', 2));
    assert.deepEqual([...new Set(table.map((line) => line.split(' | ').length))], [1 + peers.length]);
  });

  test('Steps and servers that differ in the same way stand in one row, and an unexpected outcome stands out', () => {
    const [first, second] = peers.filter(({ kind }) => kind.name === 'Python').map(expectedReport);
    assert.ok(first !== undefined && second !== undefined);
    const broken = (report: Report): Report => ({
      ...report,
      outcomes: ['a task, sent', 'a task, got'].map((step) => ({ step, outcome: 'a|b' })),
    });
    const rows = matrix([broken(first), broken(second)], date).split('\n');
    assert.equal(rows.at(-1), '| a task, sent; a task, got | `a\\|b` | Python in 1.0; Python in 0.3 | UNEXPECTED |');
  });

  test('It counts the steps that ended as the protocol asks', () => {
    const report = expectedReport(peers[0]!);
    const outcomes = [
      { step: 'an unknown task, got', outcome: 'remote.error -32001' },
      { step: 'an unknown task, canceled', outcome: AS_ASKED },
      { step: 'a task, sent', outcome: AS_ASKED },
    ];
    assert.match(matrix([{ ...report, outcomes }], date), /\| steps as the protocol asks \| 2 of 3 \|/);
  });
});

describe('The agent on the JavaScript SDK', () => {
  /** Long enough for it to be silent, and no longer. */
  const silence: Silence = { quietMs: 1000, idleMs: 500 };
  let agent: RunningAgent;

  before(async () => {
    // The SDK tells the console what it does.
    for (const name of ['log', 'warn', 'error'] as const) mock.method(console, name, () => undefined);
    agent = await startJavaScriptAgent();
  });
  after(async () => {
    mock.restoreAll();
    await agent.stop();
  });

  for (const dialect of ['1.0', '0.3'] satisfies ProtocolVersion[]) {
    test(`does in ${dialect} what is expected of it`, async () => {
      const peer = new Peer(agent.url, dialect, false);
      try {
        const outcomes = await play(peer, silence);
        assert.equal(outcomes.length, stepsFor(peer).length);
        const report = { agent: 'JavaScript' as const, dialect, sdk: '', toolchain: '', outcomes, traits: traitsOf(peer) };
        assert.deepEqual(differences(report), []);
      } finally {
        await peer.close();
      }
    });
  }
});
