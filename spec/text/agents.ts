/** Real agents that answer a text with text, made with the official SDK's server, at `/invoke` as `a2a:` addresses want it. */
import { TaskState, type AgentCard } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore, type AgentExecutor } from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler } from '@a2a-js/sdk/server/express';
import express from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { textOf } from '../demo/agent.js';
import { artifact, message } from './said.js';

/** What an agent makes of a text: one message, the chunks of an artifact, or the reason why it will not. */
export type Answering = (text: string) => { readonly says: string } | { readonly brings: readonly string[] } | { readonly rejects: string };

export interface TextAgentAddress {
  /** `a2a://127.0.0.1:<port>` */
  readonly address: string;
  /** Where its card is. */
  readonly baseUrl: string;
  /** The texts that it was sent. */
  readonly heard: string[];
}

export async function startTextAgent(t: TestContext, answering: Answering): Promise<TextAgentAddress> {
  const heard: string[] = [];
  const executor: AgentExecutor = {
    execute({ taskId, contextId, userMessage }, bus) {
      const text = textOf(userMessage);
      heard.push(text);
      const answer = answering(text);
      const end = (state: TaskState, why?: string): void => {
        const said = why === undefined ? undefined : message([why], { messageId: 'why', contextId, taskId });
        const status = { state, message: said, timestamp: new Date().toISOString() };
        bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
      };
      if ('says' in answer) {
        bus.publish(AgentEvent.message(message([answer.says], { messageId: `re: ${userMessage.messageId}`, contextId })));
      } else {
        const status = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: new Date().toISOString() };
        bus.publish(AgentEvent.task({ id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined }));
        if ('brings' in answer) {
          for (const [at, said] of answer.brings.entries()) {
            const lastChunk = at === answer.brings.length - 1;
            const update = { taskId, contextId, artifact: artifact('answer', said), append: at > 0, lastChunk, metadata: undefined };
            bus.publish(AgentEvent.artifactUpdate(update));
          }
          end(TaskState.TASK_STATE_COMPLETED);
        } else {
          end(TaskState.TASK_STATE_REJECTED, answer.rejects);
        }
      }
      bus.finished();
      return Promise.resolve();
    },
    cancelTask: () => Promise.resolve(),
  };

  const app = express();
  const server = createServer((request, response) => {
    app(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/`;
  const requestHandler = new DefaultRequestHandler(cardOf(`${baseUrl}invoke`), new InMemoryTaskStore(), executor);
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/invoke', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  return { address: `a2a://127.0.0.1:${port}`, baseUrl, heard };
}

function cardOf(url: string): AgentCard {
  return {
    name: 'Text agent',
    description: 'Answers a text with text.',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' }],
    provider: undefined,
    version: '1.0.0',
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  };
}
