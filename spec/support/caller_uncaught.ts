/**
 * A program that does not catch the failure of its call. It ends as `ENDING` says; the endpoint and the value of a header come from
 * the environment too, so that no line of the source holds a secret.
 */
import { Agent } from 'undici';
import { StrictClient, userText } from '../../lib/index.js';

const { ENDPOINT = '', HEADER = '', ENDING = '' } = process.env;

const agent = new Agent();
const client = new StrictClient(agent);

function call(): Promise<unknown> {
  return client.sendMessage(
    { endpoint: ENDPOINT, protocolVersion: '1.0', maxResponseBytes: 10_000, headers: { 'x-api-key': HEADER } },
    { message: userText('hi') },
  );
}

async function failureOfCall(): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return undefined;
}

switch (ENDING) {
  case 'exception': {
    const error = await failureOfCall();
    console.log(error, { error }, String(error), `${error}`);
    console.error('%s %o %O %j', error, error, error, error);
    console.dir(error, { showHidden: true, depth: null });
    console.trace(error);
    process.emitWarning(error as Error);
    setTimeout(() => {
      throw error;
    });
    break;
  }
  case 'rejection':
    void call();
    break;
  default:
    throw new Error('no such ending');
}
