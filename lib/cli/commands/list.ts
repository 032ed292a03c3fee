/** `a2a-strict list` */
import { stateOf } from '../../text/reply.js';
import { Raw } from '../output.js';
import { CALL_MS } from '../policy.js';
import { safeLine, safeText } from '../sanitize.js';
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
  if (result.nextPageToken !== '') output.note(`more: ${tokenWords(result.nextPageToken)}`);
  return 0;
}

const MAX_TOKEN = 4096;

/** As a shell takes it whole and runs nothing of it; a token that is not shown as it is would be another. */
function tokenWords(token: string): string {
  const isShown = token.length <= MAX_TOKEN && !/[\t\n]/.test(token) && safeText(token) === token;
  if (!isShown) return 'the page token cannot be shown here, --json shows it';
  return /^[\w.~:+/][\w.~:+/=-]*$/.test(token) ? `--page-token ${token}` : `--page-token='${token.replaceAll("'", `'\\''`)}'`;
}
