/** The cases of `fixtures/cards`, as far as this client reads them. */
import { readFileSync } from 'node:fs';

export interface Refused {
  readonly ok?: undefined;
  readonly rule: string;
  readonly path?: string;
}

export interface DecodeCase {
  readonly name: string;
  readonly card?: unknown;
  readonly text?: string;
  readonly base64?: string;
  readonly expect: Refused | { readonly ok: true; readonly generation: string; readonly card: unknown };
}

export interface SelectCase {
  readonly name: string;
  readonly interfaces: readonly unknown[];
  readonly baseUrl: string;
  readonly allowCrossOriginInterfaces?: true;
  readonly protocolVersions?: readonly ('1.0' | '0.3')[];
  readonly expect: Refused | { readonly ok: true; readonly endpoint: string; readonly protocolVersion: string; readonly tenant: string; readonly reason: string };
}

export interface SignatureCase {
  readonly name: string;
  readonly card: Readonly<Record<string, unknown>>;
  readonly algorithms?: readonly string[];
  readonly expect: Refused | { readonly ok: true; readonly signedBy: string };
}

interface Corpus<Case> {
  readonly about: string;
  readonly keys?: readonly Readonly<Record<string, string>>[];
  readonly cases: readonly Case[];
}

/** @param name of a file in `fixtures/cards` */
export function read<Case>(name: 'decode' | 'select' | 'signatures'): Corpus<Case> {
  return JSON.parse(readFileSync(new URL(`../../fixtures/cards/${name}.json`, import.meta.url), 'utf8')) as Corpus<Case>;
}

/** The bytes of a case's body. */
export function bodyOf({ card, text, base64 }: DecodeCase): Buffer {
  if (base64 !== undefined) return Buffer.from(base64, 'base64');
  return Buffer.from(text ?? JSON.stringify(card));
}
