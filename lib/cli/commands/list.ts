/** `a2a-strict list` */
import { stateOf } from '../../text/reply.js';
import { Raw } from '../output.js';
import { CALL_MS } from '../policy.js';
import { safeLine } from '../sanitize.js';
import type { Session } from '../session.js';
import { withAgent } from '../target.js';
import { STATES, stateName } from '../task_view.js';

export async function list(session: Session): Promise<number> {
  const { output, given, signal } = session;
  const state = given.choice('state', [...STATES.keys()]);
  const params = {
    contextId: given.text('context-id'),
    status: state === undefined ? undefined : STATES.get(state),
    pageSize: given.count('page-size'),
    pageToken: given.text('page-token'),
  };
  const { result, raw } = await withAgent(session, CALL_MS, (agent) => agent.listTasks(params, { signal }));
  if (output.json) {
    await output.object({ result: new Raw(raw) });
    return 0;
  }
  for (const task of result.tasks) {
    const fields = [safeLine(task.id).padEnd(36), stateName(stateOf(task)).padEnd(14), safeLine(task.status?.timestamp ?? '').padEnd(24)];
    await output.line(`${fields.join('  ')}  ${output.style('dim', safeLine(task.contextId))}`.trimEnd());
  }
  if (result.tasks.length === 0) output.remark('no tasks');
  if (result.nextPageToken !== '') output.note(`more: --page-token ${safeLine(result.nextPageToken)}`);
  return 0;
}
