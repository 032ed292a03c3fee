/** How a failure is told: to a person, or as JSON. */
import { RemoteError, type Failure, type FailureRule } from '../failure.js';
import { FailedTask } from '../text/reply.js';
import type { Members, Output } from './output.js';
import { RULE_HINTS, RULE_WORDS } from './rule_words.js';
import { safeLine, safeText } from './sanitize.js';

/** Prints a failure: with `--json` as one more value on stdout, else on stderr. */
export async function report(output: Output, failure: Failure): Promise<void> {
  if (output.json) {
    await output.object(failureMembers(failure));
    return;
  }
  await output.endLine();
  output.note(`a2a-strict: ${failure.kind} (${failure.rule}): ${wordsOf(failure)}`, 'red');
  const details = detailsOf(failure);
  if (details !== '') output.note(`  ${details}`);
  const said = agentWords(failure);
  if (said !== undefined) output.note(`  the agent says: ${said}`);
  const hint = hintOf(failure);
  if (hint !== undefined) output.note(`  hint: ${hint}`);
}

/** What a failure says itself, which may be logged; beside it, under a name of its own, what the agent said. */
export function failureMembers(failure: Failure): Members {
  const { kind, rule, delivery, status, code, path, retryAfterMs } = failure;
  const cause = failure.unwrap();
  return {
    failure: { kind, rule, delivery, status, code, path, retryAfterMs },
    ...(cause instanceof RemoteError && { error: { code: cause.code, message: cause.message, data: cause.data } }),
  };
}

export function wordsOf(failure: Failure): string {
  const reason = reasonOf(failure);
  return `${RULE_WORDS[failure.rule]}${reason === undefined ? '' : ` (${reason})`}`;
}

function detailsOf({ status, code, path, delivery, retryAfterMs }: Failure): string {
  return [
    status !== undefined && `status ${String(status)}`,
    code !== undefined && `code ${String(code)}`,
    path !== undefined && `at ${path}`,
    retryAfterMs !== undefined && `may be tried again in ${String(Math.ceil(retryAfterMs / 1000))} s`,
    delivery === 'not_sent' && (status === undefined ? 'nothing was sent' : 'no call was sent'),
    delivery === 'unknown' && 'the agent may have received the request',
  ]
    .filter((detail) => detail !== false)
    .join(', ');
}

function agentWords(failure: Failure): string | undefined {
  const cause = failure.unwrap();
  if (cause instanceof RemoteError) return safeLine(cause.message, 1000);
  // Set in: none of its lines is taken for one of ours.
  if (cause instanceof FailedTask && cause.text !== '') return safeText(cause.text).replaceAll('\n', '\n    ');
  return undefined;
}

function hintOf({ rule, status }: Failure): string | undefined {
  if (rule === 'http.status' && (status === 401 || status === 403)) return 'credentials: --header-env Authorization=VARIABLE';
  if (rule === 'http.status' && (status === 404 || status === 405)) {
    return 'is this the right URL? below a base URL there is a card, an exact endpoint needs --exact';
  }
  return RULE_HINTS[rule];
}

/** Where the reason is in our own words or Node's, and neither the address nor a header is in them. */
const TOLD: ReadonlySet<FailureRule> = new Set(['options.dispatcher', 'network.refused', 'card.keys']);

function reasonOf(failure: Failure): string | undefined {
  const cause = failure.unwrap();
  if (TOLD.has(failure.rule) && cause instanceof Error) return safeLine(cause.message);
  return codeOf(cause);
}

/** What Node or undici call the error behind a failure: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. Its message is not told: it may hold the address. */
export function codeOf(cause: unknown): string | undefined {
  const errors: unknown[] = [cause];
  for (const error of errors) {
    if (!(error instanceof Error)) continue;
    if ('code' in error && typeof error.code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(error.code)) return error.code;
    if (error instanceof AggregateError) errors.push(...(error.errors as unknown[]).slice(0, 8));
    if (errors.length < 8) errors.push(error.cause);
  }
  return undefined;
}
