import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Peer, certificate } from './servers.js';

const run = promisify(execFile);

test('The environment has no say: certificates are checked, old TLS is refused, no proxy is used, the parser is the same', async (t) => {
  const tls = { cert: certificate('server.pem'), key: certificate('server-key.pem') };
  const secure = await Peer.listen(t, { tls });
  const old = await Peer.listen(t, { tls: { ...tls, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } });
  const plain = await Peer.listen(t);
  const nowhere = 'http://127.0.0.1:1';
  const child = fileURLToPath(new URL('./children/environment.ts', import.meta.url));
  const { stdout } = await run(process.execPath, ['--import', 'tsx', child, secure.origin(), old.origin(), plain.origin()], {
    timeout: 30_000,
    env: {
      PATH: process.env['PATH'],
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      NODE_USE_ENV_PROXY: '1',
      NODE_OPTIONS: '--tls-min-v1.0 --tls-cipher-list=DEFAULT@SECLEVEL=0',
      UNDICI_USE_MILO: '1',
      ...Object.fromEntries(['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [[name, nowhere], [name.toLowerCase(), nowhere]])),
      NO_PROXY: '',
    },
  });
  assert.deepEqual(JSON.parse(stdout), {
    hardened: ['http.connect not_sent', 'http.connect not_sent', 'ok', 'llhttp'],
    others: ['ok', 'ok', 'http.connect not_sent', 'Milo'],
  });
});
