import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { exportJWK, generateKeyPair, FlattenedSign, type CryptoKey, type JWK } from 'jose';
import { Agent } from 'undici';
import { AgentCardCache, type CachedCardOptions, type CardStore, type FetchedCard, type StoredCard } from '../../lib/discovery/index.js';
import { canonicalJson } from '../../lib/discovery/canonical.js';
import { failureFrom, pass, until } from '../hostile/calls.js';
import { keepDispatcher } from '../hostile/keep.js';
import { JSON_FIELD, response, type Answer } from '../hostile/raw_server.js';
import { card, cardText, lineOf, pathOf, serve, type CardServer } from './agent.js';

const MINUTE = 'cache-control: max-age=60';

interface Cached extends CardServer {
  /** What came of a call, as a line. */
  get(options?: CachedCardOptions): Promise<string>;
  fetch(options?: CachedCardOptions): Promise<FetchedCard>;
  /** How many requests there were. */
  asked(): number;
}

async function cached(t: TestContext, store: CardStore | undefined, ...answers: (Buffer | Answer)[]): Promise<Cached> {
  const served = await serve(t, ...answers);
  const cache = new AgentCardCache({ store });
  const fetch = (options?: CachedCardOptions): Promise<FetchedCard> => cache.get(served.dispatcher, served.origin, options);
  return { ...served, fetch, get: (options) => lineOf(fetch(options)), asked: () => served.server.requests.length };
}

/** The time that a cache goes by, to be moved on; real timers go on. */
function clock(t: TestContext): (seconds: number) => void {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 10, 30, 12) });
  return (seconds) => {
    t.mock.timers.setTime(Date.now() + seconds * 1000);
  };
}

const notModified = (...fields: string[]): Buffer => response(304, ['content-length: 0', ...fields]);
const header = ({ server }: CardServer, at: number, name: string): string | undefined => server.requests[at]!.headers.get(name);

interface Signer {
  readonly jwk: JWK;
  sign(description: string): Promise<Buffer>;
}
async function signer(kid: string, fields: readonly string[] = [MINUTE]): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { jwk: { ...(await exportJWK(publicKey)), kid }, sign: async (description) => response(200, [JSON_FIELD, ...fields], await signed(description, kid, privateKey)) };
}
async function signed(description: string, kid: string, key: CryptoKey): Promise<string> {
  const value = JSON.parse(cardText(description)) as Record<string, unknown>;
  const whole = { ...value, version: '', capabilities: {}, defaultInputModes: [], defaultOutputModes: [], skills: [] };
  const { protected: protectedHeader, signature } = await new FlattenedSign(Buffer.from(canonicalJson(whole))).setProtectedHeader({ alg: 'ES256', kid, typ: 'JOSE' }).sign(key);
  return JSON.stringify({ ...whole, signatures: [{ protected: protectedHeader, signature }] });
}

