/** The test certificate, for `localhost` and `127.0.0.1`: fixtures/certificates. */
import { readFileSync } from 'node:fs';

const folder = new URL('../../fixtures/certificates/', import.meta.url);

export const CERTIFICATE = {
  cert: readFileSync(new URL('localhost.pem', folder)),
  key: readFileSync(new URL('localhost-key.pem', folder)),
};
