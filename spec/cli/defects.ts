/** Agents that keep every rule but one, and what `check` has to find of each. */
import { frame, goodStream, type Defects } from './good_agent.js';
import { events, json, jsonText, taskText, type Answer } from './odd_agent.js';

export interface Defect {
  readonly name: string;
  readonly defects: Defects;
  /** The checks that are broken, each with its rule. */
  readonly finding: Readonly<Record<string, string>>;
  /** What check is told. */
  readonly argv?: readonly string[];
}

// ---- Answers ----

const result =
  (value: object, around: object = {}): Answer =>
  ({ id }, response) => {
    json(response, { jsonrpc: '2.0', id, result: value, ...around });
  };

const resultText =
  (text: string): Answer =>
  ({ id }, response) => {
    jsonText(response, `{"jsonrpc":"2.0","id":"${id}","result":${text}}`);
  };

const error =
  (code: number, idEnd = ''): Answer =>
  ({ id }, response) => {
    json(response, { jsonrpc: '2.0', id: id + idEnd, error: { code, message: 'no' } });
  };

const head =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (_asked, response) => {
    response.writeHead(status, headers).end('{}');
  };

const stream =
  (framesOf: (id: string) => readonly string[]): Answer =>
  ({ id }, response) => {
    events(response, framesOf(id));
  };

const forTask1 =
  (known: Answer, unknown: Answer): Answer =>
  (asked, response) => {
    (asked.body.includes('"id":"task-1"') ? known : unknown)(asked, response);
  };

const JSON_TYPE = { 'content-type': 'application/json' };
const MESSAGE = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } };
const OF_ANOTHER_TASK = { statusUpdate: { taskId: 'task-2', contextId: 'context-1', status: { state: 'TASK_STATE_COMPLETED' } } };

// ---- The table ----

const OF_ANY_ANSWER: readonly Defect[] = [
  { name: 'another id', defects: { GetTask: error(-32001, '0') }, finding: { 'jsonrpc.id': 'broken jsonrpc.id' } },
  {
    name: 'another content type',
    defects: { ListTasks: head(200, { 'content-type': 'text/html' }) },
    finding: { 'http.content_type': 'broken http.content_type' },
  },
  {
    name: 'a compressed answer',
    defects: { ListTasks: head(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }) },
    finding: { 'http.content_encoding': 'broken http.content_encoding' },
  },
  { name: 'a redirect', defects: { ListTasks: head(307, { location: '/' }) }, finding: { 'http.answer': 'broken http.redirect' } },
  {
    name: 'a lost connection',
    defects: { ListTasks: (_asked, response) => response.destroy() },
    finding: { 'http.answer': 'broken http.connection_lost' },
  },
  { name: 'no answer in time', defects: { ListTasks: () => undefined }, finding: { 'http.answer': 'broken deadline.total' }, argv: ['--timeout', '2s'] },
  {
    name: 'too large an answer',
    defects: { ListTasks: result({ tasks: [], x: 'x'.repeat(3_000) }) },
    finding: { limits: 'broken limit.response_bytes' },
    argv: ['--max-response-bytes', '2K'],
  },
  { name: 'a member twice', defects: { ListTasks: resultText('{"tasks":[],"tasks":[]}') }, finding: { json: 'broken json.duplicate_member' } },
  {
    name: 'an unknown member around the result',
    defects: { ListTasks: result({ tasks: [] }, { extra: 1 }) },
    finding: { 'jsonrpc.envelope': 'broken jsonrpc.members' },
  },
  { name: 'a result of another shape', defects: { ListTasks: result({ tasks: 1 }) }, finding: { 'a2a.payload': 'broken a2a.schema' } },
  {
    name: 'another task than was asked for',
    defects: { GetTask: forTask1(resultText(taskText('', 'TASK_STATE_COMPLETED', 'task-2')), error(-32001)) },
    finding: { 'a2a.identity': 'broken a2a.identity' },
  },
];

