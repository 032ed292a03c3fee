/** The SDK's 1.x values as an agent would write them: 1.0 by the SDK's own encoder, 0.3 by a plain one, and both in any spelling. */
import {
  AgentCard as CardCodec,
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  Role,
  SendMessageResponse,
  StreamResponse,
  Task as TaskCodec,
  TaskPushNotificationConfig as ConfigCodec,
  TaskState,
  type AgentCard,
  type Artifact,
  type Message,
  type OAuthFlows,
  type Part,
  type SecurityRequirement,
  type SecurityScheme,
  type Task,
  type TaskPushNotificationConfig,
  type TaskStatus,
} from '@a2a-js/sdk';
import type { Event } from './arbitraries_a2a.js';

/** How each kind of result is written. */
export interface Wire {
  readonly task: (value: Task) => unknown;
  readonly sendMessage: (value: Extract<Event, { $case: 'task' | 'message' }>) => unknown;
  readonly event: (value: Event) => unknown;
  readonly pushConfig: (value: TaskPushNotificationConfig) => unknown;
  readonly pushConfigs: (configs: TaskPushNotificationConfig[], nextPageToken: string) => unknown;
  readonly card: (value: AgentCard) => unknown;
}

export const tasksOnWire = (page: ListTasksResponse): unknown => ListTasksResponse.toJSON(page);

const v1: Wire = {
  task: (value) => TaskCodec.toJSON(value),
  sendMessage: (payload) => SendMessageResponse.toJSON({ payload }),
  event: (payload) => StreamResponse.toJSON({ payload }),
  pushConfig: (value) => ConfigCodec.toJSON(value),
  pushConfigs: (configs, nextPageToken) => ListTaskPushNotificationConfigsResponse.toJSON({ configs, nextPageToken }),
  card: (value) => CardCodec.toJSON(value),
};

type Members = Record<string, unknown>;

/** Members that say nothing are not there. */
function said(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== ''));
}

const STATES: ReadonlyMap<TaskState, string> = new Map([
  [TaskState.TASK_STATE_UNSPECIFIED, 'unknown'],
  [TaskState.TASK_STATE_SUBMITTED, 'submitted'],
  [TaskState.TASK_STATE_WORKING, 'working'],
  [TaskState.TASK_STATE_COMPLETED, 'completed'],
  [TaskState.TASK_STATE_FAILED, 'failed'],
  [TaskState.TASK_STATE_CANCELED, 'canceled'],
  [TaskState.TASK_STATE_INPUT_REQUIRED, 'input-required'],
  [TaskState.TASK_STATE_REJECTED, 'rejected'],
  [TaskState.TASK_STATE_AUTH_REQUIRED, 'auth-required'],
]);

function partV03({ content, metadata, filename, mediaType }: Part): Members {
  const file = said({ name: filename, mimeType: mediaType });
  switch (content?.$case) {
    case 'text':
      return { ...said({ kind: 'text', metadata }), text: content.value };
    case 'raw':
      return said({ kind: 'file', metadata, file: { ...file, bytes: content.value.toString('base64') } });
    case 'url':
      return said({ kind: 'file', metadata, file: { ...file, uri: content.value } });
    default: {
      const value: unknown = content?.value;
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return said({ kind: 'data', metadata, data: value });
      return { kind: 'data', metadata: { ...metadata, data_part_compat: true }, data: { value } };
    }
  }
}

const messageV03 = (value: Message): Members =>
  said({ ...value, kind: 'message', role: value.role === Role.ROLE_USER ? 'user' : 'agent', parts: value.parts.map(partV03) });
const artifactV03 = (value: Artifact): Members => said({ ...value, parts: value.parts.map(partV03) });
const statusV03 = (value: TaskStatus): Members =>
  said({ ...value, state: STATES.get(value.state), message: value.message && messageV03(value.message) });
const taskV03 = (value: Task): Members =>
  said({
    ...value,
    kind: 'task',
    status: value.status && statusV03(value.status),
    artifacts: value.artifacts.map(artifactV03),
    history: value.history.map(messageV03),
  });

function eventV03({ $case, value }: Event): Members {
  switch ($case) {
    case 'task':
      return taskV03(value);
    case 'message':
      return messageV03(value);
    case 'statusUpdate':
      return said({ ...value, kind: 'status-update', status: value.status && statusV03(value.status), final: false });
    case 'artifactUpdate':
      return said({ ...value, kind: 'artifact-update', artifact: value.artifact && artifactV03(value.artifact) });
  }
}

function pushConfigV03({ taskId, id, url, token, authentication }: TaskPushNotificationConfig): Members {
  const { scheme = '', credentials } = authentication ?? {};
  return said({
    taskId,
    pushNotificationConfig: said({
      id,
      url,
      token,
      authentication: authentication && said({ schemes: scheme === '' ? [] : [scheme], credentials }),
    }),
  });
}