describe('A card that is kept', () => {
  test('is served until it is no longer fresh, and then asked for anew', async (t) => {
    const passTime = clock(t);
    const agent = await cached(t, undefined, card([MINUTE], 'first'), card([MINUTE], 'second'));
    assert.equal(await agent.get(), 'first');
    passTime(59);
    assert.equal(await agent.get(), 'first');
    assert.equal(agent.asked(), 1);
    passTime(1);
    assert.equal(await agent.get(), 'second');
    assert.equal(agent.asked(), 2);
  });

  test('is asked for each time where its agent says nothing of caching', async (t) => {
    const agent = await cached(t, undefined, card([], 'first'), card([], 'second'));
    assert.deepEqual([await agent.get(), await agent.get()], ['first', 'second']);
  });

  test('says until when its agent calls it fresh, also where it is kept', async (t) => {
    clock(t);
    const agent = await cached(t, undefined, card([MINUTE]));
    const expected = Date.now() + 60_000;
    assert.deepEqual([(await agent.fetch()).freshUntil, (await agent.fetch()).freshUntil], [expected, expected]);
    assert.equal(agent.asked(), 1);
    const silent = await cached(t, undefined, card(['etag: "v1"']), notModified());
    assert.deepEqual([(await silent.fetch()).freshUntil, (await silent.fetch()).freshUntil], [undefined, undefined]);
  });

  test('is confirmed by its tag and its date, and is fresh again then', async (t) => {
    const passTime = clock(t);
    const modified = 'Mon, 30 Nov 2026 10:00:00 GMT';
    const agent = await cached(t, undefined, card([MINUTE, 'etag: W/"1"', `last-modified: ${modified}`], 'first'), notModified('etag: "1"'), card([MINUTE], 'second'));
    assert.equal(await agent.get(), 'first');
    assert.equal(header(agent, 0, 'if-none-match'), undefined);
    passTime(60);
    const confirmed = await agent.fetch();
    assert.equal(confirmed.card.description, 'first');
    assert.equal(Buffer.from(confirmed.raw).toString(), cardText('first'));
    assert.deepEqual([header(agent, 1, 'if-none-match'), header(agent, 1, 'if-modified-since')], ['W/"1"', modified]);
    passTime(59);
    assert.equal(await agent.get(), 'first');
    assert.equal(agent.asked(), 2);
    passTime(1);
    assert.equal(await agent.get(), 'second');
    assert.equal(header(agent, 2, 'if-none-match'), '"1"');
  });

  test('is as fresh as its confirmation says', async (t) => {
    const passTime = clock(t);
    const agent = await cached(t, undefined, card([MINUTE, 'etag: "1"'], 'first'), notModified('cache-control: max-age=10', 'age: 4'), card([], 'second'));
    await agent.get();
    passTime(60);
    await agent.get();
    passTime(5);
    assert.equal(await agent.get(), 'first');
    assert.equal(agent.asked(), 2);
    passTime(1);
    assert.equal(await agent.get(), 'second');
  });

  test('is dropped where its confirmation says no-store', async (t) => {
    const agent = await cached(t, undefined, card(['etag: "1"'], 'first'), notModified('cache-control: no-store'), card([], 'second'));
    assert.deepEqual([await agent.get(), await agent.get(), await agent.get()], ['first', 'first', 'second']);
    assert.equal(header(agent, 2, 'if-none-match'), undefined);
  });

  test('is confirmed each time with no-cache', async (t) => {
    const agent = await cached(t, undefined, card(['cache-control: no-cache', 'etag: "1"'], 'first'), notModified());
    assert.deepEqual([await agent.get(), await agent.get(), await agent.get()], ['first', 'first', 'first']);
    assert.equal(agent.asked(), 3);
  });

  test('is not confirmed by an answer about another', async (t) => {
    const agent = await cached(t, undefined, card(['etag: "1"'], 'first'), notModified('etag: "2"'), card([], 'second'));
    assert.equal(await agent.get(), 'first');
    assert.equal(await agent.get(), 'http.malformed answered');
    assert.equal(await agent.get(), 'second');
    assert.equal(header(agent, 2, 'if-none-match'), undefined);
  });

  test('is never served because the agent cannot be reached, nor for an error of its own', async (t) => {
    const passTime = clock(t);
    const agent = await cached(
      t,
      undefined,
      card([`${MINUTE}, stale-if-error=600, stale-while-revalidate=600`, 'etag: "1"'], 'first'),
      (socket) => socket.resetAndDestroy(),
      response(503, []),
      response(404, []),
      notModified(),
    );
    await agent.get();
    passTime(60);
    assert.equal(await agent.get(), 'http.connection_lost unknown');
    assert.equal(await agent.get(), 'http.status answered 503');
    assert.equal(await agent.get(), 'http.status answered 404');
    // It was right all along, says the agent.
    assert.equal(await agent.get(), 'first');
  });

  test('is not used where the clock was put back', async (t) => {
    const passTime = clock(t);
    const agent = await cached(t, undefined, card([MINUTE], 'first'), card([MINUTE], 'second'));
    await agent.get();
    passTime(-10);
    assert.equal(await agent.get(), 'second');
  });

  test('is not kept with no-store, nor where it varies by everything, and takes the place of what was', async (t) => {
    for (const field of ['cache-control: max-age=60, no-store', 'vary: *']) {
      const agent = await cached(t, undefined, card([MINUTE, 'etag: "1"'], 'first'), card([field, 'etag: "2"'], 'second'), card([], 'third'));
      assert.deepEqual([await agent.get(), await agent.get({ force: true }), await agent.get()], ['first', 'second', 'third']);
      assert.equal(header(agent, 2, 'if-none-match'), undefined);
    }
  });

  test('at the older path is confirmed there', async (t) => {
    const missing = response(404, []);
    const agent = await cached(t, undefined, missing, card(['etag: "old"'], 'old'), missing, notModified());
    const options = { allowLegacyCardPath: true } as const;
    assert.deepEqual([await agent.get(options), await agent.get(options)], ['old', 'old']);
    assert.deepEqual(agent.server.requests.map((request) => [pathOf(request).split('/').at(-1), request.headers.get('if-none-match')]), [
      ['agent-card.json', undefined],
      ['agent.json', undefined],
      ['agent-card.json', undefined],
      ['agent.json', '"old"'],
    ]);
  });

  test('at the older path is not served to a caller that does not allow that', async (t) => {
    const missing = response(404, []);
    const agent = await cached(t, undefined, missing, card([MINUTE], 'old'), missing);
    assert.equal(await agent.get({ allowLegacyCardPath: true }), 'old');
    assert.equal(await agent.get({ allowLegacyCardPath: true }), 'old');
    assert.equal(await agent.get(), 'http.status answered 404');
  });

  test('does not go beyond the bound of a caller that has a smaller one', async (t) => {
    const agent = await cached(t, undefined, card([MINUTE], 'x'.repeat(1000)));
    await agent.get();
    assert.equal(await agent.get({ maxCardBytes: 500 }), 'limit.response_bytes not_sent');
    assert.equal(agent.asked(), 1);
    assert.equal(await agent.get(), 'x'.repeat(1000));
  });

  test('is not a thing that one caller could change for another', async (t) => {
    const agent = await cached(t, undefined, card([MINUTE], 'first'));
    const first = await agent.fetch();
    first.raw.fill(0);
    assert.throws(() => first.card.supportedInterfaces.push(first.card.supportedInterfaces[0]!), TypeError);
    (first as { url: string }).url = 'https://evil.example/';
    const second = await agent.fetch();
    assert.deepEqual([Buffer.from(second.raw).toString(), second.url], [cardText('first'), `${agent.origin}/.well-known/agent-card.json`]);
    assert.equal(agent.asked(), 1);
  });
});

