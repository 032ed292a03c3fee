/** What this release was verified with. */

/** The A2A protocol versions that `StrictClient` speaks. */
export const PROTOCOL_VERSIONS = Object.freeze(['1.0', '0.3'] as const);

/** The version of `@a2a-js/sdk` whose types and servers this release was tested with. */
export const A2A_SDK_VERSION = '1.3.0';

/** The version of `undici` this release was tested with. */
export const UNDICI_VERSION = '8.13.1';
