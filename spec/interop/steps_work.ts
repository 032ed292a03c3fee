/** Steps that a server should take as asked: cards, messages, tasks, streams. */
import assert from 'node:assert/strict';
import { Role, TaskState, failureOf, userText, type EventIdMode, type EventStream, type ProtocolVersion } from '../../lib/index.js';
import { artifactText, drain, endOf, stateOf, type Peer } from './peer.js';
import { contents, type Step } from './step.js';

/** From the strictest on. */
const MODES: readonly EventIdMode[] = ['sequential', 'required', 'optional'];

export const WORK: readonly Step[] = [
  {
    name: 'a card that names the endpoint',
    async run(peer) {
      const { status, contentType, card } = await peer.card();
      assert.equal(status, 200);
      assert.match(contentType, /^application\/json\b/);
      assert.ok(namesEndpoint(card, peer.dialect, peer.url), 'the card names no such endpoint');
    },
  },
  {
    name: 'artifacts, streamed',
    turn: 'first',
    async run(peer) {
      for (const eventIds of MODES) {
        peer.eventIds = eventIds;
        try {
          await drain(peer.stream('stream'));
          break;
        } catch (error) {
          if (!/^sse\.id_/.test(failureOf(error)?.rule ?? '')) throw error;
        }
      }
      const items = await drain(peer.stream('stream'));
      assert.equal(items[0]?.event.$case, 'task');
      const chunks = items.flatMap(({ event }) => (event.$case === 'artifactUpdate' ? [event.value] : []));
      assert.deepEqual(
        chunks.map(({ artifact, append, lastChunk }) => [artifact?.artifactId, contents(artifact?.parts ?? []), append, lastChunk]),
        [
          ['chunks', [{ $case: 'text', value: 'one' }], false, false],
          ['chunks', [{ $case: 'text', value: 'two' }], true, false],
          ['chunks', [{ $case: 'text', value: 'three' }], true, true],
        ],
      );
      assert.equal(endOf(items), TaskState.TASK_STATE_COMPLETED);
    },
  },
  {
    name: 'a message, streamed',
    async run(peer) {
      const [item, ...more] = await drain(peer.stream('say grüß ☃'));
      assert.ok(item?.event.$case === 'message' && more.length === 0);
      assert.equal(item.event.value.role, Role.ROLE_AGENT);
      assert.deepEqual(contents(item.event.value.parts), [{ $case: 'text', value: 'grüß ☃' }]);
    },
  },
  {
    name: 'parts of every kind',
    async run(peer) {
      const items = await drain(peer.stream('parts'));
      const parts = items.flatMap(({ event }) => (event.$case === 'artifactUpdate' ? (event.value.artifact?.parts ?? []) : []));
      assert.deepEqual(contents(parts), [
        { $case: 'text', value: 'grüß ☃' },
        { $case: 'data', value: { n: 1.5, list: [true, null], deep: { text: 'x' } } },
        { $case: 'raw', value: Buffer.from([0, 250, 255, 62, 63]) },
        { $case: 'url', value: 'https://agent.example/file' },
      ]);
      assert.deepEqual(
        parts.map(({ mediaType, filename }) => [mediaType, filename]).slice(2),
        [
          ['application/octet-stream', 'five.bin'],
          ['text/plain', ''],
        ],
      );
    },
  },
  {
    name: 'a task, sent',
    async run(peer) {
      const { result } = await peer.client.sendMessage(peer.options(), { message: userText('echo grüß ☃') });
      assert.ok(result.$case === 'task');
      assert.equal(result.value.status?.state, TaskState.TASK_STATE_COMPLETED);
      assert.equal(artifactText(result.value), 'grüß ☃');
    },
  },
  {
    name: 'a message, sent',
    async run(peer) {
      const { result } = await peer.client.sendMessage(peer.options(), { message: userText('say hi') });
      assert.ok(result.$case === 'message');
      assert.deepEqual(contents(result.value.parts), [{ $case: 'text', value: 'hi' }]);
    },
  },
  {
    name: 'an answer that does not wait for the end',
    async run(peer) {
      const { result } = await peer.client.sendMessage(peer.options(), {
        message: userText('slow'),
        configuration: { returnImmediately: true },
      });
      assert.ok(result.$case === 'task');
      const state = result.value.status?.state;
      assert.ok(state === TaskState.TASK_STATE_SUBMITTED || state === TaskState.TASK_STATE_WORKING, `state ${state}`);
      await peer.client.cancelTask(peer.options(), { id: result.value.id });
    },
  },
  {
    name: 'input required and given, sent',
    async run(peer) {
      const { result } = await peer.client.sendMessage(peer.options(), { message: userText('ask') });
      assert.ok(result.$case === 'task');
      const { id, contextId, status } = result.value;
      assert.equal(status?.state, TaskState.TASK_STATE_INPUT_REQUIRED);
      assert.deepEqual(contents(status.message?.parts ?? []), [{ $case: 'text', value: 'what?' }]);
      const answer = { ...userText('echo this'), taskId: id, contextId };
      const resumed = await peer.client.sendMessage(peer.options(), { message: answer });
      assert.ok(resumed.result.$case === 'task');
      assert.equal(resumed.result.value.status?.state, TaskState.TASK_STATE_COMPLETED);
      assert.equal(artifactText(resumed.result.value), 'this');
    },
  },
  {
    name: 'input required and given, streamed',
    async run(peer) {
      const asked = await drain(peer.stream('ask'));
      assert.equal(endOf(asked), TaskState.TASK_STATE_INPUT_REQUIRED);
      const first = asked[0]?.event;
      assert.ok(first?.$case === 'task');
      const { id, contextId } = first.value;
      const answer = { ...userText('echo this'), taskId: id, contextId };
      const resumed = await drain(peer.client.sendStreamingMessage(peer.options(), { message: answer }));
      assert.equal(endOf(resumed), TaskState.TASK_STATE_COMPLETED);
    },
  },
  {
    name: 'a task that fails',
    async run(peer) {
      const items = await drain(peer.stream('fail'));
      assert.equal(endOf(items), TaskState.TASK_STATE_FAILED);
    },
  },
  {
    name: 'a task that is canceled',
    async run(peer) {
      const { id, stream } = await peer.running();
      let canceled: TaskState | undefined;
      try {
        canceled = (await peer.client.cancelTask(peer.options(), { id })).result.status?.state;
      } finally {
        // Whatever becomes of the answer, the stream tells that the task was canceled.
        assert.equal(endOf(await drain(stream)), TaskState.TASK_STATE_CANCELED);
      }
      assert.equal(canceled, TaskState.TASK_STATE_CANCELED);
    },
  },
  {
    name: 'a task, got',
    async run(peer) {
      const { id, contextId } = await peer.finished('stream');
      const { result } = await peer.client.getTask(peer.options(), { id });
      assert.equal(result.contextId, contextId);
      assert.equal(result.status?.state, TaskState.TASK_STATE_COMPLETED);
      assert.equal(artifactText(result), 'onetwothree');
      assert.equal(result.history[0]?.role, Role.ROLE_USER);
    },
  },
  {
    name: 'a task without its history, got',
    async run(peer) {
      const { id } = await peer.finished('echo x');
      const { result } = await peer.client.getTask(peer.options(), { id, historyLength: 0 });
      assert.equal(result.history.length, 0, 'the history came all the same');
    },
  },
  {
    name: 'tasks, listed',
    dialect: '1.0',
    async run(peer) {
      const { id, contextId } = await peer.finished('echo x');
      const { result } = await peer.client.listTasks(peer.options(), { contextId, includeArtifacts: true });
      assert.deepEqual(
        result.tasks.map((task) => [task.id, artifactText(task)]),
        [[id, 'x']],
      );
      assert.equal(result.nextPageToken, '');
    },
  },
  {
    name: 'a running task, subscribed to',
    async run(peer) {
      const { id, stream } = await peer.running();
      const beside = await subscribed(peer, id);
      await peer.regardless(peer.client.cancelTask(peer.options(), { id }));
      const ends = (await Promise.all([drain(stream), drain(beside)])).map(endOf);
      assert.deepEqual(ends, [TaskState.TASK_STATE_CANCELED, TaskState.TASK_STATE_CANCELED]);
    },
  },
  {
    name: 'a stream broken off, and come back to',
    async run(peer) {
      const { id, stream } = await peer.running();
      await stream.return();
      const again = await subscribed(peer, id);
      await peer.regardless(peer.client.cancelTask(peer.options(), { id }));
      assert.equal(endOf(await drain(again)), TaskState.TASK_STATE_CANCELED);
    },
  },
  {
    name: 'a quiet stream through an idle proxy',
    turn: 'beside',
    async run(peer, { quietMs, idleMs }) {
      const items = await drain(peer.stream(`quiet ${quietMs}`, { idleTimeoutMs: idleMs }));
      assert.equal(endOf(items), TaskState.TASK_STATE_COMPLETED);
    },
  },
];

/** Whether a card names an endpoint of this dialect: in 1.0 among its interfaces, in 0.3 as its URL. */
function namesEndpoint(card: unknown, dialect: ProtocolVersion, url: string): boolean {
  assert.ok(typeof card === 'object' && card !== null);
  const at = (named: unknown, binding: string, version: RegExp): boolean => {
    const entry = named as Record<string, unknown>;
    return entry['url'] === url && entry[binding] === 'JSONRPC' && version.test(String(entry['protocolVersion']));
  };
  if (dialect === '0.3') return at(card, 'preferredTransport', /^0\.3/);
  return 'supportedInterfaces' in card && Array.isArray(card.supportedInterfaces)
    ? card.supportedInterfaces.some((entry) => at(entry, 'protocolBinding', /^1\.0/))
    : false;
}

/** A subscription that has begun: its first event has come. */
async function subscribed(peer: Peer, id: string): Promise<EventStream> {
  const stream = peer.client.subscribeToTask(peer.options(), { id });
  const { value } = await stream.next();
  assert.equal(stateOf(value?.event), TaskState.TASK_STATE_WORKING);
  return stream;
}
