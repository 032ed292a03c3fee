/** `a2a-strict card` */
import type { AgentCard } from '@a2a-js/sdk';
import { fetchAgentCard, selectInterface, type FetchedCard, type SelectedInterface } from '../../discovery/index.js';
import { failureOf } from '../../failure.js';
import { Raw, type Output } from '../output.js';
import { CALL_MS, cardOf, httpOf, verificationOf } from '../policy.js';
import { safeLine } from '../sanitize.js';
import type { Session } from '../session.js';
import { shownUrl, targetOf, withDispatcher } from '../target.js';
import { UsageError } from '../usage_error.js';

export async function card(session: Session): Promise<number> {
  const { output, io, given, signal, words } = session;
  const target = targetOf(words[0] ?? '', given);
  if (target.kind === 'exact') throw new UsageError('a card is fetched from a base URL');
  const options = { ...httpOf(given, io.env, CALL_MS), ...cardOf(given), verify: verificationOf(given), signal };
  const fetched = await withDispatcher(session, (dispatcher) => {
    output.progress('fetching the card');
    return fetchAgentCard(dispatcher, target.url, options);
  });
  const selected = select(fetched.card, {
    baseUrl: target.url,
    protocolVersions: target.dialects,
    allowCrossOriginInterfaces: given.flag('allow-cross-origin-interfaces'),
  });
  if (output.json) {
    const { url, generation, signedBy = null, raw } = fetched;
    const shown = selected === undefined ? null : { ...selected, endpoint: shownUrl(selected.endpoint) };
    await output.object({ url: shownUrl(url), generation, signedBy, selected: shown, card: new Raw(raw) });
  } else {
    await print(output, fetched, selected);
  }
  return 0;
}

/** That none fits is no failure of `card`, which shows what there is. */
function select(fetched: AgentCard, options: Parameters<typeof selectInterface>[1]): SelectedInterface | undefined {
  try {
    return selectInterface(fetched, options);
  } catch (error) {
    if (failureOf(error)?.rule === 'card.interface') return undefined;
    throw error;
  }
}

const REASONS: Readonly<Record<SelectedInterface['reason'], string>> = {
  base_match: 'it is the one at the base URL',
  first_listed: 'the first that is listed',
  base_fallback: 'the base URL stands in for one on another origin, see --allow-cross-origin-interfaces',
};

async function print(output: Output, fetched: FetchedCard, selected: SelectedInterface | undefined): Promise<void> {
  const { card: shown, url, generation, signedBy, raw } = fetched;
  const field = async (name: string, ...values: readonly string[]): Promise<void> => {
    if (values.length > 0) await output.line(`${output.style('bold', name.padEnd(13))}${values.join(`\n${' '.repeat(13)}`)}`);
  };
  const lines = <T>(list: readonly T[], lineOf: (one: T) => string): string[] => list.map((one) => safeLine(lineOf(one)));
  await field('agent', safeLine(`${shown.name} ${shown.version}`.trim()), ...(shown.description === '' ? [] : [safeLine(shown.description, 1000)]));
  if (shown.provider !== undefined) await field('provider', safeLine(`${shown.provider.organization} ${shown.provider.url}`.trim()));
  await field('card', `${shownUrl(url)} (${generation}, ${String(raw.length)} bytes)`);
  await field('signature', signatureWords(shown, signedBy));
  await field('interfaces', ...shown.supportedInterfaces.map((one) => `${safeLine(`${one.protocolBinding} ${one.protocolVersion}`)}  ${shownUrl(one.url)}`));
  await field('calls go to', ...destination(selected));
  await field('capabilities', capabilities(shown));
  await field('extensions', ...lines(shown.capabilities?.extensions ?? [], ({ uri, required }) => `${uri}${required ? ' (required)' : ''}`));
  const schemes = Object.entries(shown.securitySchemes);
  await field('credentials', ...lines(schemes, ([name, { scheme }]) => `${name}: ${scheme?.$case ?? 'unknown'}`));
  const words = (all: readonly string[]): string => all.filter((word) => word !== '').join(': ');
  await field('skills', ...lines(shown.skills, ({ id, name, description }) => words([id, name, description])));
}

function destination(selected: SelectedInterface | undefined): readonly string[] {
  if (selected === undefined) return ['nowhere: there is no JSON-RPC interface of a version that is spoken here'];
  const { endpoint, protocolVersion, tenant, reason } = selected;
  return [`${shownUrl(endpoint)}  A2A ${protocolVersion}${tenant === '' ? '' : `, tenant ${safeLine(tenant)}`}`, `(${REASONS[reason]})`];
}

function signatureWords({ signatures }: AgentCard, signedBy: string | undefined): string {
  if (signedBy !== undefined) return `verified, by the key ${safeLine(signedBy)}`;
  return signatures.length === 0 ? 'none' : 'not verified: give the keys with --jwks';
}

function capabilities({ capabilities: has }: AgentCard): string {
  const names = [
    has?.streaming === true ? 'streaming' : '',
    has?.pushNotifications === true ? 'push notifications' : '',
    has?.extendedAgentCard === true ? 'extended card' : '',
  ].filter((name) => name !== '');
  return names.length === 0 ? 'none' : names.join(', ');
}
