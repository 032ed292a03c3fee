/** A response that closes its connection is reset while the consumer is slow. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../lib/index.js';
import { Peer } from '../peer.js';
import { artifact, task } from '../results.js';

const HEADS = [
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n',
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
];
const rules: string[] = [];
for (const head of HEADS) {
  const peer = await Peer.listen();
  const stream = peer.stream('1.0');
  const first = stream.next();
  const call = await peer.call();
  call.head(head).event(task('1.0', 'working'));
  await first;
  for (let i = 0; i < 60; i++) call.event(artifact('1.0', 'x'.repeat(5000)));
  await sleep(60);
  call.reset();
  await sleep(60);
  try {
    for await (const _ of stream);
    rules.push('done');
  } catch (error) {
    rules.push(error instanceof Failure ? error.rule : String(error));
  }
  await peer[Symbol.asyncDispose]();
}
console.log(JSON.stringify({ rules }));