describe('A forced call', () => {
  test('asks however fresh the card is, by its validators, and past the caches on the way', async (t) => {
    const agent = await cached(t, undefined, card([MINUTE, 'etag: "1"'], 'first'), notModified(), card([MINUTE], 'second'));
    assert.deepEqual([await agent.get(), await agent.get({ force: true }), await agent.get({ force: true }), await agent.get()], ['first', 'first', 'second', 'second']);
    assert.equal(agent.asked(), 3);
    assert.deepEqual([header(agent, 0, 'cache-control'), header(agent, 1, 'cache-control'), header(agent, 1, 'if-none-match')], [undefined, 'no-cache', '"1"']);
  });

  test('that fails leaves a good card as it is, where the agent could not be asked', async (t) => {
    const agent = await cached(t, undefined, card([MINUTE], 'first'), (socket) => socket.resetAndDestroy());
    await agent.get();
    assert.equal(await agent.get({ force: true }), 'http.connection_lost unknown');
    assert.equal(await agent.get(), 'first');
  });

  test('whose answer is cut short, or is no HTTP, leaves a good card as it is', async (t) => {
    const cut: Answer = (socket) => socket.end(`HTTP/1.1 200 OK\r\n${JSON_FIELD}\r\ncontent-length: 500\r\n\r\n{`);
    for (const [answer, line] of [
      [cut, 'http.truncated answered'],
      [((socket) => socket.end('220 agent.example ESMTP\r\n')) satisfies Answer, 'http.malformed unknown'],
    ] as const) {
      const agent = await cached(t, undefined, card([MINUTE], 'first'), answer);
      assert.deepEqual([await agent.get(), await agent.get({ force: true }), await agent.get()], ['first', line, 'first']);
    }
  });

  test('that finds a bad card drops the good one: the agent has it no more', async (t) => {
    for (const [bad, line] of [
      [response(200, [JSON_FIELD, MINUTE], '{"name":1}'), 'a2a.schema answered'],
      [response(200, ['content-type: text/html', MINUTE], ''), 'http.content_type answered'],
      [response(200, [JSON_FIELD, MINUTE], cardText('x'.repeat(1 << 19))), 'limit.response_bytes answered'],
    ] as const) {
      const agent = await cached(t, undefined, card([MINUTE, 'etag: "1"'], 'first'), bad, bad, card([MINUTE], 'second'));
      assert.deepEqual([await agent.get(), await agent.get({ force: true }), await agent.get(), await agent.get()], ['first', line, line, 'second']);
      assert.equal(header(agent, 2, 'if-none-match'), undefined);
    }
  });

  test('has its own card kept, whatever comes later of a call that began earlier', async (t) => {
    let answerFirst: (() => void) | undefined;
    const agent = await cached(
      t,
      undefined,
      (socket) => {
        answerFirst = () => socket.write(card([MINUTE], 'older'));
      },
      card([MINUTE], 'newer'),
    );
    const plain = agent.get();
    await until(() => answerFirst !== undefined, 'the first request');
    assert.equal(await agent.get({ force: true }), 'newer');
    answerFirst!();
    assert.equal(await plain, 'older');
    assert.equal(await agent.get(), 'newer');
    assert.equal(agent.asked(), 2);
  });
});

