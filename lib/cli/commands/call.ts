/** `a2a-strict call` */
import { parseJson, type JsonValue } from '../../wire/json.js';
import { Refusal } from '../../failure.js';
import { textOf } from '../files.js';
import { Raw } from '../output.js';
import { CALL_MS } from '../policy.js';
import { safeJson } from '../sanitize.js';
import type { Session } from '../session.js';
import { withAgent } from '../target.js';
import { UsageError } from '../usage_error.js';

export async function call(session: Session): Promise<number> {
  const { output, io, signal, words } = session;
  const [, method = '', text] = words;
  const params = text === undefined ? undefined : parse(await textOf([text], io, signal));
  const { result, raw } = await withAgent(session, CALL_MS, (agent) => agent.rpcCall(method, params, undefined, { signal }));
  if (output.json) await output.object({ result: new Raw(raw) });
  else await output.line(safeJson(JSON.stringify(result, undefined, raw.length > MAX_INDENTED_BYTES ? undefined : 2)));
  return 0;
}

/** Indented, a deep answer is a hundred times as long. */
const MAX_INDENTED_BYTES = 256 * 1024;

/** As strict as with an agent's answer: a member that is there twice would be lost without a word. */
function parse(text: string): JsonValue {
  try {
    return parseJson(Buffer.from(text)).value as JsonValue;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new UsageError(error.rule === 'json.syntax' ? 'PARAMS is no JSON' : `PARAMS is no I-JSON (${error.rule})`);
  }
}
