import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { COMMANDS } from '../../lib/cli/commands.js';
import { EXIT_CODES, EXIT_OF_KIND } from '../../lib/cli/exit_codes.js';
import { tooOld } from '../../lib/cli/node_version.js';
import { OPTION_GROUPS, optionsOf } from '../../lib/cli/options.js';
import { FAILURE_RULES } from '../../lib/index.js';
import { cli } from './cli.js';

const SECRET = 'fake-secret-0123';

describe('The help', () => {
  test('It names every command, with what it does, and every exit code', async () => {
    const { code, stdout, stderr } = await cli(['--help']);
    deepEqual([code, stderr], [0, '']);
    for (const { name, summary } of COMMANDS) ok(stdout.includes(`\n  ${name.padEnd(6)}  ${summary}\n`), name);
    for (const [number] of EXIT_CODES) match(stdout, new RegExp(`^  ${number} +\\S`, 'm'));
    for (const kind of Object.keys(EXIT_OF_KIND)) ok(kind === 'canceled' || stdout.includes(`${kind}: `), kind);
    deepEqual(new Set(Object.keys(EXIT_OF_KIND)), new Set(Object.values(FAILURE_RULES)));
  });

  for (const { name, options, takes } of COMMANDS) {
    test(`That of ${name} has all that it takes, each with an explanation, in lines that fit`, async () => {
      const { code, stdout, stderr } = await cli([name, '--help']);
      deepEqual([code, stderr], [0, '']);
      ok(stdout.startsWith(`Usage: a2a-strict ${name}${takes === '' ? '' : ` ${takes}`}`));
      const taken = optionsOf(options);
      const shown = new Set([...stdout.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm)].map(([, option]) => option));
      deepEqual(shown, new Set(Object.keys(taken)));
      for (const [option, { help }] of Object.entries(taken)) ok(help.length > 5, option);
      deepEqual(stdout.split('\n').filter((line) => line.length > 100), []);
      deepEqual(await cli(['help', name]), await cli([name, '-h']));
    });
  }

  test('No option is in two groups that a command takes, and none is in a group that no command takes', () => {
    for (const { name, options } of COMMANDS) {
      const names = options.flatMap((group) => Object.keys(OPTION_GROUPS[group].options));
      equal(new Set(names).size, names.length, name);
    }
    deepEqual(new Set(COMMANDS.flatMap(({ options }) => options)), new Set(Object.keys(OPTION_GROUPS)));
  });
});

test('An old Node is turned away, and the one that package.json asks for is not', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { engines: { node: string } };
  deepEqual(['20.20.2', '22.18.9', '22.19.0', '24.0.0', engines.node.replace('>=', '')].map((version) => tooOld(version) === undefined), [false, false, true, true, true]);
  equal(tooOld('20.20.2'), 'a2a-strict needs Node 22.19 or later, and this is 20.20.2');
});

describe('A wrong command line', () => {
  const WRONG: readonly (readonly [name: string, argv: readonly string[], says: RegExp])[] = [
    ['no command', [], /no command is given/],
    ['a command that there is none of', ['sned', 'http://a.test', 'hi'], /there is no command sned/],
    ['a command that may be anything', [`Bearer ${SECRET}`], /the first argument is no command/],
    ['no URL', ['card'], /card takes URL/],
    ['too many arguments', ['get', 'http://a.test', 'a', 'b'], /get takes URL TASK-ID/],
    ['an option that there is none of', ['get', 'http://a.test', 'a', `--token=${SECRET}`], /there is no option '--token'/],
    ['an option of another command', ['get', 'http://a.test', 'a', '--event-ids', 'required'], /there is no option '--event-ids'/],
    ['an option without its value', ['get', 'http://a.test', 'a', '--timeout'], /the option '--timeout <value>' argument missing/],
    ['a flag with a value', ['get', 'http://a.test', 'a', '--json=yes'], /the option '--json' does not take an argument/],
    ['an empty value', ['get', 'http://a.test', 'a', '--timeout='], /--timeout is empty/],
    ['a time without a unit', ['get', 'http://a.test', 'a', '--timeout', '30'], /--timeout is a time/],
    ['a size that is none', ['get', 'http://a.test', 'a', '--max-response-bytes', '1.5M'], /--max-response-bytes is a number of bytes/],
    ['a size that no number holds', ['get', 'http://a.test', 'a', '--max-response-bytes', '99999999999G'], /--max-response-bytes is a number/],
    ['a count that is none', ['get', 'http://a.test', 'a', '--history', '-1'], /--history/],
    ['a choice that there is none of', ['get', 'http://a.test', 'a', '--dialect', '0.2'], /--dialect is one of 1.0, 0.3, probe/],
    ['to probe a dialect that the card says', ['get', 'http://a.test', 'a', '--dialect', 'probe'], /--dialect probe goes with --exact/],
    ['a tenant that the card says', ['get', 'http://a.test', 'a', '--tenant', 't'], /--tenant goes with --exact/],
    ['a card option where no card is fetched', ['get', 'http://a.test', 'a', '--exact', '--card-path', '/c'], /--card-path is for a base URL/],
    ['a card flag at an a2a: address', ['get', 'a2a://a.test', 'a', '--allow-legacy-card-path'], /--allow-legacy-card-path is for a base/],
    ['the card of an exact endpoint', ['card', 'http://a.test', '--exact'], /a card is fetched from a base URL/],
    ['signatures without keys', ['card', 'http://a.test', '--require-signature'], /--require-signature goes with --jwks/],
    ['a file that there is none of', ['card', 'http://a.test', '--ca', '/no/such/file'], /--ca: the file cannot be read \(ENOENT\)/],
    ['keys that are no JSON', ['card', 'http://a.test', '--jwks', import.meta.filename], /--jwks: the file is no JSON/],
    ['an empty text', ['send', 'http://a.test', ''], /the text is empty/],
    ['a stream of nothing', ['stream', 'http://a.test'], /stream takes a TEXT, or the --task-id/],
    ['a text to check with, and no leave to send it', ['check', 'http://a.test', 'hi'], /only with --send/],
    ['parameters that are no JSON', ['call', 'http://a.test', 'm', '{'], /PARAMS is no JSON/],
    ['an option of others for the demonstration', ['demo', '--json'], /there is no option '--json'/],
  ];
  for (const [name, argv, says] of WRONG) {
    test(`${name.charAt(0).toUpperCase()}${name.slice(1)} is told in one line, with a hint`, async () => {
      const { code, stdout, stderr } = await cli(argv);
      deepEqual([code, stdout], [2, '']);
      const [line = '', hint = '', ...others] = stderr.split('\n');
      match(line, /^a2a-strict: /);
      match(line, says);
      match(hint, /^ {2}hint: a2a-strict (\w+ )?--help$/);
      deepEqual(others, ['']);
      ok(!stderr.includes(SECRET));
    });
  }

  test('An address that is none is refused before anything is sent, and not repeated', async () => {
    for (const url of [`http://user:${SECRET}@a.test/`, `http://a.test/?key=${SECRET}#x`, `a2a://a.test/path?key=${SECRET}`, SECRET]) {
      const { code, stdout, stderr } = await cli(['get', url, 'a', ...(url.startsWith('a2a') ? [] : ['--exact'])]);
      deepEqual([code, stdout], [3, '']);
      match(stderr, /nothing was sent/);
      ok(!stderr.includes(SECRET), stderr);
    }
  });
});
