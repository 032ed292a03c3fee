/** `a2a-strict stream` */
import { userText } from '../../dialect/request.js';
import type { StreamItem } from '../../stream.js';
import { TextProgress } from '../../text/progress.js';
import { failureOfTask } from '../../text/reply.js';
import { cancelOnInterrupt } from '../cancel_on_interrupt.js';
import type { CalledAgent } from '../exact_agent.js';
import { textOf } from '../files.js';
import { Raw } from '../output.js';
import { boundsOf } from '../policy.js';
import { safeText } from '../sanitize.js';
import type { Session } from '../session.js';
import { sayState } from '../state_note.js';
import { withAgent } from '../target.js';
import { stateName } from '../task_view.js';
import { UsageError } from '../usage_error.js';

export async function stream(session: Session): Promise<number> {
  const { io, signal, words, given } = session;
  const [, ...text] = words;
  const taskId = given.text('task-id');
  if (text.length > 0) {
    const message = { ...userText(await textOf(text, io, signal)), taskId, contextId: given.text('context-id') };
    return withAgent(session, undefined, (agent) => follow(session, agent, taskId, agent.stream(message, { signal })));
  }
  if (taskId === undefined) throw new UsageError('stream takes a TEXT, or the --task-id to go on with');
  return withAgent(session, undefined, (agent) => follow(session, agent, taskId, agent.subscribeToTask(taskId, { signal })));
}

async function follow(session: Session, agent: CalledAgent, taskId: string | undefined, items: AsyncIterable<StreamItem>): Promise<number> {
  const { output, given } = session;
  // What an event says is shorter than the event: the bound of the stream is met first.
  const progress = new TextProgress(boundsOf(given).maxStreamBytes);
  let events = 0;
  cancelOnInterrupt(session, agent, () => progress.taskId ?? taskId);
  for await (const item of items) {
    events++;
    const text = progress.accept(item);
    if (output.json) await output.object({ id: item.id, result: new Raw(item.raw) });
    else await output.write(safeText(text));
    const state = progress.state === undefined ? '' : `${stateName(progress.state)}, `;
    output.progress(`${state}${String(events)} event${events === 1 ? '' : 's'}`);
  }
  if (!output.json) await output.endLine();
  if (progress.failed !== undefined) throw failureOfTask(progress.failed);
  if (!output.json) sayState(output, progress);
  return 0;
}
