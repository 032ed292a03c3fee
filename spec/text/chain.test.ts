/** Three real agents in a chain, as a backend has it: ask one, translate by the next, stream from the third to a browser. */
import assert from 'node:assert/strict';
import { mock, test, before, after } from 'node:test';
import { Agent } from 'undici';
import { RemoteAgent } from '../../lib/agent/index.js';
import { TaskState } from '../../lib/index.js';
import { textPeer, type TextPeer } from '../../lib/text/index.js';
import { keep, keepDispatcher } from '../hostile/keep.js';
import { failureFrom } from '../support/caller_server.js';
import { startTextAgent } from './agents.js';
import { listenTo, startProxy } from './proxy.js';
import { readAll } from './read.js';

before(() => {
  // The SDK reports what it does to the console.
  for (const name of ['log', 'warn', 'error'] as const) mock.method(console, name, () => undefined);
});
after(() => {
  mock.restoreAll();
});

const CAPITALS = new Map([['France', 'Paris'], ['Greece', 'Athens']]);
const FRENCH = new Map([['Paris', 'Paris'], ['Athens', 'Athènes']]);

test('Ask one agent, translate by the next, stream from the third through an HTTP route to an EventSource', async (t) => {
  const atlas = await startTextAgent(t, (country) => ({ brings: [CAPITALS.get(country) ?? ''] }));
  const translator = await startTextAgent(t, (word) => ({ says: FRENCH.get(word) ?? word }));
  const poet = await startTextAgent(t, (city) =>
    city === 'Athènes' ? { brings: [`Ô ${city},\n`, '\n', 'ville\nde lumière', '.'] } : { rejects: `no verse on ${city}, says the poet` },
  );
  const [capital, french, poem]: TextPeer[] = [atlas, translator, poet].map(({ address }) => keep(t, textPeer(address)));
  assert.ok(capital && french && poem);

  const translated = new Map<string, string>();
  for (const country of CAPITALS.keys()) {
    const { text: city } = await capital.send(country);
    translated.set(country, (await french.send(city)).text);
  }
  const { url, outcomes } = await startProxy(t, ({ url }) => {
    const country = new URL(url ?? '', 'http://proxy').searchParams.get('country') ?? '';
    return poem.stream(translated.get(country) ?? '');
  });

  const verses = listenTo(t, `${url}?country=Greece`);
  assert.deepEqual(await verses.last, ['end', '{"state":"TASK_STATE_COMPLETED"}']);
  assert.deepEqual(verses.messages, ['Ô Athènes,\n', '\n', 'ville\nde lumière', '.']);

  const none = listenTo(t, `${url}?country=France`);
  assert.deepEqual(await none.last, ['error', '{"kind":"remote_agent","rule":"text.failed"}']);
  assert.deepEqual(none.messages, []);
  const failed = (await outcomes[1])?.unwrap();
  assert.ok(typeof failed === 'object' && failed !== null && 'text' in failed);
  assert.equal(failed.text, 'no verse on Paris, says the poet');

  assert.deepEqual([atlas.heard, translator.heard, poet.heard], [['France', 'Greece'], ['Paris', 'Athens'], ['Athènes', 'Paris']]);
});

test('What is sent and what is streamed add up to the same text', async (t) => {
  const agent = await startTextAgent(t, (text) => ({ brings: text.split(/(?<=\n)|\b/) }));
  const peer = keep(t, textPeer(agent.address));
  const { text, state } = await peer.send('one two\r\n\nthree.');
  const stream = peer.stream('one two\r\n\nthree.');
  const { chunks, failure } = await readAll(stream);
  assert.deepEqual([text, state, failure], ['one two\r\n\nthree.', TaskState.TASK_STATE_COMPLETED, undefined]);
  assert.ok(chunks.length > 4);
  assert.equal(chunks.join(''), text);
  assert.equal(stream.state, state);
});

test('A RemoteAgent is a text peer too, by its own policy; close() leaves it as it is', async (t) => {
  const agent = await startTextAgent(t, (text) => (text === 'no' ? { rejects: 'I will not' } : { brings: [text, '!'] }));
  const remote = new RemoteAgent(agent.baseUrl, { dispatcher: keepDispatcher(t, new Agent()) });
  const peer = textPeer(remote);
  assert.equal((await peer.send('hi')).text, 'hi!');
  assert.deepEqual(await readAll(peer.stream('hi')), { chunks: ['hi', '!'], failure: undefined });
  assert.equal((await failureFrom(() => peer.send('no'))).rule, 'text.failed');
  assert.equal((await readAll(peer.stream('no'))).failure?.rule, 'text.failed');
  for await (const chunk of peer.stream('hi')) {
    assert.equal(chunk, 'hi');
    break;
  }
  const pending = failureFrom(() => peer.send('hi'));
  await peer.close();
  assert.equal((await pending).rule, 'canceled.signal');
  assert.equal((await failureFrom(() => peer.send('hi'))).rule, 'text.closed');
  assert.equal((await remote.sendMessage('hi')).result.$case, 'task');

  // @ts-expect-error: an agent that was discovered has a policy already
  const both = textPeer(remote, { protocolVersion: '1.0' });
  assert.equal((await failureFrom(() => both.send('hi'))).rule, 'options.unknown');
});
