/**
 * Which addresses may be connected to. Judged is the address, never the name: what a name stands for is known when it is resolved, and
 * may be something else the next time.
 */
import { BlockList, SocketAddress, isIP, isIPv4 } from 'node:net';
import { Failure } from '../failure.js';

/**
 * What may be connected to.
 *
 * - `'public'`: addresses that are reachable all over the Internet, and no others: what IANA's special-purpose registries (RFC 6890) set
 *   aside is refused, and so are the metadata services of clouds.
 * - `'loopback'`: this machine alone, 127.0.0.0/8 and ::1.
 * - `'any'`: whatever a name resolves to.
 * - A function of the address, the port and the host that was asked for: true lets the connection be made, anything else refuses it, a
 *   throw too (it is behind `unwrap()`). It is asked once for each address, before any of them is connected to. Addresses are written as
 *   RFC 5952 does, without a zone; an IPv4-mapped one as the IPv4 address that it is. The unspecified addresses (0.0.0.0, ::) are refused
 *   without asking: the system takes them for itself.
 */
export type NetworkPolicy = 'public' | 'loopback' | 'any' | ((address: string, port: number, host: string) => boolean);

/** What a connection is wanted to. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

type Block = readonly [network: string, prefix: number];

/** Not reachable from everywhere: the IANA IPv4 Special-Purpose Address Registry, with what was there before it. */
const SPECIAL_IPV4: readonly Block[] = [
  ['0.0.0.0', 8], // This network: RFC 791 section 3.2, RFC 1122 section 3.2.1.3.
  ['10.0.0.0', 8], // Private use: RFC 1918.
  ['100.64.0.0', 10], // Shared by carriers (NAT): RFC 6598. Alibaba Cloud's metadata service (100.100.100.200) is in it.
  ['127.0.0.0', 8], // Loopback: RFC 1122 section 3.2.1.3.
  // Azure's own service for virtual machines, at a public address: "What is IP address 168.63.129.16?" in its documentation.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16], // Link-local: RFC 3927. The metadata services of most clouds (169.254.169.254) are in it.
  ['172.16.0.0', 12], // Private use: RFC 1918.
  ['192.0.0.0', 24], // IETF protocol assignments: RFC 6890 section 2.1. Oracle Cloud's old metadata service (192.0.0.192) is in it.
  ['192.0.2.0', 24], // Documentation: RFC 5737.
  ['192.88.99.0', 24], // 6to4 relays: RFC 3068, taken back by RFC 7526.
  ['192.168.0.0', 16], // Private use: RFC 1918.
  ['198.18.0.0', 15], // Benchmarks: RFC 2544.
  ['198.51.100.0', 24], // Documentation: RFC 5737.
  ['203.0.113.0', 24], // Documentation: RFC 5737.
  ['224.0.0.0', 4], // Multicast: RFC 5771.
  ['240.0.0.0', 4], // Reserved: RFC 1112 section 4. The limited broadcast address (RFC 8190) is in it.
];

/** NAT64, RFC 6052 section 2.1: an IPv4 address in the last four bytes. It is reachable if that is. */
const NAT64 = '64:ff9b::';
const NAT64_PREFIX = 96;

/**
 * Where IPv6 addresses that are reachable from everywhere are. Loopback, unique-local (RFC 4193), link-local (RFC 4291 section 2.5.6),
 * site-local (RFC 3879), multicast (RFC 4291 section 2.7), IPv4-compatible (RFC 4291 section 2.5.5.1), discard-only (RFC 6666),
 * local-use NAT64 (RFC 8215) and SRv6 (RFC 9602) are outside; so are the metadata services of clouds, at unique-local addresses.
 */
const GLOBAL_IPV6: readonly Block[] = [
  ['2000::', 3], // Global unicast: RFC 4291 section 2.4, the IANA IPv6 address space registry.
  [NAT64, NAT64_PREFIX],
];

/** Not reachable from everywhere, of those: the IANA IPv6 Special-Purpose Address Registry. */
const SPECIAL_IPV6: readonly Block[] = [
  // IETF protocol assignments, RFC 2928: Teredo (RFC 4380), benchmarks (RFC 5180), ORCHID (RFC 4843, RFC 7343), anycast of protocols.
  ['2001::', 23],
  ['2001:db8::', 32], // Documentation: RFC 3849.
  ['2002::', 16], // 6to4, which embeds any IPv4 address: RFC 3056, RFC 7526.
  ['3fff::', 20], // Documentation: RFC 9637.
  ...SPECIAL_IPV4.map(([network, prefix]): Block => [NAT64 + network, NAT64_PREFIX + prefix]),
];

const LOOPBACK_IPV4: readonly Block[] = [['127.0.0.0', 8]]; // RFC 1122 section 3.2.1.3.
const LOOPBACK_IPV6: readonly Block[] = [['::1', 128]]; // RFC 4291 section 2.5.3.

function blocks(family: 'ipv4' | 'ipv6', list: readonly Block[]): (address: string) => boolean {
  const known = new BlockList();
  for (const [network, prefix] of list) known.addSubnet(network, prefix, family);
  return (address) => known.check(address, family);
}

const isSpecialIPv4 = blocks('ipv4', SPECIAL_IPV4);
const isSpecialIPv6 = blocks('ipv6', SPECIAL_IPV6);
const isGlobalIPv6 = blocks('ipv6', GLOBAL_IPV6);
const isLoopbackIPv4 = blocks('ipv4', LOOPBACK_IPV4);
const isLoopbackIPv6 = blocks('ipv6', LOOPBACK_IPV6);

const UNSPECIFIED = new Set(['0.0.0.0', '::']);

/**
 * An address in the one spelling that is judged: without a zone, and an IPv4-mapped one (RFC 4291 section 2.5.5.2) as the IPv4 address
 * that the system makes of it.
 * @throws {TypeError} it is no IP address
 */
export function canonicalAddress(text: string): string {
  const family = isIP(text);
  if (family === 0) throw new TypeError('no IP address');
  if (family === 4) return text;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const mapped = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : '';
  return isIPv4(mapped) ? mapped : address;
}

/**
 * The failure that a policy makes of an address, `network.refused`; `undefined` where it may be connected to.
 * @param address as {@link canonicalAddress} writes it
 */
export function judgeAddress(policy: NetworkPolicy, address: string, { host, port }: Target): Failure | undefined {
  let cause: unknown;
  try {
    if (isAllowed(policy, address, host, port)) return undefined;
    const name = typeof policy === 'string' ? policy : 'the function';
    cause = new Error(`network: ${name} does not allow ${address} (${host}:${String(port)})`);
  } catch (error) {
    cause = error;
  }
  return new Failure('network.refused', { delivery: 'not_sent', cause });
}

function isAllowed(policy: NetworkPolicy, address: string, host: string, port: number): boolean {
  if (policy === 'any') return true;
  if (policy === 'public') return isIPv4(address) ? !isSpecialIPv4(address) : isGlobalIPv6(address) && !isSpecialIPv6(address);
  if (policy === 'loopback') return isIPv4(address) ? isLoopbackIPv4(address) : isLoopbackIPv6(address);
  if (UNSPECIFIED.has(address)) return false;
  const answer: unknown = policy(address, port, host);
  // A promise, or a number, is no answer: fail closed. What becomes of the promise is nobody's business any more.
  if (answer instanceof Promise) answer.catch(() => undefined);
  return answer === true;
}