/** An answer that waits until it is let go. */
function held(answer: Buffer): { answer: Answer; release: () => void; readonly isAsked: boolean } {
  let release: (() => void) | undefined;
  return {
    answer: (socket) => {
      release = () => socket.write(answer);
    },
    release: () => release?.(),
    get isAsked() {
      return release !== undefined;
    },
  };
}

describe('A hundred callers at once', () => {
  const hundred = <T>(act: (at: number) => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 100 }, (_, at) => act(at)));

  test('make one request', async (t) => {
    const agent = await cached(t, undefined, card([], 'first'));
    assert.deepEqual(new Set(await hundred(() => agent.get())), new Set(['first']));
    assert.equal(agent.asked(), 1);
  });

  test('make one request when they force it', async (t) => {
    const agent = await cached(t, undefined, card([MINUTE], 'first'), card([MINUTE], 'second'));
    await agent.get();
    assert.deepEqual(new Set(await hundred(() => agent.get({ force: true }))), new Set(['second']));
    assert.equal(agent.asked(), 2);
  });

  test('some of whom force it, make one request more at most', async (t) => {
    const first = held(card([MINUTE], 'first'));
    const agent = await cached(t, undefined, first.answer, card([MINUTE], 'second'));
    const answers = hundred((at) => agent.get(at % 2 === 0 ? {} : { force: true }));
    await until(() => agent.asked() === 2, 'two requests');
    first.release();
    assert.deepEqual(new Set(await answers), new Set(['first', 'second']));
    assert.equal(agent.asked(), 2);
  });

  test('that come during a forced refresh are served at once what is fresh', async (t) => {
    const refresh = held(card([MINUTE], 'second'));
    const agent = await cached(t, undefined, card([MINUTE], 'first'), refresh.answer);
    await agent.get();
    const forced = agent.get({ force: true });
    await until(() => refresh.isAsked, 'the refresh');
    assert.deepEqual(new Set(await hundred(() => agent.get())), new Set(['first']));
    refresh.release();
    assert.equal(await forced, 'second');
    assert.equal(await agent.get(), 'second');
    assert.equal(agent.asked(), 2);
  });

  test('that come during a forced refresh wait for it where nothing is fresh', async (t) => {
    const passTime = clock(t);
    const refresh = held(card([MINUTE], 'second'));
    const agent = await cached(t, undefined, card([MINUTE], 'first'), refresh.answer);
    await agent.get();
    passTime(60);
    const forced = agent.get({ force: true });
    await until(() => refresh.isAsked, 'the refresh');
    const others = hundred(() => agent.get());
    refresh.release();
    assert.equal(await forced, 'second');
    assert.deepEqual(new Set(await others), new Set(['second']));
    assert.equal(agent.asked(), 2);
  });

  test('that fail together fail each with a failure of its own', async (t) => {
    const agent = await cached(t, undefined, response(503, ['retry-after: 3']));
    const failures = await hundred(() => failureFrom(agent.fetch()));
    assert.equal(new Set(failures).size, 100);
    assert.deepEqual(new Set(failures.map(({ rule, status, retryAfterMs }) => `${rule} ${status} ${retryAfterMs}`)), new Set(['http.status 503 3000']));
    assert.equal(agent.asked(), 1);
  });

  test('half of whom leave, take nothing from the others', async (t) => {
    const only = held(card([], 'first'));
    const agent = await cached(t, undefined, only.answer);
    const controller = new AbortController();
    const answers = hundred((at) => agent.get(at % 2 === 0 ? { signal: controller.signal } : {}));
    await until(() => only.isAsked, 'the request');
    controller.abort();
    await pass(20);
    only.release();
    const lines = await answers;
    assert.deepEqual(new Set(lines.filter((_, at) => at % 2 === 0)), new Set(['canceled.signal unknown']));
    assert.deepEqual(new Set(lines.filter((_, at) => at % 2 === 1)), new Set(['first']));
    assert.equal(agent.asked(), 1);
  });

  test('all of whom leave, end the request, and the next call makes a new one', async (t) => {
    const agent = await cached(t, undefined, () => undefined, card([], 'second'));
    const controller = new AbortController();
    const answers = hundred((at) => agent.get(at % 2 === 0 ? { signal: controller.signal } : { timeoutMs: 100 }));
    await until(() => agent.asked() === 1, 'the request');
    controller.abort();
    assert.deepEqual(new Set(await answers), new Set(['canceled.signal unknown', 'deadline.total unknown']));
    await until(() => agent.server.sockets.size === 0, 'the connection is closed');
    assert.equal(await agent.get(), 'second');
    assert.equal(agent.asked(), 2);
  });

  test('share it no longer than until the first of them is done', async (t) => {
    const agent = await cached(t, undefined, await (await signer('k', [])).sign('first'), card([], 'second'));
    const slow = new AbortController();
    const keys = (): Promise<undefined> => new Promise(() => undefined);
    const waiting = agent.get({ signal: slow.signal, verify: { keys, algorithms: ['ES256'] } });
    assert.equal(await agent.get(), 'first');
    assert.equal(await agent.get(), 'second');
    slow.abort();
    assert.equal(await waiting, 'canceled.signal answered');
  });

  test('have their card stored once', async (t) => {
    let stored = 0;
    const store: CardStore = { get: () => undefined, delete: () => undefined, set: () => {
        stored++;
        return undefined;
      } };
    const agent = await cached(t, store, card([MINUTE]));
    await hundred(() => agent.get());
    assert.equal(stored, 1);
  });

  test('of whom one has left, do nothing more for that one', async (t) => {
    const only = held(await (await signer('k')).sign('signed'));
    const agent = await cached(t, undefined, only.answer);
    const controller = new AbortController();
    let asked = 0;
    const keys = (): undefined => {
      asked++;
    };
    const leaving = agent.get({ signal: controller.signal, verify: { keys, algorithms: ['ES256'] } });
    const staying = agent.get();
    await until(() => only.isAsked, 'the request');
    controller.abort();
    assert.equal(await leaving, 'canceled.signal unknown');
    only.release();
    assert.equal(await staying, 'signed');
    await pass(10);
    assert.equal(asked, 0);
  });

  test('do not share a request whose clocks differ', async (t) => {
    const agent = await cached(t, undefined, () => undefined, card([], 'second'));
    const impatient = agent.get({ idleTimeoutMs: 50 });
    await until(() => agent.asked() === 1, 'the first request');
    assert.equal(await agent.get(), 'second');
    assert.equal(await impatient, 'deadline.idle unknown');
  });
});

