/** The agents, each made with its own official SDK, and what it takes to run them. */
import { readFileSync } from 'node:fs';
import type { ProtocolVersion } from '../../lib/index.js';
import { startJavaScriptAgent } from './javascript.js';
import { startProcess } from './process.js';
import { goProgram, javaProgram, pythonWith, source, versionOf } from './toolchain.js';

export const LANGUAGES = ['javascript', 'python', 'go', 'java'] as const;
export type Language = (typeof LANGUAGES)[number];

export interface RunningAgent {
  /** `http://127.0.0.1:<port>/`: the JSON-RPC endpoint of each of its dialects. */
  readonly url: string;
  stop(): Promise<void>;
}

export type AgentName = 'JavaScript' | 'Python' | 'Python, older' | 'Go' | 'Go, plain text allowed' | 'Java';

export interface AgentKind {
  readonly name: AgentName;
  readonly language: Language;
  readonly dialects: readonly ProtocolVersion[];
  /** The SDK and its version, as pinned. */
  readonly sdk: string;
  /** It is called with the option of this name. */
  readonly allowPlainTextResults?: true;
  /** @param toolchain its version */
  start(toolchain: string): Promise<RunningAgent>;
}

export const AGENTS: readonly AgentKind[] = [
  {
    name: 'JavaScript',
    language: 'javascript',
    dialects: ['1.0', '0.3'],
    sdk: `@a2a-js/sdk ${javaScriptSdk()}`,
    start: startJavaScriptAgent,
  },
  {
    name: 'Python',
    language: 'python',
    dialects: ['1.0', '0.3'],
    sdk: pinned('python/requirements.txt', /^(a2a-sdk)\S*==(\S+)$/m),
    start: async (toolchain) => startProcess(await pythonWith('requirements.txt', toolchain), ['-B', source('python', 'agent.py')]),
  },
  {
    name: 'Python, older',
    language: 'python',
    dialects: ['0.3'],
    sdk: pinned('python/requirements-0.3.txt', /^(a2a-sdk)\S*==(\S+)$/m),
    start: async (toolchain) => startProcess(await pythonWith('requirements-0.3.txt', toolchain), ['-B', source('python', 'agent_0_3.py')]),
  },
  {
    name: 'Go',
    language: 'go',
    dialects: ['0.3'],
    sdk: pinned('go/go.mod', /(a2a-go) v(\S+)$/m),
    start: async (toolchain) => startProcess(await goProgram(toolchain), []),
  },
  {
    name: 'Go, plain text allowed',
    language: 'go',
    dialects: ['0.3'],
    sdk: pinned('go/go.mod', /(a2a-go) v(\S+)$/m),
    start: async (toolchain) => startProcess(await goProgram(toolchain), []),
    allowPlainTextResults: true,
  },
  {
    name: 'Java',
    language: 'java',
    dialects: ['0.3'],
    sdk: pinned('java/pom.xml', /<(a2a-java)\.version>(.+)</m),
    start: async (toolchain) => startProcess('java', ['-jar', await javaProgram(toolchain)]),
  },
];

/** What the SDKs ask for. */
const OLDEST: Readonly<Record<Language, string>> = { javascript: '22.19', python: '3.10', go: '1.24.4', java: '17' };

/** The version of a language's toolchain, or `undefined` where an agent in it cannot be made. */
export async function toolchainOf(language: Language): Promise<string | undefined> {
  const version = await installed(language);
  return version !== undefined && version.localeCompare(OLDEST[language], 'en', { numeric: true }) >= 0 ? version : undefined;
}

async function installed(language: Language): Promise<string | undefined> {
  switch (language) {
    case 'javascript':
      return process.versions.node;
    case 'python':
      // Some systems have a Python that cannot make a virtual environment.
      return versionOf('python3', ['-c', 'import ensurepip, platform, venv; print(platform.python_version())']);
    case 'go':
      return versionOf('go', ['env', 'GOVERSION']);
    case 'java':
      return (await versionOf('mvn', ['--version'])) === undefined ? undefined : versionOf('java', ['--version']);
  }
}

function pinned(file: string, pattern: RegExp): string {
  const [, name, version] = pattern.exec(readFileSync(source(file), 'utf8')) ?? [];
  if (name === undefined || version === undefined) throw new Error(`no SDK is pinned in ${file}`);
  return `${name} ${version}`;
}

function javaScriptSdk(): string {
  const file = new URL('../../node_modules/@a2a-js/sdk/package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}
