/** Text in, text out: `a2a-strict/text`. */
export { textPeer } from './peer.js';
export { pipeToSse } from './pipe_to_sse.js';
export { FailedTask } from './reply.js';
export type { TextAgent } from './endpoint_agent.js';
export type { TextLimits, TextPeerOptions, TextSettings } from './options.js';
export type { TextPeer } from './peer.js';
export type { PipeToSseOptions } from './pipe_to_sse.js';
export type { TextReply } from './reply.js';
export type { TextStream } from './text_stream.js';