describe('Callers with other credentials', () => {
  const byKey: Answer = (socket, { headers }) => socket.write(card([MINUTE], headers.get('authorization') ?? headers.get('x-key') ?? 'nobody'));

  test('are served their own cards, kept or not, and share no request', async (t) => {
    const agent = await cached(t, undefined, byKey);
    const people: CachedCardOptions[] = [{}, { headers: { authorization: 'Bearer a' } }, { headers: { authorization: 'Bearer b' } }, { headers: { 'x-key': 'a' } }];
    const expected = ['nobody', 'Bearer a', 'Bearer b', 'a'];
    assert.deepEqual(await Promise.all(people.map((options) => agent.get(options))), expected);
    assert.deepEqual(await Promise.all(people.map((options) => agent.get(options))), expected);
    assert.equal(agent.asked(), 4);
  });

  test('are told apart by name and value, whatever their case and order, and no two by chance', async (t) => {
    const agent = await cached(t, undefined, card([MINUTE], 'any'));
    await agent.get({ headers: { a: '1', b: '2' } });
    await agent.get({ headers: { B: '2', A: '1' } });
    assert.equal(agent.asked(), 1);
    await agent.get({ headers: { a: '1b', b: '2' } });
    await agent.get({ headers: { a: '1","b":"2' } });
    assert.equal(agent.asked(), 3);
  });

  test('may be those of another dispatcher, by its client certificate', async (t) => {
    const { dispatcher, origin, server } = await serve(t, card([MINUTE], 'any'));
    const cache = new AgentCardCache();
    const other = keepDispatcher(t, new Agent());
    for (const one of [dispatcher, other, dispatcher, other]) await cache.get(one, origin);
    assert.equal(server.requests.length, 2);
  });

  test('are not in the keys of the store', async (t) => {
    const { store, keys } = recorder();
    const agent = await cached(t, store, byKey);
    await agent.get({ headers: { authorization: 'Bearer fake-secret' } });
    assert.equal(keys.size, 1);
    const [key] = keys;
    assert.match(key!, /^card-1:[A-Za-z0-9_-]{43}$/);
  });
});

