/** An agent that keeps every rule that `check` looks at, unless it is told otherwise. */
import type { ServerResponse } from 'node:http';
import { events, json, taskOf, type Answer, type Asked } from './odd_agent.js';

/** In place of the good answer to one method; `malformed` and `version` are what check sends of those. */
export type Defects = Readonly<Record<string, Answer>>;

export const goodAgent =
  (defects: Defects = {}): Answer =>
  (asked, response) => {
    const defect = defects[kindOf(asked)];
    if (defect !== undefined) defect(asked, response);
    else answerWell(asked, response);
  };

function kindOf({ body, method, headers }: Asked): string {
  if (!isJson(body)) return 'malformed';
  return headers['a2a-version'] === '1.0' ? method : 'version';
}

function isJson(body: string): boolean {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

export function error(response: ServerResponse, id: string | null, code: number): void {
  json(response, { jsonrpc: '2.0', id, error: { code, message: 'no' } });
}

const task = (state: string): object => taskOf('hi', state);

function answerWell(asked: Asked, response: ServerResponse): void {
  const { id, body } = asked;
  const result = (value: object): void => {
    json(response, { jsonrpc: '2.0', id, result: value });
  };
  const knows = body.includes('"id":"task-1"');
  switch (kindOf(asked)) {
    case 'malformed':
      error(response, null, -32700);
      break;
    case 'version':
      error(response, id, -32009);
      break;
    case 'GetTask':
      if (knows) result(task('TASK_STATE_COMPLETED'));
      else error(response, id, -32001);
      break;
    case 'SubscribeToTask':
      error(response, id, -32001);
      break;
    case 'ListTasks':
      result({ tasks: [] });
      break;
    case 'SendMessage':
      result({ task: task(body.includes('returnImmediately') ? 'TASK_STATE_WORKING' : 'TASK_STATE_COMPLETED') });
      break;
    case 'CancelTask':
      result(task('TASK_STATE_CANCELED'));
      break;
    case 'SendStreamingMessage':
      events(response, goodStream(id));
      break;
    default:
      error(response, id, -32601);
  }
}

/** Two events, with ids. */
export function goodStream(id: string): string[] {
  return ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'].map((state, at) => frame(id, { task: task(state) }, `id: ${at + 1}\n`));
}

export function frame(id: string, result: object, before = ''): string {
  return `${before}data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
}