const OF_ERRORS: readonly Defect[] = [
  {
    name: 'another error for an unknown task',
    defects: { GetTask: forTask1(resultText(taskText('')), error(-32603)) },
    finding: { 'errors.unknown_task': 'broken' },
  },
  { name: 'no error for an unknown method', defects: { NoSuchMethod: result({}) }, finding: { 'errors.unknown_method': 'broken' } },
  { name: 'no error for malformed JSON', defects: { malformed: head(400) }, finding: { 'errors.malformed_json': 'broken http.status' } },
  { name: 'the wrong version taken for the right one', defects: { version: error(-32001) }, finding: { 'errors.wrong_version': 'broken' } },
  {
    name: 'another error for the stream of an unknown task',
    defects: { SubscribeToTask: error(-32603) },
    finding: { 'errors.unknown_task_stream': 'broken' },
  },
  { name: 'no streams', defects: { SubscribeToTask: error(-32004), SendStreamingMessage: error(-32004) }, finding: {} },
];

const OF_MESSAGES: readonly Defect[] = [
  {
    name: 'a status in place of an answer',
    defects: { SendMessage: head(500) },
    finding: { 'tasks.send': 'broken http.status', 'tasks.cancel': 'broken http.status' },
  },
  { name: 'a message in place of a task', defects: { SendMessage: result(MESSAGE) }, finding: {} },
  { name: 'its own error for each message', defects: { SendMessage: error(-32000), SendStreamingMessage: error(-32000) }, finding: {} },
  {
    name: 'callers turned away after the first',
    defects: { NoSuchMethod: head(429), ListTasks: head(503), SendStreamingMessage: head(429) },
    finding: {},
  },
  { name: 'a task that is not canceled', defects: { CancelTask: error(-32002) }, finding: {} },
  { name: 'a status for a cancellation', defects: { CancelTask: head(502) }, finding: { 'tasks.cancel': 'broken http.status' } },
];

const OF_STREAMS: readonly Defect[] = [
  {
    name: 'a line that is no event',
    defects: { SendStreamingMessage: stream((id) => ['retry: 1\n', ...goodStream(id)]) },
    finding: { 'sse.framing': 'broken sse.field' },
  },
  {
    name: 'an event id twice',
    defects: { SendStreamingMessage: stream((id) => goodStream(id).map((text) => text.replace(/^id: \d/, 'id: 1'))) },
    finding: { 'sse.ids_unique': 'broken sse.id_duplicate' },
  },
  {
    name: 'ids with a gap, where none is wanted',
    defects: { SendStreamingMessage: stream((id) => goodStream(id).map((text) => text.replace(/^id: 2/, 'id: 3'))) },
    finding: { 'stream.event_ids': 'broken sse.id_gap' },
    argv: ['--event-ids', 'sequential'],
  },
  {
    name: 'a stream that is cut',
    defects: { SendStreamingMessage: stream((id) => goodStream(id).slice(0, 1)) },
    finding: { 'stream.lifecycle': 'broken stream.incomplete' },
  },
  {
    name: 'a stream without any event',
    defects: { SendStreamingMessage: stream(() => []) },
    finding: { 'stream.lifecycle': 'broken stream.incomplete' },
  },
  {
    name: 'an event about another task',
    defects: { SendStreamingMessage: stream((id) => [...goodStream(id).slice(0, 1), frame(id, OF_ANOTHER_TASK)]) },
    finding: { 'a2a.identity': 'broken stream.identity' },
  },
  {
    name: 'a stream that stays open after its end',
    defects: {
      SendStreamingMessage: ({ id }, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(goodStream(id).join(''));
      },
    },
    finding: { 'stream.end': 'broken' },
  },
  { name: 'a stream of one message', defects: { SendStreamingMessage: stream((id) => [frame(id, MESSAGE, 'id: x\n')]) }, finding: {} },
];

export const DEFECTS: readonly Defect[] = [...OF_ANY_ANSWER, ...OF_ERRORS, ...OF_MESSAGES, ...OF_STREAMS];
