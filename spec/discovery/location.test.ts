import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { baseEndpoint, cardLocation, urlOf } from '../../lib/discovery/location.js';
import { Refusal } from '../../lib/failure.js';

function located(base: unknown, cardPath?: string, legacy?: true): string {
  try {
    const location = cardLocation(base, cardPath, legacy);
    return [location.card, location.legacy].filter((endpoint) => endpoint !== undefined).map(urlOf).join(' ');
  } catch (error) {
    assert.ok(error instanceof Refusal);
    return error.rule;
  }
}

describe('A card is', () => {
  const well = '/.well-known/agent-card.json';
  const old = '/.well-known/agent.json';
  const rows: [what: string, base: unknown, where: string, cardPath?: string | undefined, legacy?: true][] = [
    ['at the well-known path of an origin', 'https://h.example', `https://h.example${well}`],
    ['at the well-known path of an origin with a slash', 'https://h.example/', `https://h.example${well}`],
    ['at the well-known path of a URL object', new URL('https://h.example'), `https://h.example${well}`],
    ['below the path of a base URL', 'https://h.example/agents/a', `https://h.example/agents/a${well}`],
    ['below a path that ends in a slash', 'https://h.example/agents/a/', `https://h.example/agents/a${well}`],
    ['below a path that ends in two slashes, one of which is its own', 'https://h.example/a//', `https://h.example/a/${well}`],
    ['below a path that is escaped, as it is', 'https://h.example/a%2Fb', `https://h.example/a%2Fb${well}`],
    ['at a URL that ends in the well-known path', `https://h.example/agents/a${well}`, `https://h.example/agents/a${well}`],
    ['at the well-known URL with its query', `https://h.example${well}?v=2`, `https://h.example${well}?v=2`],
    ['at another port', 'http://127.0.0.1:4000', `http://127.0.0.1:4000${well}`],
    ['nowhere for a base URL with a query', 'https://h.example/a?key=1', 'options.endpoint'],
    ['nowhere for a base URL with an empty query', 'https://h.example/a?', 'options.endpoint'],
    ['nowhere for a base URL with user info', 'https://user@h.example/', 'options.endpoint'],
    ['nowhere for a base URL with a fragment', 'https://h.example/#a', 'options.endpoint'],
    ['nowhere for a base URL with a dot segment', 'https://h.example/a/../b', 'options.endpoint'],
    ['nowhere for a relative URL', '/agents/a', 'options.endpoint'],
    ['nowhere for another scheme', 'a2a://h.example', 'options.endpoint'],
    ['nowhere for what is no URL', 1, 'options.endpoint'],
    ['nowhere for nothing', undefined, 'options.endpoint'],
    ['at the path that the caller gives, on the origin of the base URL', 'https://h.example/agents/a', 'https://h.example/card.json', '/card.json'],
    ['at the path and the query that the caller gives', 'https://h.example/a?key=1', 'https://h.example/card?v=1', '/card?v=1'],
    ['on the same origin, whatever the path looks like', 'https://h.example/', 'https://h.example//evil.example/card', '//evil.example/card'],
    ['at the root, if the caller says so', 'https://h.example/a', 'https://h.example/', '/'],
    ['at no path of another origin', 'https://h.example/', 'options.endpoint', 'https://evil.example/card'],
    ['at no path that goes on the host', 'https://h.example', 'options.endpoint', '.evil.example/card'],
    ['at no path that makes the host user info', 'https://h.example', 'options.endpoint', '@evil.example/card'],
    ['at no path with a dot segment', 'https://h.example', 'options.endpoint', '/a/../card'],
    ['at no path with a fragment', 'https://h.example', 'options.endpoint', '/card#x'],
    ['at no path with a backslash', 'https://h.example', 'options.endpoint', '/\\evil.example/card'],
    ['at no path with a line break', 'https://h.example', 'options.endpoint', '/card\r\nx: y'],
    ['at the older path too, if the caller says so', 'https://h.example/a', `https://h.example/a${well} https://h.example/a${old}`, undefined, true],
    ['at the older path beside the well-known URL', `https://h.example/a${well}`, `https://h.example/a${well} https://h.example/a${old}`, undefined, true],
    ['at no older path beside a path of the caller', 'https://h.example', 'options.endpoint', '/card', true],
  ];
  for (const [what, base, where, cardPath, legacy] of rows) {
    test(what, () => {
      assert.equal(located(base, cardPath, legacy), where);
    });
  }
});

describe('Calls go, where no interface takes them,', () => {
  for (const [base, where] of [
    ['https://h.example', 'https://h.example/'],
    ['https://h.example/agents/a', 'https://h.example/agents/a'],
    ['https://h.example/agents/a/', 'https://h.example/agents/a/'],
    ['https://h.example/rpc?key=1', 'https://h.example/rpc?key=1'],
    ['https://h.example/.well-known/agent-card.json', 'https://h.example/'],
    ['https://h.example/agents/a/.well-known/agent-card.json?v=1', 'https://h.example/agents/a'],
  ] as const) {
    test(`to ${where} for the base URL ${base}`, () => {
      assert.equal(urlOf(baseEndpoint(base)), where);
    });
  }
});
