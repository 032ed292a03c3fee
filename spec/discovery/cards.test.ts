import { AgentCard } from '@a2a-js/sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OfferedInterfaces, selectInterface } from '../../lib/discovery/index.js';
import { decodeCard } from '../../lib/discovery/card.js';
import { Failure, Refusal, failureOf } from '../../lib/failure.js';
import { bodyOf, read, type DecodeCase, type SelectCase } from './corpus.js';

const decode = read<DecodeCase>('decode').cases;
const select = read<SelectCase>('select').cases;

describe('The cards of fixtures/cards/decode.json', () => {
  for (const { name, expect, ...body } of decode) {
    test(name, () => {
      const bytes = bodyOf({ name, expect, ...body });
      if (expect.ok === true) {
        const { generation, card } = decodeCard(bytes);
        assert.equal(generation, expect.generation);
        assert.deepEqual(AgentCard.toJSON(card), expect.card);
      } else {
        assert.throws(
          () => decodeCard(bytes),
          (error) => error instanceof Refusal && error.rule === expect.rule && error.path === expect.path,
        );
      }
    });
  }

  test('are accepted and refused in fair numbers', () => {
    const accepted = decode.filter(({ expect }) => expect.ok === true).length;
    assert.ok(accepted >= 20 && decode.length - accepted >= 40);
  });
});

function cardWith(interfaces: readonly unknown[]): AgentCard {
  return decodeCard(Buffer.from(JSON.stringify({ name: 'Agent', supportedInterfaces: interfaces }))).card;
}

describe('The interfaces of fixtures/cards/select.json', () => {
  for (const { name, expect, interfaces, baseUrl, allowCrossOriginInterfaces, protocolVersions } of select) {
    test(name, () => {
      const options = { baseUrl, allowCrossOriginInterfaces, protocolVersions };
      if (expect.ok === true) {
        const { ok: _, ...selected } = expect;
        assert.deepEqual(selectInterface(cardWith(interfaces), options), selected);
      } else {
        assert.throws(
          () => selectInterface(cardWith(interfaces), options),
          (error) => error instanceof Failure && error.rule === expect.rule && error.kind === 'protocol' && error.delivery === 'not_sent',
        );
      }
    });
  }
});

describe('selectInterface', () => {
  test('A 0.3 card selects 0.3, with or without a stated version', () => {
    for (const stated of [{}, { protocolVersion: '0.3.0' }, { protocolVersion: '0.2.5' }]) {
      const { card } = decodeCard(Buffer.from(JSON.stringify({ name: 'Old', url: 'https://h.example/rpc', ...stated })));
      assert.deepEqual(selectInterface(card, { baseUrl: 'https://h.example/' }), {
        endpoint: 'https://h.example/rpc',
        protocolVersion: '0.3',
        tenant: '',
        reason: 'first_listed',
      });
    }
  });

  test('What a card offers instead is behind unwrap(), bounded, and nowhere else', () => {
    const interfaces = Array.from({ length: 1000 }, (_, at) => ({
      url: `https://h.example/${at}/${'u'.repeat(1000)}`,
      protocolBinding: 'GRPC',
      protocolVersion: 'secret-version',
    }));
    const failure = failureOf(thrownBy(() => selectInterface(cardWith(interfaces), { baseUrl: 'https://h.example/' })))!;
    const cause = failure.unwrap();
    assert.ok(cause instanceof OfferedInterfaces);
    assert.equal(cause.count, 1000);
    assert.equal(cause.offered.length, 32);
    assert.equal(cause.offered[31]!.url.length, 256);
    assert.deepEqual({ ...cause.offered[0]!, url: '' }, { url: '', protocolBinding: 'GRPC', protocolVersion: 'secret-version' });
    assert.ok(!JSON.stringify(failure).includes('secret') && !failure.stack!.includes('secret'));
  });

  test('Wrong options are refused', () => {
    const card = cardWith([]);
    const rules: [string, unknown][] = [
      ['options.endpoint', { baseUrl: 'nowhere' }],
      ['options.endpoint', { baseUrl: 'https://user@h/' }],
      ['options.endpoint', {}],
      ['options.endpoint', { baseUrl: 'https://h/', allowCrossOriginInterfaces: 'yes' }],
      ['options.endpoint', { baseUrl: 'https://h/', allowCrossOriginInterfaces: false }],
      ['options.dialect', { baseUrl: 'https://h/', protocolVersions: ['2.0'] }],
      ['options.dialect', { baseUrl: 'https://h/', protocolVersions: '1.0' }],
      ['options.unknown', { baseUrl: 'https://h/', allowCrossOrigin: true }],
      ['options.unknown', null],
    ];
    for (const [rule, options] of rules) {
      const failure = failureOf(thrownBy(() => selectInterface(card, options as never)))!;
      assert.deepEqual([failure.rule, failure.kind], [rule, 'invalid_argument'], JSON.stringify(options));
    }
  });

  test('What is no card is refused', () => {
    for (const card of [undefined, null, 1, 'card', [], { supportedInterfaces: 1 }, { supportedInterfaces: [{ url: {} }] }]) {
      assert.equal(failureOf(thrownBy(() => selectInterface(card as never, { baseUrl: 'https://h/' })))?.rule, 'request.params');
    }
  });
});

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}
