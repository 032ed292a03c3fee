/** `a2a-strict cancel` */
import { Raw } from '../output.js';
import { CALL_MS } from '../policy.js';
import type { Session } from '../session.js';
import { withAgent } from '../target.js';
import { printTask } from '../task_view.js';

export async function cancel(session: Session): Promise<number> {
  const { output, signal, words } = session;
  const { result, raw } = await withAgent(session, CALL_MS, (agent) => agent.cancelTask(words[1] ?? '', { signal }));
  if (output.json) await output.object({ result: new Raw(raw) });
  else await printTask(output, result);
  return 0;
}
