/** Valid A2A objects, as values of the SDK's 1.x types: all that 1.0 can say, and all that 0.3 can. */
import {
  Role,
  TaskState,
  type AgentCard,
  type Artifact,
  type Message,
  type Part,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  type TaskPushNotificationConfig,
  type TaskStatus,
} from '@a2a-js/sdk';
import fc from 'fast-check';
import { agentCards } from './arbitraries_card.js';
import { anyText, name, names, openObject, openValue, optional, record } from './arbitraries_values.js';

type Dialect = '1.0' | '0.3';
export type Event = NonNullable<StreamResponse['payload']>;

const two = (least: number, most: number): fc.Arbitrary<string> => fc.integer({ min: least, max: most }).map(
  (n) => String(n).padStart(2, '0'),
);
const time = fc.tuple(two(0, 23), two(0, 59), two(0, 59)).map((parts) => parts.join(':'));
const fraction = fc.oneof(
  fc.constant(''),
  fc.string({ unit: fc.nat({ max: 9 }).map(String), minLength: 1, maxLength: 9 }).map((digits) => `.${digits}`),
);
const offset = fc.oneof(
  fc.constant('Z'),
  fc.tuple(fc.constantFrom('+', '-'), two(0, 23), two(0, 59)).map(([sign, hours, minutes]) => `${sign}${hours}:${minutes}`),
);
const date = fc.tuple(fc.integer({ min: 1, max: 9999 }), two(1, 12), two(1, 28)).map(
  ([year, month, day]) => `${String(year).padStart(4, '0')}-${month}-${day}`,
);
const timestamp = (dialect: Dialect): fc.Arbitrary<string> =>
  fc
    .tuple(date, time, fraction, dialect === '1.0' ? offset : fc.oneof(offset, fc.constant('')))
    .map(([day, clock, split, zone]) => `${day}T${clock}${split}${zone}`);

/** What neither the SDK's encoder nor 1.0 itself can say is left out: an unspecified state or role is a missing one. */
const STATES = [
  TaskState.TASK_STATE_SUBMITTED,
  TaskState.TASK_STATE_WORKING,
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_INPUT_REQUIRED,
  TaskState.TASK_STATE_REJECTED,
  TaskState.TASK_STATE_AUTH_REQUIRED,
];

export interface Objects {
  readonly message: fc.Arbitrary<Message>;
  readonly task: fc.Arbitrary<Task>;
  readonly event: fc.Arbitrary<Event>;
  readonly pushConfig: fc.Arbitrary<TaskPushNotificationConfig>;
  readonly request: fc.Arbitrary<SendMessageRequest>;
  readonly card: fc.Arbitrary<AgentCard>;
}

/** 0.3 wraps data that is no object, and says so in the metadata: whether that was empty before or not there, nobody can tell. */
function losesMetadata({ content, metadata }: Part): boolean {
  const value: unknown = content?.value;
  const isWrapped = content?.$case === 'data' && (typeof value !== 'object' || value === null || Array.isArray(value));
  return isWrapped && metadata !== undefined && Object.keys(metadata).length === 0;
}

function objectsOf(dialect: Dialect): Objects {
  const bytes = fc.uint8Array({ maxLength: 12 }).map((each) => Buffer.from(each));
  const metadata = optional(openObject);
  const only = <T>(arbitrary: fc.Arbitrary<T>, otherwise: T): fc.Arbitrary<T> => (dialect === '1.0' ? arbitrary : fc.constant(otherwise));

  const plainPart: fc.Arbitrary<Part> = record({
    content: fc.oneof(
      record({ $case: fc.constant('text' as const), value: anyText }),
      record({ $case: fc.constant('data' as const), value: openValue }),
    ),
    metadata,
    filename: only(anyText, ''),
    mediaType: only(anyText, ''),
  }).map((each) => (dialect === '0.3' && losesMetadata(each) ? { ...each, metadata: undefined } : each));
  const filePart: fc.Arbitrary<Part> = record({
    content: fc.oneof(
      record({ $case: fc.constant('raw' as const), value: bytes }),
      record({ $case: fc.constant('url' as const), value: anyText }),
    ),
    metadata,
    filename: anyText,
    mediaType: anyText,
  });
  const part = fc.oneof(plainPart, filePart);
  const parts = fc.array(part, { minLength: dialect === '1.0' ? 1 : 0, maxLength: 3 });

  const message: fc.Arbitrary<Message> = record({
    messageId: name,
    contextId: anyText,
    taskId: anyText,
    role: fc.constantFrom(Role.ROLE_USER, Role.ROLE_AGENT),
    parts,
    metadata,
    extensions: names,
    referenceTaskIds: names,
  });
  const artifact: fc.Arbitrary<Artifact> = record({
    artifactId: name,
    name: anyText,
    description: anyText,
    parts,
    metadata,
    extensions: names,
  });
  const status: fc.Arbitrary<TaskStatus> = record({
    state: fc.constantFrom(...STATES, ...(dialect === '0.3' ? [TaskState.TASK_STATE_UNSPECIFIED] : [])),
    message: optional(message),
    timestamp: optional(timestamp(dialect)),
  });
  const contextId = dialect === '1.0' ? anyText : name;
  const task: fc.Arbitrary<Task> = record({
    id: fc.constant('task-1'),
    contextId,
    status,
    artifacts: fc.array(artifact, { maxLength: 2 }),
    history: fc.array(message, { maxLength: 2 }),
    metadata,
  });
  const event: fc.Arbitrary<Event> = fc.oneof(
    record({ $case: fc.constant('task' as const), value: task }),
    record({ $case: fc.constant('message' as const), value: message }),
    record({
      $case: fc.constant('statusUpdate' as const),
      value: record({ taskId: name, contextId: anyText, status, metadata }),
    }),
    record({
      $case: fc.constant('artifactUpdate' as const),
      value: record({ taskId: name, contextId: anyText, artifact, append: fc.boolean(), lastChunk: fc.boolean(), metadata }),
    }),
  );
  const pushConfig: fc.Arbitrary<TaskPushNotificationConfig> = record({
    tenant: only(anyText, ''),
    id: fc.constantFrom('', 'config-1'),
    taskId: fc.constantFrom('', 'task-1'),
    url: name,
    token: anyText,
    authentication: optional(record({ scheme: anyText, credentials: anyText })),
  });
  const request: fc.Arbitrary<SendMessageRequest> = record({
    tenant: only(anyText, ''),
    message: fc.tuple(message, part).map(([each, first]) => (each.parts.length > 0 ? each : { ...each, parts: [first] })),
    configuration: optional(
      record({
        acceptedOutputModes: names,
        taskPushNotificationConfig: optional(
          dialect === '1.0' ? pushConfig : pushConfig.map((config) => ({ ...config, taskId: '' })),
        ),
        historyLength: optional(fc.nat({ max: 2 ** 31 - 1 })),
        returnImmediately: fc.boolean(),
      }),
    ),
    metadata,
  });
  return { message, task, event, pushConfig, request, card: agentCards(dialect) };
}

export const OBJECTS: Readonly<Record<Dialect, Objects>> = { '1.0': objectsOf('1.0'), '0.3': objectsOf('0.3') };
