/** The card, its signature, and the interface that it offers. */
import type { AgentCard } from '@a2a-js/sdk';
import type { Dispatcher } from 'undici';
import {
  fetchAgentCard,
  selectInterface,
  verifyAgentCard,
  type CardOptions,
  type CardVerification,
  type FetchedCard,
  type SelectOptions,
  type SelectedInterface,
} from '../../../discovery/index.js';
import { shownUrl } from '../../target.js';
import { safeLine } from '../../sanitize.js';
import { broken, brokenBy, failureFrom, kept, notExercised, type Finding } from '../finding.js';

export const CARD = { check: 'card', title: 'card' };
export const SIGNATURE = { check: 'card.signature', title: 'signature' };
export const INTERFACE = { check: 'card.interface', title: 'interface' };

interface CardFinding {
  readonly finding: Finding;
  readonly fetched: FetchedCard | undefined;
}

/** @throws {Failure} one that says nothing of the agent */
export async function fetchCard(dispatcher: Dispatcher, url: string, options: CardOptions): Promise<CardFinding> {
  try {
    const fetched = await fetchAgentCard(dispatcher, url, options);
    const { card, generation, raw } = fetched;
    return { fetched, finding: kept(CARD, `${safeLine(card.name)}, written in ${generation}, ${String(raw.length)} bytes`) };
  } catch (error) {
    const failure = failureFrom(error);
    const { kind, rule, status } = failure;
    if (kind !== 'protocol' && kind !== 'response_too_large' && rule !== 'http.redirect' && status !== 404) throw failure;
    const advice = 'serve the card at /.well-known/agent-card.json below the base URL, as application/json, in the shape of the protocol';
    return { fetched: undefined, finding: brokenBy(CARD, failure, advice) };
  }
}

export async function judgeSignature(fetched: FetchedCard, verification: CardVerification | undefined): Promise<Finding> {
  const { signatures } = fetched.card;
  if (verification === undefined) {
    return notExercised(SIGNATURE, signatures.length === 0 ? 'the card is not signed' : 'the card is signed; --jwks FILE verifies it');
  }
  try {
    const { signedBy } = await verifyAgentCard(fetched, verification);
    if (signedBy === undefined) return notExercised(SIGNATURE, 'the card is not signed');
    return kept(SIGNATURE, `holds under the key ${safeLine(signedBy)}`);
  } catch (error) {
    const failure = failureFrom(error);
    if (failure.kind !== 'protocol') throw failure;
    return brokenBy(SIGNATURE, failure, 'sign the card (A2A 1.0 section 8.4) with a key that callers are given');
  }
}

export function judgeInterface(card: AgentCard, options: SelectOptions): { finding: Finding; selected: SelectedInterface | undefined } {
  let selected: SelectedInterface;
  try {
    selected = selectInterface(card, options);
  } catch (error) {
    const failure = failureFrom(error);
    if (failure.rule !== 'card.interface') throw failure;
    return { selected: undefined, finding: brokenBy(INTERFACE, failure, 'offer an interface of protocolBinding JSONRPC, version 1.0 or 0.3') };
  }
  const { endpoint, protocolVersion, reason } = selected;
  const says = `JSON-RPC, A2A ${protocolVersion}, at ${shownUrl(endpoint)}`;
  if (reason !== 'base_fallback') return { selected, finding: kept(INTERFACE, says) };
  const advice = "list an interface on the card's own origin, or have callers who trust its author allow others (allowCrossOriginInterfaces)";
  return { selected, finding: broken(INTERFACE, `its URL cannot be used or is on another origin: calls go to the base URL, ${says}`, advice) };
}
