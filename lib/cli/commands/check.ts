/** `a2a-strict check` */
import { checkAgent } from '../check/check_agent.js';
import type { Finding, State } from '../check/finding.js';
import { EXIT } from '../exit_codes.js';
import type { Output, Style } from '../output.js';
import { textOf } from '../files.js';
import { CALL_MS, boundsOf, cardOf, eventIdsOf, httpOf, verificationOf } from '../policy.js';
import type { Session } from '../session.js';
import { targetOf, withDispatcher } from '../target.js';
import { UsageError } from '../usage_error.js';

const DEFAULT_TEXT = 'Hello';
/** As long as an agent may be silent. */
const MESSAGE_MS = 5 * 60_000;

export async function check(session: Session): Promise<number> {
  const { output, given, io, signal, words } = session;
  const [url = '', ...text] = words;
  const maySend = given.flag('send') === true;
  if (!maySend && text.length > 0) throw new UsageError('check sends a TEXT only with --send');
  const request = {
    target: targetOf(url, given),
    call: { ...httpOf(given, io.env, CALL_MS), ...boundsOf(given), eventIds: eventIdsOf(given), extensions: given.list('extension'), signal },
    card: cardOf(given),
    verification: verificationOf(given),
    allowCrossOriginInterfaces: given.flag('allow-cross-origin-interfaces'),
    text: maySend ? (text.length === 0 ? DEFAULT_TEXT : await textOf(text, io, signal)) : undefined,
    messageTimeoutMs: given.time('timeout', MESSAGE_MS),
    progress: (asked: string): void => {
      output.progress(`asking for ${asked}`);
    },
  };
  const findings = await withDispatcher(session, (dispatcher) => checkAgent(dispatcher, request));
  for (const finding of findings) await print(output, finding);
  const count = (state: State): number => findings.filter((finding) => finding.state === state).length;
  const summary = { kept: count('kept'), broken: count('broken'), not_exercised: count('not_exercised') };
  if (output.json) await output.object({ summary });
  else await output.line(`\n${String(summary.kept)} kept, ${String(summary.broken)} broken, ${String(summary.not_exercised)} not exercised`);
  return summary.broken === 0 ? EXIT.ok : EXIT.broken;
}

const LOOKS: Readonly<Record<State, { readonly mark: string; readonly words: string; readonly style: Style }>> = {
  kept: { mark: '✓', words: 'kept', style: 'green' },
  broken: { mark: '✗', words: 'broken', style: 'red' },
  not_exercised: { mark: '–', words: 'not exercised', style: 'dim' },
};

async function print(output: Output, { title, state, rule, says, advice, check: name }: Finding): Promise<void> {
  if (output.json) {
    await output.object({ check: name, state, rule, says, advice });
    return;
  }
  const { mark, words, style } = LOOKS[state];
  const why = rule === undefined ? says : `${rule}: ${says}`;
  const what = advice === undefined ? '' : state === 'broken' ? ` — tell its owner: ${advice}` : ` — ${advice}`;
  await output.line(`${output.style(style, `${mark} ${words.padEnd(14)}`)} ${title.padEnd(18)} ${why}${what}`);
}