function recorder(): { store: CardStore; keys: Set<string>; cards: Map<string, string> } {
  const keys = new Set<string>();
  const cards = new Map<string, string>();
  return {
    keys,
    cards,
    store: {
      get(key) {
        keys.add(key);
        const text = cards.get(key);
        return Promise.resolve(text === undefined ? null : (JSON.parse(text) as StoredCard));
      },
      set(key, stored) {
        cards.set(key, JSON.stringify(stored));
        return Promise.resolve('OK');
      },
      delete: (key) => Promise.resolve(cards.delete(key) ? 1 : 0),
    },
  };
}

describe('A store of the caller', () => {
  test('keeps JSON text, and serves other caches of the same agent', async (t) => {
    const { store } = recorder();
    const agent = await cached(t, store, card([MINUTE, 'etag: "1"'], 'Käse 🧀'), card([], 'second'));
    assert.equal(await agent.get(), 'Käse 🧀');
    const elsewhere = new AgentCardCache({ store });
    const fetched = await elsewhere.get(keepDispatcher(t, new Agent()), agent.origin);
    assert.deepEqual([fetched.card.description, fetched.etag, Buffer.from(fetched.raw).toString()], ['Käse 🧀', '"1"', cardText('Käse 🧀')]);
    assert.equal(agent.asked(), 1);
  });

  test('is not given what is of no use later', async (t) => {
    const { store, cards } = recorder();
    const agent = await cached(t, store, card([], 'nothing said'), card(['cache-control: no-cache'], 'no validator'), card(['etag: "1"'], 'a tag'));
    for (const size of [0, 0, 1]) {
      await agent.get();
      assert.equal(cards.size, size);
    }
  });

  test('may be an instance with methods of its own, and may be synchronous', async (t) => {
    class Shelf implements CardStore {
      readonly #cards = new Map<string, StoredCard>();
      get(key: string): StoredCard | undefined {
        return this.#cards.get(key);
      }
      set(key: string, stored: StoredCard): undefined {
        this.#cards.set(key, stored);
      }
      delete(key: string): undefined {
        this.#cards.delete(key);
      }
    }
    const agent = await cached(t, new Shelf(), card([MINUTE], 'first'));
    assert.deepEqual([await agent.get(), await agent.get()], ['first', 'first']);
    assert.equal(agent.asked(), 1);
  });

  test('that throws ends the call', async (t) => {
    const thrown = new Error('down');
    const working: CardStore = { get: () => undefined, set: () => undefined, delete: () => undefined };
    const broken: [Partial<CardStore>, string][] = [
      [{ get: () => { throw thrown; } }, 'not_sent'],
      [{ get: () => Promise.reject(thrown) }, 'not_sent'],
      [{ set: () => Promise.reject(thrown) }, 'answered'],
    ];
    for (const [methods, delivery] of broken) {
      const agent = await cached(t, { ...working, ...methods }, card([MINUTE]));
      const failure = await failureFrom(agent.fetch());
      assert.deepEqual([failure.rule, failure.kind, failure.delivery, failure.unwrap()], ['card.store', 'invalid_argument', delivery, thrown]);
    }
  });

  test('that gives what it was not given ends the call, and is told to forget it', async (t) => {
    const good: StoredCard = { json: cardText('kept'), url: 'https://h/', storedAt: 0, freshUntil: Date.now() + 60_000, lifetimeMs: 60_000 };
    const wrong: unknown[] = [1, 'card', [], {}, { ...good, json: 1 }, { ...good, json: '{"name":1}' }, { ...good, json: `\ufeff${good.json}` }, { ...good, json: '' }, { ...good, freshUntil: '9' }, { ...good, storedAt: NaN }, { ...good, etag: 1 }];
    for (const found of wrong) {
      const deleted: string[] = [];
      const agent = await cached(t, { get: () => found as StoredCard, set: () => undefined, delete: (key) => void deleted.push(key) }, card());
      assert.equal(await agent.get(), 'card.store not_sent', JSON.stringify(found));
      assert.equal(deleted.length, 1);
      assert.equal(agent.asked(), 0);
    }
    const agent = await cached(t, { get: () => good, set: () => undefined, delete: () => undefined }, card());
    assert.equal(await agent.get(), 'kept');
  });

  test('that never answers is under the clock of the call, and nothing is sent after it', async (t) => {
    let answer: (() => void) | undefined;
    const get = (): Promise<undefined> => new Promise((resolve) => { answer = () => { resolve(undefined); }; });
    const agent = await cached(t, { get, set: () => undefined, delete: () => undefined }, card());
    assert.equal(await agent.get({ timeoutMs: 50 }), 'deadline.total not_sent');
    answer!();
    await pass(20);
    assert.equal(agent.server.connections, 0);
  });

  test('is refused where it is none', () => {
    const rules = [null, 1, {}, { get: () => undefined }, new Map()].map((store) => ruleOf(() => new AgentCardCache({ store: store as never })));
    assert.deepEqual(rules, ['card.store', 'card.store', 'card.store', 'card.store', 'ok']);
    assert.equal(ruleOf(() => new AgentCardCache({ maxEntries: 0 })), 'options.limit');
    assert.equal(ruleOf(() => new AgentCardCache({ maxBytes: 1.5 })), 'options.limit');
    assert.equal(ruleOf(() => new AgentCardCache({ store: recorder().store, maxBytes: 100 })), 'options.limit');
    assert.equal(ruleOf(() => new AgentCardCache({ entries: 1 } as never)), 'options.unknown');
  });
});

