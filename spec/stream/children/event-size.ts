/** Reads one event from an agent at a port, whose size is just its bound, and reports how much memory the process grew by at most. */
import { Agent } from 'undici';
import { StrictClient, userText } from '../../../lib/index.js';

const [port = 0, textBytes = 0] = process.argv.slice(2).map(Number);
// What is around the text: measured once, so that the bound is exact.
const around = Buffer.byteLength(
  `id: 2\ndata: {"jsonrpc":"2.0","id":"${'0'.repeat(32)}","result":{"artifactUpdate":{"taskId":"task-1","contextId":"ctx-1",` +
    `"artifact":{"artifactId":"artifact-1","parts":[{"text":""}]}}}}\n\n`,
);
const dispatcher = new Agent();
const client = new StrictClient(dispatcher);
const options = {
  endpoint: `http://127.0.0.1:${port}/`,
  protocolVersion: '1.0',
  maxResponseBytes: 1 << 20,
  maxEventBytes: around + textBytes,
} as const;

/** The largest resident size so far, in bytes. */
const peak = (): number => process.resourceUsage().maxRSS * 1024;

const stream = client.sendStreamingMessage(options, { message: userText('hi') });
await stream.next();
const before = process.memoryUsage().rss;
let largest = 0;
for await (const { raw } of stream) largest = Math.max(largest, raw.length);
const grown = peak() - before;

// One byte less, and the same event is refused.
let rule: unknown;
try {
  const tight = client.sendStreamingMessage({ ...options, maxEventBytes: options.maxEventBytes - 1 }, { message: userText('hi') });
  for await (const _ of tight);
} catch (error) {
  rule = (error as { rule?: unknown }).rule;
}
console.log(JSON.stringify({ raw: largest, grown, rule }));
await dispatcher.destroy();
