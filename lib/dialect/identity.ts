/**
 * Whether an answer is about what was asked: `a2a.identity`. The same for both dialects, for both decode to the SDK's types.
 *
 * An identifier that the answer leaves out contradicts nothing; one that it gives has to be the one asked for.
 */
import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import type { UnaryName, UnaryOperations } from './dialect.js';

/** Nothing was asked for, or nothing said, or both are the same. */
const agree = (asked: string | undefined, given: string): boolean =>
  asked === undefined || asked === '' || given === '' || asked === given;

const configAgrees = (asked: { taskId: string; id: string }, given: TaskPushNotificationConfig): boolean =>
  agree(asked.taskId, given.taskId) && agree(asked.id, given.id);

type Answers = { readonly [N in UnaryName]: (asked: UnaryOperations[N][0], answer: UnaryOperations[N][1]) => boolean };

export const ANSWERS: Answers = {
  sendMessage: ({ message }, { $case, value }) =>
    agree(message?.taskId, $case === 'task' ? value.id : value.taskId) && agree(message?.contextId, value.contextId),
  getTask: (asked, task) => agree(asked.id, task.id),
  listTasks: (asked, { tasks }) => tasks.every((task) => agree(asked.contextId, task.contextId)),
  cancelTask: (asked, task) => agree(asked.id, task.id),
  createTaskPushNotificationConfig: configAgrees,
  getTaskPushNotificationConfig: configAgrees,
  listTaskPushNotificationConfigs: (asked, { configs }) => configs.every((config) => agree(asked.taskId, config.taskId)),
  deleteTaskPushNotificationConfig: () => true,
  getExtendedAgentCard: () => true,
};