const flowsV03 = ({ flow }: OAuthFlows): Members =>
  flow === undefined ? {} : { [flow.$case]: said({ ...flow.value, pkceRequired: undefined }) };

function schemeV03({ scheme }: SecurityScheme): Members {
  switch (scheme?.$case) {
    case 'apiKeySecurityScheme': {
      const { location, ...others } = scheme.value;
      return said({ type: 'apiKey', in: location, ...others });
    }
    case 'httpAuthSecurityScheme':
      return said({ type: 'http', ...scheme.value });
    case 'oauth2SecurityScheme':
      return said({ type: 'oauth2', ...scheme.value, flows: scheme.value.flows && flowsV03(scheme.value.flows) });
    case 'openIdConnectSecurityScheme':
      return said({ type: 'openIdConnect', ...scheme.value });
    case 'mtlsSecurityScheme':
      return said({ type: 'mutualTLS', ...scheme.value });
    case undefined:
      return { type: 'of a later version' };
  }
}

const requirementsV03 = (requirements: readonly SecurityRequirement[]): unknown[] =>
  requirements.map(({ schemes }) => Object.fromEntries(Object.entries(schemes).map(([name, { list }]) => [name, list])));

function cardV03({ supportedInterfaces, capabilities, securitySchemes, securityRequirements, skills, ...others }: AgentCard): Members {
  const [own, ...additional] = supportedInterfaces;
  const { extendedAgentCard, ...stated } = capabilities ?? { extensions: [] };
  return {
    ...said({ ...others, supportsAuthenticatedExtendedCard: extendedAgentCard }),
    // Here an empty text is not the same as none: their defaults are other texts, or none at all.
    ...Object.fromEntries(
      ['documentationUrl', 'iconUrl'].flatMap((key) => (others[key as 'iconUrl'] === undefined ? [] : [[key, others[key as 'iconUrl']]])),
    ),
    url: own?.url,
    preferredTransport: own?.protocolBinding,
    protocolVersion: own?.protocolVersion,
    additionalInterfaces: additional.map(({ url, protocolBinding }) => ({ url, transport: protocolBinding })),
    capabilities: said(stated),
    securitySchemes: Object.fromEntries(Object.entries(securitySchemes).map(([name, scheme]) => [name, schemeV03(scheme)])),
    security: requirementsV03(securityRequirements),
    skills: skills.map(({ securityRequirements: required, ...skill }) => said({ ...skill, security: requirementsV03(required) })),
  };
}

const v0_3: Wire = {
  task: taskV03,
  sendMessage: eventV03,
  event: eventV03,
  pushConfig: pushConfigV03,
  pushConfigs: (configs) => configs.map(pushConfigV03),
  card: cardV03,
};

export const WIRE: Readonly<Record<'1.0' | '0.3', Wire>> = { '1.0': v1, '0.3': v0_3 };

/** Members whose values are the agent's own: nothing of the protocol is in them. */
const OPEN = new Set(['metadata', 'data', 'params', 'header', 'schemes', 'scopes', 'securitySchemes', 'security']);
const UNKNOWN = ['"later":null', '"constructor":{"kind":"task"}', '"toString":[1]', '"\\u0058":{"text":"x"}'];
const GAPS = ['', '', '', '', ' ', '\n\t'];

/**
 * JSON that says a value, spelled as `choices` have it: white space, escapes, the order of members, members that nobody knows.
 * @param choices used in turn, over and over; never empty
 */
export function spelled(value: unknown, choices: readonly number[]): string {
  let turn = 0;
  const pick = (from: number): number => choices[turn++ % choices.length]! % from;
  const gap = (): string => GAPS[pick(GAPS.length)]!;
  const text = (plain: string): string =>
    JSON.stringify(plain).replace(/[A-Za-z0-9 ]/g, (character, at: number, whole: string) => {
      const isFree = whole[at - 1] !== '\\' && !/\\u[0-9a-f]{0,3}$/.test(whole.slice(0, at));
      return isFree && pick(12) === 0 ? `\\u00${character.charCodeAt(0).toString(16)}` : character;
    });
  const write = (item: unknown, isOpen: boolean): string => {
    if (typeof item === 'string') return text(item);
    if (Object.is(item, -0)) return '-0';
    if (Array.isArray(item)) return `[${gap()}${item.map((each) => write(each, isOpen)).join(`${gap()},${gap()}`)}${gap()}]`;
    if (typeof item !== 'object' || item === null) return JSON.stringify(item);
    const members = Object.entries(item).flatMap(([name, held]) =>
      held === undefined ? [] : [`${text(name)}${gap()}:${gap()}${write(held, isOpen || OPEN.has(name))}`],
    );
    if (!isOpen && pick(6) === 0) members.push(UNKNOWN[pick(UNKNOWN.length)]!);
    const from = pick(members.length + 1);
    return `{${gap()}${[...members.slice(from), ...members.slice(0, from)].join(`${gap()},${gap()}`)}${gap()}}`;
  };
  return write(value, false);
}
