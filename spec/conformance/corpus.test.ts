/**
 * The corpus is complete and well formed, whatever the client makes of it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAILURE_RULES, type FailureRule } from '../../lib/index.js';
import { FILES, misshapen, readLayer, rulesElsewhere, type Case } from './corpus.js';

const layers = FILES.map(readLayer);
const cases: Case[] = layers.flatMap((layer) => layer.cases);
const accepted = cases.filter(({ expect }) => expect.ok);
const RULES = Object.keys(FAILURE_RULES) as FailureRule[];

/** Refused cases that a rule has at least. */
const CASES_A_RULE = 5;

for (const file of FILES) {
  test(`The file ${file} has the shape that the schema says`, () => {
    assert.deepEqual(misshapen(file), []);
  });
}

test('A file is named after its layer', () => {
  assert.deepEqual(layers.map(({ layer }) => `${layer}.json`), FILES);
});

test('No two cases have the same name', () => {
  const names = cases.map(({ name }) => name);
  const repeated = names.filter((name, position) => names.indexOf(name) !== position);
  assert.deepEqual(repeated, []);
});

test('Every case declares its verdict, and every refusal the kind that belongs to its rule', () => {
  const wrong = cases.filter(({ expect }) => !expect.ok && FAILURE_RULES[expect.rule] !== expect.kind);
  assert.deepEqual(wrong.map(({ name }) => name), []);
});

test(`Every rule has ${CASES_A_RULE} refused cases, or a reason why they are elsewhere`, () => {
  const elsewhere = rulesElsewhere();
  const counts = new Map<string, number>(RULES.map((rule) => [rule, 0]));
  for (const { expect } of cases) if (!expect.ok) counts.set(expect.rule, (counts.get(expect.rule) ?? 0) + 1);
  const lacking = RULES.filter((rule) => !elsewhere.has(rule) && (counts.get(rule) ?? 0) < CASES_A_RULE);
  assert.deepEqual(lacking, []);
});

test('The list of rules that are elsewhere names no other, and gives a reason for each', () => {
  const counted = new Set<string>(cases.flatMap(({ expect }) => (expect.ok ? [] : [expect.rule])));
  const stale = [...rulesElsewhere()].filter(([rule, reason]) => !Object.hasOwn(FAILURE_RULES, rule) || counted.has(rule) || reason === '');
  assert.deepEqual(stale, []);
});

test('At least 400 cases, two in five of them accepted', () => {
  assert.ok(cases.length >= 400, `${cases.length} cases`);
  assert.ok(accepted.length / cases.length >= 0.4, `${accepted.length} of ${cases.length} cases are accepted`);
});

test('Every layer has accepted cases', () => {
  const without = layers.filter((layer) => layer.cases.filter(({ expect }) => expect.ok).length < CASES_A_RULE);
  assert.deepEqual(without.map(({ layer }) => layer), []);
});

test('Both dialects are covered by a third of the cases each', () => {
  for (const dialect of ['1.0', '0.3'] as const) {
    const covered = cases.filter((one) => one.dialect === dialect || one.dialect.includes(dialect)).length;
    assert.ok(covered * 3 >= cases.length, `${covered} of ${cases.length} cases in ${dialect}`);
  }
});
