import { TaskState, type Artifact, type Message, type Part, type Task } from '@a2a-js/sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TaskAssembly, taskOf } from '../../lib/agent/task_assembly.js';
import { Refusal } from '../../lib/failure.js';
import { Role, type StreamEvent } from '../../lib/index.js';

const RAW = new Uint8Array(100);

function part(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' };
}

function message(messageId: string, text = messageId): Message {
  return {
    messageId,
    contextId: 'c',
    taskId: 't',
    role: Role.ROLE_AGENT,
    parts: [part(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function artifact(artifactId: string, texts: readonly string[], others: Partial<Artifact> = {}): Artifact {
  return { artifactId, name: '', description: '', parts: texts.map(part), metadata: undefined, extensions: [], ...others };
}

function status(state: TaskState, said?: Message): StreamEvent {
  return {
    $case: 'statusUpdate',
    value: { taskId: 't', contextId: 'c', status: { state, message: said, timestamp: undefined }, metadata: undefined },
  };
}

function chunk(of: Artifact, { append = false, lastChunk = false } = {}): StreamEvent {
  return { $case: 'artifactUpdate', value: { taskId: 't', contextId: 'c', artifact: of, append, lastChunk, metadata: undefined } };
}

const task = (others: Partial<Task> = {}): StreamEvent => ({
  $case: 'task',
  value: {
    id: 't',
    contextId: 'c',
    status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined },
    artifacts: [],
    history: [],
    metadata: undefined,
    ...others,
  },
});

function assemble(events: readonly StreamEvent[], maxBytes = 1 << 20, raw = RAW): Task | undefined {
  const assembly = new TaskAssembly(maxBytes);
  for (const event of events) assembly.apply({ event, raw });
  return assembly.task;
}

const texts = (of: Task | undefined): (readonly string[])[] =>
  (of?.artifacts ?? []).map(({ parts }) => parts.map(({ content }) => (content?.$case === 'text' ? content.value : '?')));

const refuses = (rule: string) => (error: unknown) => error instanceof Refusal && error.rule === rule;

describe('A task put together', () => {
  test('is none before the first event', () => {
    assert.equal(assemble([]), undefined);
  });

  test('has the chunks of its artifacts in order, each artifact for itself', () => {
    const built = assemble([
      task(),
      chunk(artifact('a', ['1'])),
      chunk(artifact('b', ['x'])),
      chunk(artifact('a', ['2', '3']), { append: true }),
      chunk(artifact('b', ['y']), { append: true, lastChunk: true }),
      chunk(artifact('a', ['4']), { append: true }),
    ]);
    assert.deepEqual(texts(built), [['1', '2', '3', '4'], ['x', 'y']]);
  });

  test('has what replaces an artifact in its place', () => {
    assert.deepEqual(texts(assemble([task(), chunk(artifact('a', ['1'])), chunk(artifact('b', ['2'])), chunk(artifact('a', ['3']))])), [['3'], ['2']]);
  });

  test('takes names, descriptions, metadata and extensions from the chunks that have them', () => {
    const built = assemble([
      chunk(artifact('a', ['1'], { name: 'n', metadata: { x: 1, y: 1 }, extensions: ['urn:1'] })),
      chunk(artifact('a', ['2'], { description: 'd', metadata: { y: 2 }, extensions: ['urn:1', 'urn:2'] }), { append: true }),
    ]);
    const { parts: _, ...rest } = built!.artifacts[0]!;
    assert.deepEqual(rest, { artifactId: 'a', name: 'n', description: 'd', metadata: { x: 1, y: 2 }, extensions: ['urn:1', 'urn:2'] });
  });

  test('has metadata where the first chunk had none', () => {
    const built = assemble([chunk(artifact('a', ['1'])), chunk(artifact('a', ['2'], { metadata: { y: 2 } }), { append: true })]);
    assert.deepEqual(built?.artifacts[0]?.metadata, { y: 2 });
  });

  test('refuses an append to an artifact that was never started', () => {
    assert.throws(() => assemble([task(), chunk(artifact('a', ['1']), { append: true })]), refuses('agent.artifact_append'));
    assert.throws(() => assemble([chunk(artifact('b', ['1'])), chunk(artifact('a', ['1']), { append: true })]), refuses('agent.artifact_append'));
  });

  test('refuses an append after the last chunk, and takes a new beginning', () => {
    const whole = [chunk(artifact('a', ['1'])), chunk(artifact('a', ['2']), { append: true, lastChunk: true })];
    assert.throws(() => assemble([...whole, chunk(artifact('a', ['3']), { append: true })]), refuses('agent.artifact_append'));
    assert.deepEqual(texts(assemble([...whole, chunk(artifact('a', ['3'])), chunk(artifact('a', ['4']), { append: true })])), [['3', '4']]);
  });

  test('goes on with the artifacts that a restated task has', () => {
    const built = assemble([
      task(),
      chunk(artifact('old', ['0'])),
      task({ artifacts: [artifact('a', ['1'])] }),
      chunk(artifact('a', ['2']), { append: true }),
    ]);
    assert.deepEqual(texts(built), [['1', '2']]);
  });

  test('ends with the last status, and keeps in its history what earlier ones said', () => {
    const built = assemble([
      task({ history: [message('m0')] }),
      status(TaskState.TASK_STATE_WORKING, message('m1')),
      status(TaskState.TASK_STATE_WORKING),
      status(TaskState.TASK_STATE_WORKING, message('m2')),
      status(TaskState.TASK_STATE_COMPLETED, message('m2', 'restated')),
    ]);
    assert.equal(built?.status?.state, TaskState.TASK_STATE_COMPLETED);
    assert.deepEqual(built.status.message, message('m2', 'restated'));
    assert.deepEqual(built.history.map(({ messageId }) => messageId), ['m0', 'm1']);
  });

  test('says no message twice that its history has already', () => {
    const built = assemble([
      task({ history: [message('m1')] }),
      status(TaskState.TASK_STATE_WORKING, message('m1')),
      status(TaskState.TASK_STATE_COMPLETED),
    ]);
    assert.deepEqual(built?.history.map(({ messageId }) => messageId), ['m1']);
  });

  test('is made of a status alone where nothing else came', () => {
    const built = assemble([status(TaskState.TASK_STATE_FAILED)]);
    assert.deepEqual([built?.id, built?.contextId, built?.status?.state, built?.artifacts, built?.history], ['t', 'c', TaskState.TASK_STATE_FAILED, [], []]);
  });

  test('of a message is completed, with the message in its history', () => {
    const said = message('m');
    const expected = {
      id: 't',
      contextId: 'c',
      status: { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined },
      artifacts: [],
      history: [said],
      metadata: undefined,
    };
    assert.deepEqual(assemble([{ $case: 'message', value: said }]), expected);
    assert.deepEqual(taskOf({ $case: 'message', value: said }), expected);
  });

  test('shares no list and no artifact with the events, nor with what was handed out before', () => {
    const first = artifact('a', ['1'], { metadata: { x: 1 }, extensions: ['urn:1'] });
    const restated = task({ artifacts: [artifact('b', ['1'])], history: [message('m')] });
    const assembly = new TaskAssembly(1 << 20);
    assembly.apply({ event: restated, raw: RAW });
    assembly.apply({ event: chunk(first), raw: RAW });
    const before = assembly.task!;
    assembly.apply({ event: chunk(artifact('a', ['2'], { metadata: { x: 2 }, extensions: ['urn:2'] }), { append: true }), raw: RAW });
    assembly.apply({ event: chunk(artifact('b', ['2']), { append: true }), raw: RAW });
    assert.deepEqual(first, artifact('a', ['1'], { metadata: { x: 1 }, extensions: ['urn:1'] }));
    assert.deepEqual(restated, task({ artifacts: [artifact('b', ['1'])], history: [message('m')] }));
    assert.deepEqual(texts(before), [['1'], ['1']]);
    assert.deepEqual(before.artifacts[1]?.extensions, ['urn:1']);
  });

  test('is bounded by the bytes of the events that it is made of', () => {
    const appends = (count: number): StreamEvent[] => [
      chunk(artifact('a', ['1'])),
      ...Array.from({ length: count }, () => chunk(artifact('a', ['2']), { append: true })),
    ];
    assert.equal(texts(assemble(appends(9), 1000))[0]?.length, 10);
    assert.throws(() => assemble(appends(10), 1000), refuses('agent.task_bytes'));
    assert.throws(() => assemble([task()], 99), refuses('agent.task_bytes'));
    const saying = (count: number): StreamEvent[] => Array.from({ length: count }, (_, i) => status(TaskState.TASK_STATE_WORKING, message(`m${i}`)));
    assert.equal(assemble(saying(10), 1000)?.history.length, 9);
    assert.throws(() => assemble(saying(11), 1000), refuses('agent.task_bytes'));
  });

  test('does not count what was replaced', () => {
    const replacing = Array.from({ length: 50 }, () => chunk(artifact('a', ['1'])));
    assert.deepEqual(texts(assemble(replacing, 100)), [['1']]);
    assert.ok(assemble(Array.from({ length: 50 }, () => task()), 100));
    assert.ok(assemble([task(), ...Array.from({ length: 50 }, () => status(TaskState.TASK_STATE_WORKING))], 200));
    assert.ok(assemble([task(), ...Array.from({ length: 50 }, () => status(TaskState.TASK_STATE_WORKING, message('m')))], 200));
  });
});
