import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CERTIFICATE } from '../hostile/certificate.js';
import { cli, values } from './cli.js';
import { json, startOdd, taskOf, type Answer, type OddAgent } from './odd_agent.js';

const SECRET = 'fake-secret-0123';
const folder = mkdtempSync(join(tmpdir(), 'a2a-strict-cli-'));
after(() => {
  rmSync(folder, { recursive: true });
});

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function agent(t: TestContext, tls?: { cert: Buffer; key: Buffer }): Promise<OddAgent> {
  const answer: Answer = ({ id }, response) => {
    json(response, { jsonrpc: '2.0', id, result: taskOf('') });
  };
  return startOdd(t, answer, tls);
}

describe('Headers', { concurrency: true }, () => {
  test('They come from the command line, from a file and from the environment', async (t) => {
    const { url, asked } = await agent(t);
    const argv = ['get', url, 'task-1', '-H', 'X-One: 1', '-H', `@${file('headers', `\nAuthorization: Bearer ${SECRET}\r\nX-Two:2\n`)}`, '--header-env', 'X-Three=THREE'];
    const { code } = await cli(argv, { env: { THREE: SECRET } });
    equal(code, 0);
    equal(asked.length, 2, 'the card and the call');
    for (const { headers } of asked) {
      deepEqual([headers['x-one'], headers['x-two'], headers['x-three'], headers.authorization], ['1', '2', SECRET, `Bearer ${SECRET}`]);
    }
  });

  test('What came from a file or the environment does not travel over http: to another machine', async () => {
    const given = [
      ['--header-env', 'X-Key=KEY'],
      ['-H', `@${file('key', `X-Key: ${SECRET}`)}`],
      ['-H', `Authorization: ${SECRET}`],
    ];
    for (const headers of given) {
      // An address that is reserved: were it asked, it would not answer.
      for (const exact of [[], ['--exact']]) {
        const { code, stderr } = await cli(['get', 'http://agent.test/', 't', ...exact, ...headers], { env: { KEY: SECRET } });
        equal(code, 3);
        match(stderr, /options\.cleartext_credentials[^]*--allow-cleartext-credentials/);
        ok(!stderr.includes(SECRET));
      }
    }
  });

  test('Who says so may send them there', async () => {
    const argv = ['get', 'http://agent.test/', 't', '--exact', '--allow-cleartext-credentials', '--network', 'loopback', '--header-env', 'X-Key=KEY'];
    const { stderr } = await cli(argv, { env: { KEY: SECRET } });
    match(stderr, /http\.connect|network\.refused/);
  });

  test('A credential is not sent to where the card says, on another origin', async (t) => {
    const other = await agent(t);
    const { url } = await startOdd(t, (_asked, response) => {
      json(response, {
        name: 'Elsewhere',
        supportedInterfaces: [{ url: other.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      });
    });
    const elsewhere = ['--card-path', '/card', '--allow-cross-origin-interfaces'];
    for (const command of [['get', url, 'task-1'], ['check', url]]) {
      const { code, stderr } = await cli([...command, ...elsewhere, '--header-env', 'X-Key=KEY'], { env: { KEY: SECRET } });
      equal(code, 3);
      match(stderr, /agent\.authorization/);
    }
    deepEqual(other.asked, []);
    equal((await cli(['get', url, 'task-1', ...elsewhere])).code, 0);
  });

  test('What is wrong with one is told without its value', async () => {
    const wrong: readonly (readonly [argv: readonly string[], says: RegExp])[] = [
      [['-H', SECRET], /-H takes 'NAME: VALUE' or @FILE/],
      [['-H', `@${file('wrong', `X-A: 1\n${SECRET}`)}`], /-H: line 2 of the file is not NAME: VALUE/],
      [['-H', `@${SECRET}`], /-H: the file cannot be read/],
      [['-H', `@${file('bytes', Buffer.from([0x58, 0x3a, 0xff]))}`], /-H: the file is not UTF-8/],
      [['--header-env', SECRET], /--header-env takes NAME=VARIABLE/],
      [['--header-env', `Authorization=${SECRET}`], /--header-env Authorization=…: there is no such environment variable/],
      [['-H', `X-A: ${SECRET}`, '-H', `x-a: ${SECRET}`], /the header x-a is given twice/],
    ];
    for (const [argv, says] of wrong) {
      const { code, stderr, stdout } = await cli(['get', 'http://127.0.0.1:1/', 't', ...argv]);
      deepEqual([code, stdout], [2, '']);
      match(stderr, says);
      ok(!stderr.includes(SECRET), stderr);
    }
    const { code, stderr } = await cli(['get', 'http://127.0.0.1:1/', 't', '-H', `Host: ${SECRET}`]);
    equal(code, 3);
    match(stderr, /options\.headers/);
    ok(!stderr.includes(SECRET));
  });
});

describe('TLS', { concurrency: true }, () => {
  const certificates = new URL('../../fixtures/certificates/', import.meta.url);
  const localhost = fileURLToPath(new URL('localhost.pem', certificates));

  test('An authority of ones own is trusted by --ca, and not without', async (t) => {
    const { url } = await agent(t, CERTIFICATE);
    const without = await cli(['get', url, 'task-1']);
    equal(without.code, 6);
    match(without.stderr, /http\.connect\): no connection \([A-Z_]*(CERT|SIGNATURE)[A-Z_]*\)/);
    equal((await cli(['get', url, 'task-1', '--ca', localhost])).code, 0);
  });

  test('A client certificate without its key is refused, and what is no certificate is', async () => {
    const key = fileURLToPath(new URL('localhost-key.pem', certificates));
    for (const argv of [['--cert', localhost], ['--key', key], ['--ca', key]]) {
      const { code, stderr } = await cli(['get', 'https://127.0.0.1:1/', 't', ...argv]);
      deepEqual([code, /options\.dispatcher/.test(stderr)], [3, true], argv[0]);
    }
  });

  test('check tells the version of TLS and until when the certificate is valid, and what is wrong with one', async (t) => {
    const { url } = await agent(t, CERTIFICATE);
    const { stdout } = await cli(['check', url, '--ca', localhost]);
    match(stdout, /^✓ kept +TLS +TLSv1\.3, TLS_\w+, certificate valid until .*\d{4} GMT$/m);
    const { code, stdout: told } = await cli(['check', url, '--json']);
    equal(code, 1);
    const [tls, summary] = values(told);
    deepEqual([tls?.['check'], tls?.['state'], tls?.['rule'], summary], ['tls', 'broken', 'http.connect', { summary: { kept: 0, broken: 1, not_exercised: 0 } }]);
  });
});
