/**
 * Discovery: from a base URL to an agent's card, from its card to an interface, and without a card to a dialect.
 */
export { AgentCardCache } from './cache.js';
export type { AgentCardCacheOptions, CachedCardOptions } from './cache_options.js';
export { fetchAgentCard } from './fetch.js';
export { DialectProbe, probeDialect } from './probe.js';
export type { ProbeOptions } from './probe.js';
export { OfferedInterfaces, selectInterface } from './select.js';
export type { SelectOptions, SelectedInterface } from './select.js';
export type { CardStore, StoredCard } from './store.js';
export type { CardKey, CardOptions, CardSignatureHeader, CardVerification, FetchedCard } from './types.js';
export { verifyAgentCard } from './verify.js';
