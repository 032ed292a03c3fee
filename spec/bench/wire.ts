/** What the benchmark's server sends: a task of about 1 KB, and events of about 281 bytes as framed. ASCII throughout. */

export const TASK_ID = 'b1a2c3d4-0000-4000-8000-5e6f7a8b9c0d';
const CONTEXT_ID = 'ctx-5yt0qm1bt2qfa8zklr';
const WORDS = 'the quick brown fox jumps over the lazy dog and the agent says so';

const message = (messageId: string, role: string): object => ({
  messageId,
  contextId: CONTEXT_ID,
  taskId: TASK_ID,
  role,
  parts: [{ text: WORDS, mediaType: 'text/plain' }],
});

const TASK = JSON.stringify({
  id: TASK_ID,
  contextId: CONTEXT_ID,
  status: { state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-02T03:04:05.678Z' },
  artifacts: [{ artifactId: 'answer', name: 'answer', parts: [{ text: WORDS.repeat(3) }, { data: { words: 39, exact: true } }] }],
  history: [message('m-1', 'ROLE_USER'), message('m-2', 'ROLE_AGENT')],
});

/** The answer to `GetTask`. `id` is JSON, as the request had it. */
export function taskAnswer(id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${TASK}}`;
}

const SUBJECT = `"taskId":"${TASK_ID}","contextId":"${CONTEXT_ID}"`;

function resultOf(number: number, last: number): string {
  if (number === 1) return `{"task":{"id":"${TASK_ID}","contextId":"${CONTEXT_ID}","status":{"state":"TASK_STATE_WORKING"}}}`;
  if (number === last) return `{"statusUpdate":{${SUBJECT},"status":{"state":"TASK_STATE_COMPLETED"}}}`;
  // Of twenty, nineteen are chunks of an artifact and one is a status.
  if (number % 20 === 0) {
    return `{"statusUpdate":{${SUBJECT},"status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-02T03:04:05.678Z"}}}`;
  }
  // The text differs from one event to the next, as it does in life, and with it the length.
  const text = WORDS.slice(number % 13, 17 + (number % 29));
  return `{"artifactUpdate":{${SUBJECT},"artifact":{"artifactId":"a-1","parts":[{"text":"${text}"}]},"append":true}}`;
}

/** An event of a stream, as framed; `number` counts from 1 up to `last`. */
export function event(number: number, last: number, id: string): string {
  return `id: ${String(number)}\ndata: {"jsonrpc":"2.0","id":${id},"result":${resultOf(number, last)}}\n\n`;
}
