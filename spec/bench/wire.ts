/** What the benchmark's server sends: a task of about 1 KB, and the events of its streams. */
import { mixedResult } from './mixed.js';

export const TASK_ID = 'b1a2c3d4-0000-4000-8000-5e6f7a8b9c0d';
export const CONTEXT_ID = 'ctx-5yt0qm1bt2qfa8zklr';
export const WORDS = 'the quick brown fox jumps over the lazy dog and the agent says so';

/**
 * What a stream consists of: `token` is chunks of an artifact, of about 281 bytes as framed, with a status at every twentieth place; `mixed`
 * has no two events alike; `ascii`, `escaped` and `cjk` are chunks of about the same number of characters of such text; a number is events
 * of about so many bytes.
 */
export type StreamKind = 'token' | 'token-0.3' | 'mixed' | 'ascii' | 'escaped' | 'cjk' | number;

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
const FIRST = `{"task":{"id":"${TASK_ID}","contextId":"${CONTEXT_ID}","status":{"state":"TASK_STATE_WORKING"}}}`;
const WORKING = `{"statusUpdate":{${SUBJECT},"status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-02T03:04:05.678Z"}}}`;
const LAST = `{"statusUpdate":{${SUBJECT},"status":{"state":"TASK_STATE_COMPLETED"}}}`;

const FIRST_0_3 = `{"kind":"task","id":"${TASK_ID}","contextId":"${CONTEXT_ID}","status":{"state":"working"}}`;
const WORKING_0_3 = `{"kind":"status-update",${SUBJECT},"status":{"state":"working","timestamp":"2026-01-02T03:04:05.678Z"},"final":false}`;
const LAST_0_3 = `{"kind":"status-update",${SUBJECT},"status":{"state":"completed"},"final":true}`;

/** `text` is the body of a JSON string, escaped as it is to be sent. */
function chunk(text: string): string {
  return `{"artifactUpdate":{${SUBJECT},"artifact":{"artifactId":"a-1","parts":[{"text":"${text}"}]},"append":true}}`;
}

function chunk0_3(text: string): string {
  return `{"kind":"artifact-update",${SUBJECT},"artifact":{"artifactId":"a-1","parts":[{"kind":"text","text":"${text}"}]},"append":true}`;
}

/** The text differs from one event to the next, as it does in life, and with it the length. */
function token(number: number): string {
  return WORDS.slice(number % 13, 17 + (number % 29));
}

/** 600 of them and some, so that the text outweighs the rest. */
function longText(number: number, pattern: string): string {
  return `${String(number)} ${pattern.repeat(Math.ceil((600 + (number % 61)) / pattern.length))}`;
}

/** What an event has around its text, at least: so one of 4 MiB is just below that, which is as much as the SDK takes. */
const AROUND_TEXT_BYTES = 256;

const ESCAPED = String.raw`he said: \"so it is\"\n\tand\u00e9 then\\ \ud83d\ude00\n`;
const CJK = '快速的棕色狐狸跳过了懒狗，代理人如是说。';

/** The JSON of the result in one event of a stream; `number` counts from 1 up to `last`. */
export function resultOf(kind: StreamKind, number: number, last: number): string {
  if (kind === 'token-0.3') {
    if (number === 1) return FIRST_0_3;
    if (number === last) return LAST_0_3;
    return number % 20 === 0 ? WORKING_0_3 : chunk0_3(token(number));
  }
  if (number === 1) return FIRST;
  if (number === last) return LAST;
  switch (kind) {
    case 'token':
      return number % 20 === 0 ? WORKING : chunk(token(number));
    case 'mixed':
      return mixedResult(number, TASK_ID, CONTEXT_ID);
    case 'ascii':
      return chunk(longText(number, `${WORDS} `));
    case 'escaped':
      return chunk(longText(number, ESCAPED));
    case 'cjk':
      return chunk(longText(number, CJK));
    default:
      return chunk(`${String(number)} ${`${WORDS} `.repeat(Math.ceil(kind / (WORDS.length + 1)))}`.slice(0, kind - AROUND_TEXT_BYTES));
  }
}

/** What stands before the id in an event of a stream as framed, and behind it: `result` and the end of the event. */
export const BEFORE_ID = (number: number): string => `id: ${String(number)}\ndata: {"jsonrpc":"2.0","id":`;
export const BEHIND_ID = (result: string): string => `,"result":${result}}\n\n`;
