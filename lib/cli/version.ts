/** The version of this package. */
import { readFileSync } from 'node:fs';

export function packageVersion(): string {
  // As far above the compiled file as above its source.
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown';
}
