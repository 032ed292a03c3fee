/** What one step of the scenario is. */
import type { Part, ProtocolVersion } from '../../lib/index.js';
import type { Peer } from './peer.js';

export interface Silence {
  /** How long the agent says nothing in the midst of a stream. */
  readonly quietMs: number;
  /** After how long of it a proxy would cut the connection: less. */
  readonly idleMs: number;
}

export interface Step {
  /** What is asked of the server, as the subject of a sentence; unique. */
  readonly name: string;
  /** Absent: asked in both. */
  readonly dialect?: ProtocolVersion;
  /** Asked only of servers that have one dialect alone. */
  readonly onlyOfOneDialect?: true;
  /** `first`: the others use what it found out. `beside`: it takes long, and the others go on. Absent: in its turn. */
  readonly turn?: 'first' | 'beside';
  /** Ends well, or in the failure or the assertion that the step ended in. */
  readonly run: (peer: Peer, silence: Silence) => Promise<void>;
}

/** What the parts of a message or an artifact hold. */
export function contents(parts: readonly Part[]): Part['content'][] {
  return parts.map(({ content }) => content);
}
