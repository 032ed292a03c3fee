import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refusal } from '../../lib/failure.js';
import { endpointOfAddress } from '../../lib/text/address.js';

const ENDPOINTS: readonly (readonly [address: string, endpoint: string])[] = [
  ['a2a://127.0.0.1:9000', 'http://127.0.0.1:9000/invoke'],
  ['a2as://agent.example:8443', 'https://agent.example:8443/invoke'],
  ['a2a://agent.example', 'http://agent.example/invoke'],
  ['a2as://agent.example', 'https://agent.example/invoke'],
  ['a2a://agent.example:9000/', 'http://agent.example:9000/invoke'],
  ['a2a://[::1]:9000', 'http://[::1]:9000/invoke'],
  ['a2a://Agent.Example:9000', 'http://Agent.Example:9000/invoke'],
  // The query is kept as it is, whatever it says, and says nothing to us.
  ['a2a://agent.example:9000?timeoutMs=1&x=%2F/?', 'http://agent.example:9000/invoke?timeoutMs=1&x=%2F/?'],
  ['a2a://agent.example:9000/?x', 'http://agent.example:9000/invoke?x'],
  ['http://agent.example/a2a/jsonrpc?x', 'http://agent.example/a2a/jsonrpc?x'],
  ['https://agent.example/', 'https://agent.example/'],
];

const REFUSED: readonly unknown[] = [
  'a2a://agent.example:9000/other',
  'a2a://agent.example:9000/invoke',
  'a2a://agent.example:9000//',
  'a2a://user@agent.example:9000',
  'a2a://user:secret@agent.example:9000',
  'a2a://agent.example:9000#top',
  'a2a://agent.example:9000?x#top',
  'a2a://agent.example:99999',
  'a2a://agent.example:',
  'a2a://0x7f.1:9000',
  'a2a://agent example:9000',
  'a2a://agent.example:9000 ',
  ' a2a://agent.example:9000',
  'A2A://agent.example:9000',
  'a2a://',
  'a2a:',
  'a2a:agent.example:9000',
  'a2ass://agent.example',
  'agent.example:9000',
  'ftp://agent.example/',
  'https://user:secret@agent.example/',
  'https://agent.example/#top',
  'https://agent.example/a/../b',
  '',
  undefined,
  null,
  9000,
  {},
];

describe('The address of a text peer', () => {
  for (const [address, endpoint] of ENDPOINTS) {
    test(`${address} is ${endpoint}`, () => {
      assert.equal(endpointOfAddress(address), endpoint);
    });
  }

  test('A URL object is taken as it is written', () => {
    assert.equal(endpointOfAddress(new URL('a2as://agent.example:8443?x=1')), 'https://agent.example:8443/invoke?x=1');
    assert.equal(endpointOfAddress(new URL('https://agent.example/a2a')), 'https://agent.example/a2a');
  });

  for (const address of REFUSED) {
    test(`${JSON.stringify(address)} is refused as text.address`, () => {
      assert.throws(
        () => endpointOfAddress(address),
        (error) => error instanceof Refusal && error.rule === 'text.address' && error.reason instanceof TypeError,
      );
    });
  }

  test('A URL object that is no address is refused too', () => {
    for (const href of ['a2a://agent.example/path', 'a2a://u:p@agent.example', 'https://u:p@agent.example/', 'data:,x']) {
      assert.throws(() => endpointOfAddress(new URL(href)), { rule: 'text.address' });
    }
  });
});
