/** Two streams, of which one is asked from within undici's callback for the other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { StrictClient, userText, type EventStream } from '../../../lib/index.js';
import { Peer, watchData } from '../peer.js';
import { artifact, status, task } from '../results.js';

const EVENTS = 400;

const peer = await Peer.listen((call) => {
  call.head().event(task('1.0', 'working'));
  for (let n = 0; n < EVENTS; n++) call.event(artifact('1.0', 'x'.repeat(2000)));
  call.event(status('1.0', 'completed')).end();
});

/** Called with each chunk of each response, inside undici. */
let inside: () => void = () => undefined;

const client = new StrictClient(
  watchData(peer.dispatcher, () => {
    inside();
  }),
);
const open = (): EventStream => client.sendStreamingMessage(peer.options('1.0'), { message: userText('hi') });

const right = open();
let rightEvents = 0;
const pending: Promise<unknown>[] = [];
const ask = (): void => {
  pending.push(
    right.next().then(({ done }) => {
      if (done !== true) rightEvents++;
    }),
  );
};
ask();
await pending[0];
// The right one is held back now; what it is asked comes out of the left one's callbacks.
await sleep(100);
inside = () => {
  for (let i = 0; i < 20; i++) ask();
};
let leftEvents = 0;
for await (const _ of open()) leftEvents++;
inside = () => undefined;
while (rightEvents < EVENTS + 2) {
  const { done } = await right.next();
  if (done === true) break;
  rightEvents++;
}
await Promise.all(pending);
console.log(JSON.stringify({ left: leftEvents, right: rightEvents }));
await peer[Symbol.asyncDispose]();
