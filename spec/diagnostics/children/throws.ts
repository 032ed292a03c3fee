/** Every subscriber throws, and a bound store too: prints what the calls gave all the same, and how often Node reported a throw. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { userText, type StreamOptions } from '../../../lib/index.js';
import { failureFrom } from '../../hostile/calls.js';
import { Peer } from '../../stream/peer.js';
import { CHANNELS, calls } from '../witness.js';

const uncaught: Record<string, number> = {};
process.on('uncaughtException', ({ message }) => {
  uncaught[message] = (uncaught[message] ?? 0) + 1;
});
for (const channel of CHANNELS) {
  calls[channel].subscribe(() => {
    throw new Error(channel);
  });
}
calls.start.bindStore(new AsyncLocalStorage(), () => {
  throw new Error('store');
});

const TASK = { id: 'task-1', contextId: '', status: { state: 'TASK_STATE_COMPLETED' } };
await using peer = await Peer.listen((call) => {
  if (call.connection > 1) call.head().event({ task: TASK }).event({ task: TASK }).end();
  else call.json({ result: { task: TASK } }).cut();
});
const options: StreamOptions = { endpoint: peer.endpoint, protocolVersion: '1.0', maxResponseBytes: 10_000, maxEventBytes: 10_000 };
const message = { message: userText('hi') };

const { result } = await peer.client.sendMessage(options, message);
const { rule } = await failureFrom(peer.client.getTask({ ...options, maxResponseBytes: 0 }, { id: 'task-1' }));
let events = 0;
for await (const _ of peer.client.sendStreamingMessage(options, message)) events++;
await turn();
console.log(JSON.stringify({ unary: result.$case, failed: rule, events, uncaught }));
