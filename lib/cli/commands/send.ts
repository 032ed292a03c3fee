/** `a2a-strict send` */
import { TaskState } from '@a2a-js/sdk';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SendMessageResult } from '../../dialect/dialect.js';
import { Failure } from '../../failure.js';
import { userText, type MessageInput } from '../../dialect/request.js';
import { replyOf, stateOf, type TextReply } from '../../text/reply.js';
import type { Reply } from '../../unary.js';
import { cancelOnInterrupt } from '../cancel_on_interrupt.js';
import type { CalledAgent } from '../exact_agent.js';
import { textOf } from '../files.js';
import { Raw } from '../output.js';
import { safeText } from '../sanitize.js';
import type { Session } from '../session.js';
import { sayState } from '../state_note.js';
import { withAgent } from '../target.js';

const LOOK_MS = 1_000;

export async function send(session: Session): Promise<number> {
  const { output, io, given, signal, words } = session;
  const text = await textOf(words.slice(1), io, signal);
  const message = { ...userText(text), taskId: given.text('task-id'), contextId: given.text('context-id') };
  const reply = await withAgent(session, undefined, (agent) =>
    given.flag('cancel-on-interrupt') === true ? watched(session, agent, message) : agent.sendMessage(message, { signal }),
  );
  if (output.json) await output.object({ result: new Raw(reply.raw) });
  const answer = replyOf(reply);
  if (!output.json) await print(session, answer);
  return 0;
}

async function print({ output }: Session, answer: TextReply): Promise<void> {
  await output.write(safeText(answer.text));
  await output.endLine();
  if (answer.text === '') output.remark('no text; --json shows the whole answer');
  sayState(output, answer);
}

/** Does not wait for the answer, but looks at the task until it has one: its id is known as soon as there is one. */
async function watched(session: Session, agent: CalledAgent, message: MessageInput): Promise<Reply<SendMessageResult>> {
  const { output, given } = session;
  const timeoutMs = given.time('timeout');
  const endsAt = timeoutMs === undefined ? Infinity : performance.now() + timeoutMs;
  // The clock is that of all requests together.
  const signal = timeoutMs === undefined ? session.signal : AbortSignal.any([session.signal, AbortSignal.timeout(timeoutMs)]);
  let taskId = message.taskId;
  cancelOnInterrupt(session, agent, () => taskId);
  const reply = await agent.sendMessage(message, { signal, configuration: { returnImmediately: true } });
  if (reply.result.$case === 'message') return reply;
  let { value: task } = reply.result;
  let { raw } = reply;
  taskId = task.id;
  while (isGoingOn(stateOf(task))) {
    output.progress('the task goes on');
    await sleep(Math.max(0, Math.min(LOOK_MS, endsAt - performance.now())), undefined, { signal: session.signal });
    if (performance.now() >= endsAt) throw new Failure('deadline.total', { delivery: 'answered' });
    ({ result: task, raw } = await agent.getTask(taskId, undefined, { signal }));
  }
  return { result: { $case: 'task', value: task }, raw };
}

function isGoingOn(state: TaskState): boolean {
  return state === TaskState.TASK_STATE_SUBMITTED || state === TaskState.TASK_STATE_WORKING;
}
