import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const LIB = fileURLToPath(new URL('../lib', import.meta.url));

/**
 * The layers, lowest first. A file may import from its own layer and from those below it, never from one above. `failure.ts` is what
 * every layer says no with.
 */
const LAYERS: readonly (readonly string[])[] = [
  ['failure.ts', 'versions.ts'],
  ['wire'],
  ['dialect'],
  ['policy'],
  ['diagnostics.ts', 'interceptor.ts', 'options.ts'],
  ['call.ts', 'repeat.ts', 'unary.ts', 'stream.ts'],
  ['client.ts', 'hardened'],
  ['index.ts'],
  ['discovery'],
  ['agent'],
  ['text'],
  ['sdk'],
  ['cli'],
];

/** The demonstration alone serves an agent. */
const SERVING = /^@a2a-js\/sdk\/(?:compat\/v0_3\/)?server$/;

/** What `lib` may import from outside. */
const OUTSIDE = /^(?:node:|undici$|valibot$|jose$|@a2a-js\/sdk(?:\/client|\/errors)?$)/;

function files(): string[] {
  return readdirSync(LIB, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.split(sep).join('/'));
}

interface Import {
  readonly from: string;
  readonly isType: boolean;
}

function importsOf(file: string): Import[] {
  const source = readFileSync(join(LIB, file), 'utf8');
  return [...source.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)';/gm)].map((match) => ({
    isType: match[1] !== undefined,
    from: match[2]!,
  }));
}

function layerOf(file: string): number {
  return LAYERS.findIndex((names) => names.some((name) => file === name || file.startsWith(`${name}/`)));
}

describe('The layering of lib', () => {
  test('Every file belongs to a layer', () => {
    assert.deepEqual(files().filter((file) => layerOf(file) < 0), []);
  });

  test('No file imports from a layer above its own, and nothing outside but what is declared', () => {
    const wrong: string[] = [];
    let seen = 0;
    for (const file of files()) {
      for (const { from, isType } of importsOf(file)) {
        seen++;
        if (!from.startsWith('.')) {
          const isKnown = OUTSIDE.test(from) || (file.startsWith('cli/demo/') && SERVING.test(from));
          if (!isKnown) wrong.push(`${file} → ${from}`);
          continue;
        }
        const target = relative(LIB, normalize(join(LIB, dirname(file), from))).replace(/\.js$/, '.ts').split(sep).join('/');
        // Types flow both ways between what is offered to the caller and what serves it; code does not.
        if (layerOf(target) > layerOf(file) && !isType) wrong.push(`${file} → ${target}`);
      }
    }
    assert.ok(seen > 50, 'the imports were found');
    assert.deepEqual(wrong, []);
  });

  test('Within the wire layer, bytes flow one way: exchange, sse, json, jsonrpc, lifecycle', () => {
    // A later stage may be fed by an earlier one, and imports of it no more than the file it needs to parse what it was given.
    const allowed = new Set(['exchange.ts → http.ts', 'exchange.ts → raw_headers.ts', 'exchange.ts → signal.ts', 'sse.ts → event_ids.ts', 'json.ts → json_value.ts', 'jsonrpc.ts → json.ts']);
    const within = files()
      .filter((file) => file.startsWith('wire/'))
      .flatMap((file) =>
        importsOf(file)
          .filter(({ from, isType }) => from.startsWith('./') && !isType)
          .map(({ from }) => `${file.slice('wire/'.length)} → ${from.slice(2).replace(/\.js$/, '.ts')}`),
      );
    assert.deepEqual(new Set(within), allowed);
  });

  test('Nothing is generated at run time', () => {
    const generated = files().filter((file) => /\beval\(|new Function\b|\bFunction\(/.test(readFileSync(join(LIB, file), 'utf8')));
    assert.deepEqual(generated, []);
  });
});
