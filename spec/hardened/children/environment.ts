/**
 * What the environment makes of undici's own agents and of a hardened one: calls to a server whose certificate nobody vouches for, to one of
 * TLS 1.1, and to one without TLS. Prints how each went.
 */
import { createRequire } from 'node:module';
import { Agent, EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { hardenedAgent } from '../../../lib/hardened/agent.js';
import { callOutcome } from '../../hostile/calls.js';
import { certificate } from '../servers.js';

const [secure = '', old = '', plain = ''] = process.argv.slice(2);
const ca = certificate('authority.pem');

async function outcome(dispatcher: Dispatcher, endpoint: string): Promise<string> {
  try {
    return await callOutcome(dispatcher, endpoint);
  } finally {
    await dispatcher.destroy();
  }
}

/** Which of undici's parsers an agent reads with. */
async function parserOf(dispatcher: Dispatcher): Promise<string> {
  const undici = createRequire(import.meta.resolve('undici'));
  const parsers = undici('./lib/dispatcher/parser-h1.js') as { H1Parser: { prototype: { execute: () => void } } };
  let used = 'llhttp';
  const { execute } = parsers.H1Parser.prototype;
  parsers.H1Parser.prototype.execute = function (this: unknown, ...given: []): void {
    used = 'Milo';
    execute.apply(this, given);
  };
  await callOutcome(dispatcher, plain);
  parsers.H1Parser.prototype.execute = execute;
  await dispatcher.destroy();
  return used;
}

console.log(
  JSON.stringify({
    hardened: [
      await outcome(hardenedAgent({ network: 'loopback' }), secure),
      await outcome(hardenedAgent({ network: 'loopback', ca }), old),
      await outcome(hardenedAgent({ network: 'loopback' }), plain),
      await parserOf(hardenedAgent({ network: 'loopback' })),
    ],
    // That the environment has a say elsewhere.
    others: [
      await outcome(new Agent(), secure),
      await outcome(new Agent({ connect: { ca } }), old),
      await outcome(new EnvHttpProxyAgent(), plain),
      await parserOf(new Agent()),
    ],
  }),
);
