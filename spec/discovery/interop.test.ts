import { generateAgentCardSignature, type AgentCard } from '@a2a-js/sdk';
import { agentCardHandler } from '@a2a-js/sdk/server/express';
import express, { type RequestHandler } from 'express';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { Agent, request } from 'undici';
import { AgentCardCache, fetchAgentCard, selectInterface } from '../../lib/discovery/index.js';
import { decodeCard } from '../../lib/discovery/card.js';
import { StrictClient, userText, type Task } from '../../lib/index.js';
import { startAgent } from '../demo/agent.js';
import { keep, keepDispatcher } from '../hostile/keep.js';
import { WELL_KNOWN } from './agent.js';

class CardSite {
  readonly #server: Server;
  readonly statuses: number[] = [];

  private constructor(handler: RequestHandler) {
    const app = express();
    app.use((_, answer, next) => {
      answer.on('finish', () => this.statuses.push(answer.statusCode));
      next();
    });
    app.use(WELL_KNOWN, handler);
    this.#server = createServer((incoming, answer) => {
      app(incoming, answer);
    });
  }

  static async open(t: TestContext, card: AgentCard, maxAge: number): Promise<CardSite> {
    const site = keep(t, new CardSite(agentCardHandler({ agentCardProvider: () => Promise.resolve(card), legacyCompat: { enabled: true }, cache: { maxAge } })));
    site.#server.listen(0, '127.0.0.1');
    await once(site.#server, 'listening');
    return site;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

function cardOf(url: string): AgentCard {
  const rpc = { url, protocolBinding: 'JSONRPC', tenant: '' };
  return {
    name: 'Official agent 🧀',
    description: '',
    supportedInterfaces: [{ ...rpc, protocolVersion: '1.0' }, { ...rpc, protocolVersion: '0.3' }],
    provider: { organization: 'Example', url: 'https://example.com' },
    version: '1.0.0',
    documentationUrl: '',
    capabilities: { streaming: true, pushNotifications: false, extensions: [{ uri: 'x:y', description: '', required: false, params: undefined }], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 's', name: 'S', description: 'D', tags: [], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
    signatures: [],
  };
}

async function signed(card: AgentCard): Promise<{ card: AgentCard; jwk: JWK }> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const card2 = await generateAgentCardSignature(privateKey, { alg: 'ES256', kid: 'k', typ: 'JOSE' })(card);
  return { card: card2, jwk: { ...(await exportJWK(publicKey)), kid: 'k' } };
}

describe('The official agent', () => {
  test('is found by its base URL, its card verified, its interface called in either dialect', async (t) => {
    const agent = keep(t, await startAgent());
    const { card, jwk } = await signed(cardOf(agent.url));
    const site = await CardSite.open(t, card, 60);
    const dispatcher = keepDispatcher(t, new Agent());
    const verify = { keys: [jwk], algorithms: ['ES256'], requireSignature: true } as const;
    const fetched = await fetchAgentCard(dispatcher, site.origin, { verify });
    assert.deepEqual([fetched.card.name, fetched.generation, fetched.signedBy], [card.name, '1.0', 'k']);
    // The agent is on another port than its card.
    assert.equal(selectInterface(fetched.card, { baseUrl: site.origin }).endpoint, `${site.origin}/`);
    for (const protocolVersion of ['1.0', '0.3'] as const) {
      const selected = selectInterface(fetched.card, { baseUrl: site.origin, allowCrossOriginInterfaces: true, protocolVersions: [protocolVersion] });
      assert.deepEqual(selected, { endpoint: agent.url, protocolVersion, tenant: '', reason: 'first_listed' });
      const { result } = await new StrictClient(dispatcher).sendMessage(
        { endpoint: selected.endpoint, protocolVersion: selected.protocolVersion, maxResponseBytes: 100_000, timeoutMs: 10_000 },
        { message: userText('two words') },
      );
      assert.equal((result.value as Task).artifacts[0]?.parts.length, 3);
    }
  });

  test('says how long its card is fresh, and confirms it', async (t) => {
    const dispatcher = keepDispatcher(t, new Agent());
    const fresh = await CardSite.open(t, cardOf('http://127.0.0.1:9/'), 60);
    const cache = new AgentCardCache();
    for (let call = 0; call < 3; call++) await cache.get(dispatcher, fresh.origin);
    assert.deepEqual(fresh.statuses, [200]);
    const stale = await CardSite.open(t, cardOf('http://127.0.0.1:9/'), 0);
    for (let call = 0; call < 3; call++) assert.equal((await cache.get(dispatcher, stale.origin)).card.name, 'Official agent 🧀');
    assert.deepEqual(stale.statuses, [200, 304, 304]);
  });

  test("'s card for clients of 0.3 carries both shapes, and is read by its supported interfaces", async (t) => {
    const site = await CardSite.open(t, cardOf('http://127.0.0.1:9/rpc'), 60);
    const { body } = await request(site.origin + WELL_KNOWN, { dispatcher: keepDispatcher(t, new Agent()), headers: { 'a2a-version': '0.3' } });
    const value = (await body.json()) as Record<string, unknown>;
    assert.ok('url' in value && 'supportedInterfaces' in value);
    const both = decodeCard(Buffer.from(JSON.stringify(value)));
    assert.deepEqual([both.generation, both.card.supportedInterfaces.map((one) => one.protocolVersion)], ['1.0', ['1.0', '0.3']]);
    const old = decodeCard(Buffer.from(JSON.stringify({ ...value, supportedInterfaces: undefined })));
    assert.deepEqual([old.generation, old.card.supportedInterfaces.map((one) => one.protocolVersion)], ['0.3', ['0.3']]);
    assert.deepEqual(old.card.capabilities, { streaming: true, pushNotifications: false, extensions: [{ uri: 'x:y', description: '', required: false, params: undefined }], extendedAgentCard: false });
  });
});
