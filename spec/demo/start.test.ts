import { equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const START = fileURLToPath(new URL('start.ts', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the demo as `npm start -- …` does, as its own process, to its own end. */
function start(args: readonly string[], nodeArgs: readonly string[] = []): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--import', import.meta.resolve('tsx'), ...nodeArgs, START, ...args],
      { timeout: 60_000, env: { ...process.env, NO_COLOR: '1' } },
      (_error, stdout, stderr) => {
        resolve({ code: child.exitCode, stdout, stderr });
      },
    );
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function assertAllProven({ code, stdout, stderr }: Ended, text: string): void {
  equal(stderr, '');
  match(stdout, /^All 18 checks passed\.$/m);
  ok(!stdout.includes('✗'));
  equal(code, 0);
  ok(stdout.includes(sha256(text)), 'the text is the one that was given');
  equal(stdout.split(`, sha256 ${sha256(text).slice(0, 16)}…: as counted here`).length - 1, 2, 'in both dialects');
}

describe('npm start', { concurrency: true }, () => {
  test('What a person types is what is sent, and each kind of answer is shown and named', async () => {
    const text = '  "it\'s"\t\\n \n <b>$HOME</b> 👩‍👩‍👧 é  ';
    const ended = await start([text]);
    assertAllProven(ended, text);
    const { stdout } = ended;
    for (const shown of [
      /^here +words 5, bytes 50, /m,
      /✓ fetchAgentCard .*1\.0 and 0\.3: selected 1\.0, the dialect it is probed to speak/,
      /✓ cancelTask .*working, then canceled/,
      /✓ listTasks .*the 3 tasks/,
      /✓ listTasks .*invalid_argument, options\.operation, nothing sent/,
      /✓ getTask, unknown id .*remote_agent, code -32001/,
      /✓ a wrong id .*protocol, jsonrpc\.id/,
      /✓ events without ids .*sse\.id_missing.*eventIds: 'optional'/,
      /✓ sendStreamingMessage .*unavailable, stream\.incomplete/,
      /✓ subscribeToTask .*each chunk once, and the end/,
      // The chunks of a stream are printed as they arrive, in the order in which the agent reports them.
      /task +working\n.*chunk +words 5\n.*chunk +bytes 50\n.*chunk +sha256 .*\n.*status +completed\n/,
    ]) {
      match(stdout, shown);
    }
  });

  test('An empty text is replaced by one of its own', async () => {
    assertAllProven(await start(['']), 'Hello, agent! 你好 👋');
  });

  test('A text as long as a command line may hold is sent whole; of several arguments, one is made', async () => {
    // Windows takes 32,767 characters in all, quoting included; Linux 128 KiB an argument.
    const long = '"long" '.repeat(process.platform === 'win32' ? 3_000 : 18_000);
    assertAllProven(await start([long, 'two']), `${long} two`);
  });

  test('An agent that says something else than what is true makes it fail', async () => {
    // Alters what the agent sends on its way out, without a change of length.
    const tamper = `
      import { ServerResponse } from 'node:http';
      for (const name of ['write', 'end']) {
        const send = ServerResponse.prototype[name];
        ServerResponse.prototype[name] = function (chunk, ...others) {
          return send.call(this, chunk === undefined ? chunk : String(chunk).replaceAll('words 2', 'words 3'), ...others);
        };
      }`;
    const { code, stdout } = await start(['one two'], ['--import', `data:text/javascript,${encodeURIComponent(tamper)}`]);
    equal(code, 1);
    match(stdout, /✗ sendMessage/);
    match(stdout, /✓ cancelTask/);
    match(stdout, /^9 of 18 checks failed\.$/m);
  });
});
