/**
 * What an application of the official SDK puts in place of the SDK's own transport, card resolver and `fetch`.
 */
export { StrictTransportFactory } from './factory.js';
export { strictFetch } from './fetch.js';
export type { StrictFetchOptions } from './fetch_request.js';
export type { StrictTransportOptions, TransportLimits } from './options.js';
export { StrictCardResolver } from './resolver.js';
export type { StrictCardResolverOptions } from './resolver.js';
