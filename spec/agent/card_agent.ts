/** A raw agent with a card, whose every byte is the test's: it answers `GET` with its card and each `POST` as it is told. */
import type { Socket } from 'node:net';
import { JSON_FIELD, RawServer, response, type SeenRequest } from '../hostile/raw_server.js';

export interface CardAgentSetup {
  /** More members of the card. `origin` is the agent's own. */
  readonly card?: (origin: string) => Record<string, unknown>;
  /** Header fields that come with the card. */
  readonly cardFields?: readonly string[];
  /** Answers a card request in place of the card, or leaves it without one. */
  readonly onCard?: (socket: Socket, request: SeenRequest) => boolean;
  readonly onCall: (socket: Socket, request: SeenRequest) => void;
}

export class CardAgent {
  readonly #server: RawServer;

  private constructor(server: RawServer) {
    this.#server = server;
  }

  static async start({ card, cardFields = [], onCard, onCall }: CardAgentSetup): Promise<CardAgent> {
    const server = await RawServer.listen((socket, request) => {
      if (request.line.startsWith('POST')) {
        onCall(socket, request);
        return;
      }
      if (onCard?.(socket, request) === true) return;
      const { origin } = server;
      const text = JSON.stringify({
        name: 'raw',
        description: 'An agent whose bytes are the test\'s.',
        version: '1',
        supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        capabilities: { streaming: true },
        defaultInputModes: ['text/plain'],
        defaultOutputModes: ['text/plain'],
        skills: [],
        ...card?.(origin),
      });
      socket.write(response(200, [JSON_FIELD, ...cardFields], text));
    });
    return new CardAgent(server);
  }

  get origin(): string {
    return this.#server.origin;
  }

  get cards(): readonly SeenRequest[] {
    return this.#server.requests.filter(({ line }) => line.startsWith('GET'));
  }

  get calls(): readonly SeenRequest[] {
    return this.#server.requests.filter(({ line }) => line.startsWith('POST'));
  }

  get openSockets(): number {
    return this.#server.sockets.size;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
