/** `a2a-strict call` */
import type { JsonValue } from '../../wire/json.js';
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
  else await output.line(safeJson(JSON.stringify(result, undefined, 2)));
  return 0;
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new UsageError('PARAMS is no JSON');
  }
}
