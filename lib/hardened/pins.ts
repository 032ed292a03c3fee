/**
 * Pins of public keys: who may answer, beside whom the certificate authorities say may.
 */
import { X509Certificate, createHash } from 'node:crypto';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';

/** The server proved its name, but with none of the keys that were pinned. */
class PinMismatch extends Error {
  readonly code = 'ERR_SPKI_PIN_MISMATCH';

  constructor() {
    super('no key of the certificate chain is one of spkiPins');
  }
}

/** No chain of certificates that serves anyone is longer. */
const MAX_CHAIN = 16;

/** Node's check of the server's name, and then of the pins. Called once the chain is proven, before anything is written. */
export function pinnedIdentity(pins: readonly string[]): typeof checkServerIdentity {
  const pinned = new Set(pins);
  return (hostname, certificate) => checkServerIdentity(hostname, certificate) ?? mismatch(pinned, certificate);
}

function mismatch(pins: ReadonlySet<string>, certificate: PeerCertificate): PinMismatch | undefined {
  try {
    return isPinned(pins, certificate) ? undefined : new PinMismatch();
  } catch {
    // A key that Node cannot read, in a certificate that anyone may have put there. A throw would be nobody's to catch.
    return new PinMismatch();
  }
}

/**
 * Whether a key of the chain is pinned: RFC 7469 section 2.6, the certificate's own or that of an authority above it.
 *
 * Node shows the chain as the server sent it, which is not the one that was proven: anyone may put a certificate with a pinned key there.
 * So each step up is proven again, by its signature.
 */
function isPinned(pins: ReadonlySet<string>, leaf: PeerCertificate): boolean {
  let at: PeerCertificate = leaf;
  let certificate = new X509Certificate(at.raw);
  for (let i = 0; i < MAX_CHAIN; i++) {
    if (pins.has(spkiDigest(certificate))) return true;
    const above = issuerOf(at);
    if (above === undefined || above === at) return false;
    const issuer = new X509Certificate(above.raw);
    if (!certificate.verify(issuer.publicKey)) return false;
    at = above;
    certificate = issuer;
  }
  return false;
}

/** Node's types do not tell that the certificate is a detailed one here. */
function issuerOf(certificate: PeerCertificate & { readonly issuerCertificate?: PeerCertificate }): PeerCertificate | undefined {
  return certificate.issuerCertificate;
}

/** RFC 7469 section 2.4: the SHA-256 of the subject public key info, in base64. */
function spkiDigest(certificate: X509Certificate): string {
  return createHash('sha256').update(certificate.publicKey.export({ type: 'spki', format: 'der' })).digest('base64');
}
