/** All the ways in which an error ends up where others read it: each gives the text that it would write there. */
import { Console } from 'node:console';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import util from 'node:util';
import v8 from 'node:v8';
import { MessageChannel } from 'node:worker_threads';
import pino from 'pino';
import winston from 'winston';

const EVERYTHING = { showHidden: true, depth: Infinity, getters: true, showProxy: true, maxArrayLength: null, maxStringLength: null } as const;

/** All that `util.inspect` can be made to show. */
export function inspectAll(value: unknown): string {
  return `${util.inspect(value, EVERYTHING)}\n${util.inspect(value, { ...EVERYTHING, customInspect: false })}`;
}

class Paper extends Writable {
  text = '';
  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    this.text += String(chunk);
    done();
  }
}

function consoleOf(write: (console: Console) => void): string {
  const paper = new Paper();
  write(new Console({ stdout: paper, stderr: paper }));
  return paper.text;
}

function pinoOf(options: pino.LoggerOptions, write: (logger: pino.Logger) => void): string {
  const paper = new Paper();
  write(pino(options, paper));
  return paper.text;
}

async function winstonOf(format: winston.Logform.Format, error: Error): Promise<string> {
  let text = '';
  const logger = winston.createLogger({ format });
  // What a transport is given: the line that it writes, and the object that it might write instead.
  const transport = new Writable({
    objectMode: true,
    write(info: Record<symbol, unknown>, _encoding, done) {
      text += `${String(info[Symbol.for('message')])}\n${inspectAll(info)}\n`;
      done();
    },
  });
  logger.pipe(transport);
  const finished = once(transport, 'finish');
  logger.error(error);
  logger.error('failed', error);
  logger.error('failed', { error, err: error, nested: { error } });
  logger.error({ message: error });
  logger.end();
  await finished;
  return text;
}

function ownProperties(value: object): string {
  const shown: unknown[] = [];
  for (let at: object | null = value; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at) as object | null) {
    for (const key of [...Object.getOwnPropertyNames(at), ...Object.getOwnPropertySymbols(at)]) {
      // Not Error.prototype's own machinery, but the value that this object gives for it.
      shown.push(String(key), Reflect.get(at, key, value), Object.getOwnPropertyDescriptor(at, key));
    }
  }
  return inspectAll(shown);
}

function enumerated(value: object): string {
  const shown: unknown[] = [Object.entries(value), { ...value }];
  for (const key in value) shown.push(key, Reflect.get(value, key));
  return inspectAll(shown);
}

async function posted(value: unknown): Promise<string> {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(value);
  const [received] = (await once(port2, 'message')) as unknown[];
  port1.close();
  return inspectAll(received);
}

const { errors, json, logstash, prettyPrint, simple, combine, timestamp } = winston.format;

export const SINKS: Readonly<Record<string, (error: Error) => string | Promise<string>>> = {
  'String()': (error) => `${String(error)} ${error.toString()} ${Error.prototype.toString.call(error)} ${error}`,
  stack: (error) => error.stack ?? '',
  message: (error) => error.message,
  'JSON.stringify': (error) =>
    `${JSON.stringify(error)} ${JSON.stringify({ error }, null, 2)} ${JSON.stringify(error, Object.getOwnPropertyNames(error))}`,
  'util.inspect': (error) => util.inspect(error),
  'util.inspect that shows everything': inspectAll,
  'util.inspect behind a cause': (error) => inspectAll(new Error('outer', { cause: error })),
  'util.inspect in an AggregateError': (error) => inspectAll(new AggregateError([error])),
  'util.inspect of a rejected promise': (error) => {
    const promise = Promise.reject(error);
    promise.catch(() => undefined);
    return inspectAll(promise);
  },
  'util.format': (error) => util.format('%s %o %O %j', error, error, error, error),
  'console.log': (error) =>
    consoleOf((console) => {
      console.log(error, { error });
    }),
  'console.error': (error) =>
    consoleOf((console) => {
      console.error('failed: %s %o', error, error);
    }),
  'console.dir': (error) =>
    consoleOf((console) => {
      console.dir(error, EVERYTHING);
    }),
  'console.table': (error) =>
    consoleOf((console) => {
      console.table([error]);
    }),
  structuredClone: (error) => inspectAll(structuredClone(error)),
  'structuredClone of a holder': (error) => inspectAll(structuredClone({ error, entries: Object.entries(error) })),
  postMessage: posted,
  'v8.serialize': (error) => `${v8.serialize(error).toString('latin1')} ${inspectAll(v8.deserialize(v8.serialize(error)))}`,
  'own properties': ownProperties,
  'enumerable properties': enumerated,
  pino: (error) =>
    pinoOf({}, (logger) => {
      logger.error(error);
      logger.error({ err: error, error, nested: { error } }, 'failed');
      logger.error({ err: new Error('outer', { cause: error }) });
      logger.error({ err: new AggregateError([error]) });
    }),
  'pino with its serializers for errors': (error) =>
    pinoOf({ serializers: { error: pino.stdSerializers.errWithCause, err: pino.stdSerializers.errWithCause } }, (logger) => {
      logger.error({ err: error, error });
      logger.child({ error }).error(error, 'failed');
    }),
  'winston, as JSON': (error) => winstonOf(combine(errors({ stack: true, cause: true }), timestamp(), json()), error),
  'winston, as JSON without the format for errors': (error) => winstonOf(json(), error),
  'winston, simple': (error) => winstonOf(combine(errors({ stack: true, cause: true }), simple()), error),
  'winston, pretty': (error) => winstonOf(combine(errors({ stack: true, cause: true }), prettyPrint({ depth: 20 })), error),
  'winston, for logstash': (error) => winstonOf(combine(errors({ stack: true, cause: true }), logstash()), error),
};
