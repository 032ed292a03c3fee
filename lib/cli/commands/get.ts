/** `a2a-strict get` */
import { Raw } from '../output.js';
import { CALL_MS } from '../policy.js';
import type { Session } from '../session.js';
import { withAgent } from '../target.js';
import { printTask } from '../task_view.js';

export async function get(session: Session): Promise<number> {
  const { output, given, signal, words } = session;
  const history = given.count('history') ?? 0;
  const { result, raw } = await withAgent(session, CALL_MS, (agent) => agent.getTask(words[1] ?? '', history, { signal }));
  if (output.json) await output.object({ result: new Raw(raw) });
  else await printTask(output, result);
  return 0;
}
