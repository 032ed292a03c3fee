/** One remote agent by its base URL: its card, its interface, its dialect and its tasks. */
export { RemoteAgent } from './remote_agent.js';
export type { AgentReply } from './remote_agent.js';
export type { AgentCallSettings, AgentLimits, FollowSettings, RemoteAgentOptions, SendSettings } from './options.js';
export { TaskStream } from './task_stream.js';
