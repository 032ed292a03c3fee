import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { A2A_SDK_VERSION, FAILURE_RULES, PROTOCOL_VERSIONS, UNDICI_VERSION } from '../lib/index.js';
import { startAgent } from './demo/agent.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** Runs an example of the README as a person would who pasted it into a file, against `url`. */
async function run(example: string, url: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const folder = mkdtempSync(join(root, 'spec', '.readme-'));
  try {
    const file = join(folder, 'example.ts');
    const local = (_: string, layer?: string): string => `'../../lib/${layer === undefined ? '' : `${layer}/`}index.js'`;
    writeFileSync(file, example.replaceAll(/'a2a-strict(?:\/(\w+))?'/g, local));
    return await new Promise((resolve) => {
      execFile(process.execPath, ['--import', 'tsx', file, url], { cwd: root, timeout: 20_000 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('The README', () => {
  const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1]!);

  /** What each of the examples prints, in their order. */
  const PRINTED: readonly (readonly RegExp[])[] = [
    [/^task \{/, /\d+ bytes/],
    [/words/, /TASK_STATE_COMPLETED/],
    // RemoteAgent, discovery, text, the SDK's client.
    [/^Measurer http:\/\/127\.0\.0\.1:\d+\/ 1\.0$/m, /^artifactUpdate$/m, /'words 4'/],
    [/^Measurer speaks 1\.0 at http:\/\/127\.0\.0\.1:\d+\/$/m, /^task$/m],
    [/^words 4.*\(task [0-9a-f-]+\)$/m, /^sha256 [0-9a-f]+$/m, /^\[[0-9a-f-]+\]$/m],
    [/^artifactUpdate$/m, /^no such task$/m],
  ];

  test('Its examples run against a real agent as they stand', async () => {
    assert.equal(examples.length, PRINTED.length);
    const agent = await startAgent();
    try {
      await Promise.all(
        examples.map(async (example, index) => {
          const { code, stdout, stderr } = await run(example, agent.url);
          assert.deepEqual([code, stderr], [0, '']);
          for (const expected of PRINTED[index]!) assert.match(stdout, expected);
        }),
      );
    } finally {
      await agent.close();
    }
  });

  test('Its first example tells a failure in one line', async () => {
    const { code, stdout, stderr } = await run(examples[0]!, 'http://127.0.0.1:1/');
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.equal(stderr, '{"kind":"unavailable","rule":"http.connect","delivery":"not_sent"}\n');
  });

  test('Its table has every rule, each with its kind, and no other', () => {
    const rows = [...readme.matchAll(/^\| `([a-z0-9_.]+)` \| `([a-z_]+)` \| .+ \|$/gm)].map((match) => [match[1], match[2]]);
    assert.deepEqual(Object.fromEntries(rows), FAILURE_RULES);
    assert.equal(rows.length, Object.keys(FAILURE_RULES).length);
  });

  test('The versions it was verified with are those that are exported and installed', () => {
    const installed = (name: string): string => {
      const manifest = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as { version: string };
      return manifest.version;
    };
    assert.equal(installed('undici'), UNDICI_VERSION);
    assert.equal(installed('@a2a-js/sdk'), A2A_SDK_VERSION);
    assert.ok(readme.includes(`| \`undici\` | ${UNDICI_VERSION} (\`UNDICI_VERSION\`)`));
    assert.ok(readme.includes(`| \`@a2a-js/sdk\` | ${A2A_SDK_VERSION} (\`A2A_SDK_VERSION\`)`));
    assert.ok(readme.includes(`| A2A protocol | ${PROTOCOL_VERSIONS.join(' and ')}, `));
  });
});
