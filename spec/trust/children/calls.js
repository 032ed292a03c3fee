/**
 * Makes a call and reads a stream in a process that is confined by its flags, and prints what came, with what the flags forbid.
 * Arguments: the URL of the library, the agent's endpoint, a file outside what may be read, further
 * entry points to import.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Agent } from 'undici';

const [library, endpoint, outside, ...others] = process.argv.slice(2);

/** The code of what an attempt throws, or `allowed`. */
async function tried(attempt) {
  try {
    await attempt();
    return 'allowed';
  } catch (error) {
    return error.code ?? error.name;
  }
}

const forbidden = {
  code: await tried(() => new Function('return 1')),
  intrinsics: await tried(() => {
    Array.prototype.added = 1;
    delete Array.prototype.added;
  }),
  read: await tried(() => readFileSync(outside)),
  spawn: await tried(
    () =>
      new Promise((resolve, reject) => {
        spawn(process.execPath, ['--version'], { stdio: 'ignore' }).once('error', reject).once('close', resolve);
      }),
  ),
  connect: await tried(
    () =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(endpoint);
        const socket = connect({ host: hostname, port: Number(port) });
        socket.once('error', reject).once('connect', () => {
          socket.destroy();
          resolve();
        });
      }),
  ),
};

for (const other of others) await import(other);
const { StrictClient, userText } = await import(library);
const agent = new Agent();
const client = new StrictClient(agent);
const options = { endpoint, protocolVersion: '1.0', maxResponseBytes: 100_000, maxEventBytes: 100_000, timeoutMs: 20_000 };
const message = { message: userText('hi') };
const answers = {};
try {
  answers.unary = (await client.sendMessage(options, message)).result.$case;
  answers.events = 0;
  for await (const _ of client.sendStreamingMessage(options, message)) answers.events++;
} catch (error) {
  answers.failed = `${error.rule} ${error.delivery} ${error.unwrap?.()?.code ?? error.unwrap?.() ?? error}`;
}
await agent.close();
console.log(JSON.stringify({ ...answers, forbidden }));
