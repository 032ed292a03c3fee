/** `--cancel-on-interrupt` */
import { failureOf } from '../failure.js';
import { stateOf } from '../text/reply.js';
import type { CalledAgent } from './exact_agent.js';
import { wordsOf } from './failure_report.js';
import { safeLine } from './sanitize.js';
import type { Session } from './session.js';
import { stateName } from './task_view.js';

/** How long an agent may take to cancel a task whose user waits for the prompt. */
const CANCEL_MS = 10_000;

/** Where the user wants that, the task is canceled before the command ends. @param taskId what is known of it by then */
export function cancelOnInterrupt({ given, interruption, output }: Session, agent: CalledAgent, taskId: () => string | undefined): void {
  if (given.flag('cancel-on-interrupt') === undefined) return;
  interruption.beforeEnd = async () => {
    const id = taskId();
    if (id === undefined) {
      output.note('no task is known yet: none is canceled');
      return;
    }
    output.note(`canceling task ${safeLine(id)}`);
    try {
      const { result } = await agent.cancelTask(id, { signal: AbortSignal.timeout(CANCEL_MS) });
      output.note(`it is ${stateName(stateOf(result))}`);
    } catch (error) {
      const failure = failureOf(error);
      output.note(`it could not be canceled: ${failure === undefined ? 'an error of its own' : `${failure.rule}, ${wordsOf(failure)}`}`);
    }
  };
}
