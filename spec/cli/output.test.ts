import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { Readable, Writable } from 'node:stream';
import { describe, test, type TestContext } from 'node:test';
import { Output, OutputClosed, Raw } from '../../lib/cli/output.js';
import { run } from '../../lib/cli/run.js';
import { cli } from './cli.js';
import { startOdd, stream, taskText } from './odd_agent.js';

const ESCAPE = '\x1b';

/** A sink whose writes fail as the system says; others are kept. */
function sink(fail?: () => NodeJS.ErrnoException | undefined): Writable & { text: string; isTTY: boolean } {
  const kept = Object.assign(
    new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        const error = fail?.();
        if (error === undefined) kept.text += chunk;
        done(error);
      },
    }),
    { text: '', isTTY: false },
  );
  return kept;
}

const error = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });
const io = (stdout: Writable, stderr: Writable) => ({ stdin: Readable.from([]), stdout, stderr, env: {}, onInterrupt: () => () => undefined });

describe('What is printed', { concurrency: true }, () => {
  test('Colours are for a terminal, and not under NO_COLOR nor on a dumb one', async (t: TestContext) => {
    const { url } = await startOdd(t, (_asked, response) => response.writeHead(500).end());
    const has = async (terminal: boolean, env: Record<string, string>): Promise<boolean> =>
      /\x1b\[\d+m/.test((await cli(['card', url], { terminal, env })).both);
    deepEqual(
      await Promise.all([has(false, {}), has(true, {}), has(true, { NO_COLOR: '' }), has(true, { NO_COLOR: '1' }), has(true, { TERM: 'dumb' })]),
      [false, true, true, false, false],
    );
  });

  test('Progress is for a terminal alone, and is taken back before anything else is printed', async (t: TestContext) => {
    const { url } = await startOdd(t, ({ id }, response) => {
      stream(response, id, [`{"task":${taskText('', 'TASK_STATE_WORKING')}}`, `{"task":${taskText('done')}}`]);
    });
    const { both, stdout } = await cli(['stream', url, 'hi'], { terminal: true, env: { NO_COLOR: '1' } });
    equal(stdout, 'done\n');
    const back = `\r${ESCAPE}[K`;
    deepEqual(both.split(back), ['fetching the card', `SendStreamingMessage to ${url}`, 'working, 1 event', 'done\ncompleted, task task-1, context context-1\n']);
    const { stderr } = await cli(['stream', url, 'hi']);
    equal(stderr, '');
    const dumb = await cli(['stream', url, 'hi'], { terminal: true, env: { TERM: 'dumb' } });
    ok(!dumb.both.includes(ESCAPE));
  });

  test("The query of an endpoint is not shown, in no line of progress either", async (t: TestContext) => {
    const { url } = await startOdd(t, ({ id }, response) => {
      stream(response, id, [`{"task":${taskText('done')}}`]);
    });
    const { both } = await cli(['stream', `${url}?key=fake-key-77`, 'hi', '--exact'], { terminal: true });
    ok(both.includes(`${url}?…`));
    ok(!both.includes('fake-key-77'));
  });

  test('A note does not stand in the middle of a line of text', async () => {
    const same = Object.assign(sink(), { isTTY: true });
    const output = new Output({ ...io(same, same), env: { NO_COLOR: '1' } }, false);
    await output.write('half a line');
    output.progress('not now');
    output.note('noted');
    await output.endLine();
    equal(same.text, 'half a line\nnoted\n');
  });

  test('A JSON object has its members in order, without those that are undefined', async () => {
    const stdout = sink();
    const output = new Output(io(stdout, sink()), true);
    await output.object({ a: undefined, b: null, c: new Raw(Buffer.from(' {"x":\n1} ')), d: 'e' });
    equal(stdout.text, '{"b":null,"c": {"x": 1} ,"d":"e"}\n');
  });
});

describe('A reader that leaves', () => {
  test('It is no error: the stream is closed, and nothing is said of it', async (t: TestContext) => {
    let left: () => void;
    const isLeft = new Promise<void>((resolve) => (left = resolve));
    const { url } = await startOdd(t, ({ id }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: {"jsonrpc":"2.0","id":"${id}","result":{"task":${taskText('one', 'TASK_STATE_WORKING')}}}\n\n`);
      response.on('close', () => {
        left();
      });
    });
    for (const code of ['EPIPE', 'ERR_STREAM_DESTROYED']) {
      const stdout = sink(() => error(code));
      const stderr = sink();
      equal(await run(['stream', url, 'hi'], io(stdout, stderr)), 0);
      equal(stderr.text, '');
    }
    await isLeft;
  });

  test('It may leave during the help, before a failure is told, or while one is', async () => {
    const gone = (): Writable => sink(() => error('EPIPE'));
    equal(await run(['--help'], io(gone(), sink())), 0);
    equal(await run(['get', 'http://127.0.0.1:1/', 't', '--json'], io(gone(), sink())), 6);
    equal(await run(['get', 'http://127.0.0.1:1/', 't'], io(sink(), gone())), 6);
  });

  test('A full disk is an error', async () => {
    const stderr = sink();
    equal(await run(['--version'], io(sink(() => error('ENOSPC')), stderr)), 70);
    match(stderr.text, /an error of its own: Error: ENOSPC/);
  });

  test('Later writes are refused as the first was', async () => {
    const output = new Output(io(sink(() => error('EPIPE')), sink()), false);
    await rejects(output.write('a'), OutputClosed);
    await rejects(output.write('b'), OutputClosed);
  });
});
