/** The first calls of a process are slow: undici compiles its HTTP parser, and all code is cold. No clock of a test is to run out over that. */
import { Agent } from 'undici';
import { callOutcome, streamOutcome } from './calls.js';
import { RawServer, good, goodStream } from './raw_server.js';

export async function warmUp(): Promise<void> {
  const server = await RawServer.listen((socket, { id, line }) => socket.write(line.includes('stream') ? goodStream(id) : good(id)));
  const agent = new Agent();
  for (let i = 0; i < 20; i++) {
    await callOutcome(agent, server.origin);
    await streamOutcome(agent, `${server.origin}/stream`);
  }
  await agent.close();
  await server.close();
}