function ruleOf(act: () => unknown): string {
  try {
    act();
    return 'ok';
  } catch (error) {
    return (error as { rule: string }).rule;
  }
}

describe('The bounds of a cache', () => {
  test('hold for the number of cards', async (t) => {
    const { server, dispatcher, origin } = await serve(t, card([MINUTE]));
    const cache = new AgentCardCache({ maxEntries: 2 });
    for (const path of ['/a', '/b', '/c', '/c', '/b', '/a']) await cache.get(dispatcher, origin + path);
    assert.deepEqual(server.requests.map((request) => pathOf(request).slice(0, 2)), ['/a', '/b', '/c', '/a']);
  });

  test('hold for their bytes', async (t) => {
    const { server, dispatcher, origin } = await serve(t, card([MINUTE], 'x'.repeat(1000)));
    const cache = new AgentCardCache({ maxBytes: 1000 });
    assert.equal((await cache.get(dispatcher, origin)).raw.length, Buffer.byteLength(cardText('x'.repeat(1000))));
    await cache.get(dispatcher, origin);
    assert.equal(server.requests.length, 2);
  });
});

describe('A cache and signatures', () => {
  const verify = (...keys: JWK[]): CachedCardOptions => ({ verify: { keys, algorithms: ['ES256'], requireSignature: true } });

  test('verify a card that was kept by a caller that did not', async (t) => {
    const agent = await cached(t, undefined, card([MINUTE], 'unsigned'));
    const { jwk } = await signer('k');
    assert.equal(await agent.get(), 'unsigned');
    // What was kept is refused, and what the agent has now as well.
    assert.equal(await agent.get(verify(jwk)), 'card.unsigned answered');
    assert.equal(agent.asked(), 2);
  });

  test('keep no card that failed the check, so that nobody is served it later', async (t) => {
    const [known, foreign] = [await signer('k'), await signer('k')];
    const agent = await cached(t, undefined, await foreign.sign('forged'), card([MINUTE], 'second'), card([MINUTE], 'third'));
    assert.equal(await agent.get(verify(known.jwk)), 'card.signature answered');
    assert.equal(await agent.get(verify(known.jwk)), 'card.unsigned answered');
    assert.equal(await agent.get(), 'third');
  });

  test('forget a card that somebody kept, when it fails the check of somebody else', async (t) => {
    const [known, foreign] = [await signer('k'), await signer('k')];
    const agent = await cached(t, undefined, await foreign.sign('forged'), await foreign.sign('forged again'), card([MINUTE], 'later'));
    assert.equal(await agent.get(), 'forged');
    assert.equal(await agent.get(verify(known.jwk)), 'card.signature answered');
    assert.equal(await agent.get(), 'later');
  });

  test('serve a verified card from memory, and say by whom it is signed', async (t) => {
    const known = await signer('k');
    const agent = await cached(t, undefined, await known.sign('signed'));
    for (let call = 0; call < 3; call++) {
      const { card: fetched, signedBy } = await agent.fetch(verify(known.jwk));
      assert.deepEqual([fetched.description, signedBy], ['signed', 'k']);
    }
    assert.equal((await agent.fetch()).signedBy, undefined);
    assert.equal(agent.asked(), 1);
  });

  test('ask the agent anew where a kept card does not hold under keys that have changed', async (t) => {
    const [before, after] = [await signer('2025'), await signer('2026')];
    const agent = await cached(t, undefined, await before.sign('old'), await after.sign('new'));
    assert.equal(await agent.get(verify(before.jwk)), 'old');
    assert.equal(await agent.get(verify(after.jwk)), 'new');
    assert.equal(await agent.get(verify(after.jwk)), 'new');
    assert.equal(agent.asked(), 2);
  });

  test('share one request among callers with other keys, each of whom gets a verdict of its own', async (t) => {
    const [known, foreign] = [await signer('k'), await signer('k')];
    const agent = await cached(t, undefined, await known.sign('signed'), card([], 'later'));
    const lines = await Promise.all([agent.get(verify(known.jwk)), agent.get(verify(foreign.jwk)), agent.get()]);
    assert.deepEqual(lines, ['signed', 'card.signature answered', 'signed']);
    assert.equal(agent.asked(), 1);
    // Somebody's check failed: it is not kept.
    assert.equal(await agent.get(), 'later');
  });

  test('do not hold a request open for a caller whose keys never come', async (t) => {
    const known = await signer('k');
    const agent = await cached(t, undefined, await known.sign('first'), card([], 'second'));
    const keys = (): Promise<undefined> => new Promise(() => undefined);
    assert.equal(await agent.get({ timeoutMs: 100, verify: { keys, algorithms: ['ES256'] } }), 'deadline.total answered');
    assert.equal(await agent.get(), 'second');
  });

  test('forget a card that fails the check of one while it is still being stored for another', async (t) => {
    const [known, foreign] = [await signer('k'), await signer('k')];
    const { store, cards } = recorder();
    const slow: CardStore = {
      ...store,
      async set(key, stored) {
        await pass(50);
        await store.set(key, stored);
      },
    };
    const agent = await cached(t, slow, await known.sign('signed'));
    // Its keys come while the card is being stored.
    const keys = async (): Promise<JWK> => {
      await pass(20);
      return foreign.jwk;
    };
    const lines = await Promise.all([agent.get(), agent.get({ verify: { keys, algorithms: ['ES256'] } })]);
    assert.deepEqual(lines, ['signed', 'card.signature answered']);
    assert.equal(cards.size, 0);
  });

  test('do not blame a card for a key function that throws', async (t) => {
    const known = await signer('k');
    const agent = await cached(t, undefined, await known.sign('signed'));
    assert.equal(await agent.get(), 'signed');
    const keys = (): never => { throw new Error('down'); };
    assert.equal(await agent.get({ verify: { keys, algorithms: ['ES256'] } }), 'card.keys not_sent');
    assert.equal(await agent.get(), 'signed');
    assert.equal(agent.asked(), 1);
  });
});
