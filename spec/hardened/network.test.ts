import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalAddress, judgeAddress, type NetworkPolicy } from '../../lib/hardened/network.js';

function isAllowed(policy: NetworkPolicy, address: string): boolean {
  const failure = judgeAddress(policy, canonicalAddress(address), { host: 'agent.test', port: 443 });
  if (failure !== undefined) assert.deepEqual([failure.rule, failure.kind, failure.delivery], ['network.refused', 'invalid_argument', 'not_sent']);
  return failure === undefined;
}

/** The first and the last of each block that IANA's registries set aside, and metadata services of clouds. */
const SPECIAL_IPV4: readonly (readonly [name: string, first: string, last: string])[] = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private use', '10.0.0.0', '10.255.255.255'],
  ['carrier NAT', '100.64.0.0', '100.127.255.255'],
  ['loopback', '127.0.0.0', '127.255.255.255'],
  ['link-local', '169.254.0.0', '169.254.255.255'],
  ['private use', '172.16.0.0', '172.31.255.255'],
  ['IETF protocol assignments', '192.0.0.0', '192.0.0.255'],
  ['service continuity', '192.0.0.0', '192.0.0.7'],
  ['dummy, port control and TURN anycast', '192.0.0.8', '192.0.0.10'],
  ['discovery of NAT64', '192.0.0.170', '192.0.0.171'],
  ['documentation', '192.0.2.0', '192.0.2.255'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255'],
  ['private use', '192.168.0.0', '192.168.255.255'],
  ['benchmarks', '198.18.0.0', '198.19.255.255'],
  ['documentation', '198.51.100.0', '198.51.100.255'],
  ['documentation', '203.0.113.0', '203.0.113.255'],
  ['multicast', '224.0.0.0', '239.255.255.255'],
  ['reserved and broadcast', '240.0.0.0', '255.255.255.255'],
  ['metadata of AWS, Google, Azure and others', '169.254.169.254', '169.254.170.2'],
  ['metadata of Alibaba', '100.100.100.200', '100.100.100.200'],
  ['metadata of Oracle', '192.0.0.192', '192.0.0.192'],
  ['metadata of Azure', '168.63.129.16', '168.63.129.16'],
];

/** What is next to them, and what the registries set aside but call globally reachable. */
const PUBLIC_IPV4 = [
  ['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '191.255.255.255'],
  ['192.0.1.0', '192.0.1.255', '192.0.3.0', '192.88.98.255', '192.88.100.0', '192.167.255.255', '192.169.0.0', '198.17.255.255'],
  ['198.20.0.0', '198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
  // The sinks of AS112 and the relays of AMT.
  ['192.31.196.1', '192.52.193.1', '192.175.48.1'],
  ['8.8.8.8', '93.184.215.14'],
].flat();

const SPECIAL_IPV6: readonly (readonly [name: string, first: string, last: string])[] = [
  ['unspecified and loopback', '::', '::1'],
  ['IPv4-compatible', '::2', '::ffff:ffff'],
  ['IPv4-compatible, of a public address', '::8.8.8.8', '::0808:0808'],
  ['IPv4-translated', '::ffff:0:7f00:1', '::ffff:0:808:808'],
  ['around IPv4-mapped', '::fffe:ffff:ffff', '::1:0:0:0'],
  ['before NAT64', '64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff', '64:ff9a::'],
  ['after NAT64', '64:ff9b::1:0:0', '64:ff9b:0:ffff:ffff:ffff:ffff:ffff'],
  ['local-use NAT64', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['local-use NAT64 of a public address', '64:ff9b:1::8.8.8.8', '64:ff9b:1:808:8:800::'],
  ['discard-only', '100::', '100::ffff:ffff:ffff:ffff'],
  ['dummy', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  ['before global unicast', '200::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['IETF protocol assignments', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['Teredo', '2001::1', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['anycast of protocols', '2001:1::1', '2001:1::3'],
  ['benchmarks', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHID', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHIDv2', '2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['drones', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4 of loopback and of a public address', '2002:7f00:1::', '2002:808:808::1'],
  ['documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['after global unicast', '4000::', '5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['SRv6', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['unassigned', '6000::', 'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['unique-local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['metadata of AWS', 'fd00:ec2::254', 'fd00:ec2::23'],
  ['metadata of Google', 'fd20:ce::254', 'fd20:ce::254'],
  ['unassigned', 'fe00::', 'fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['link-local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['link-local with a zone', 'fe80::1%lo', 'fe80::a9fe:a9fe%1'],
  ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];

const PUBLIC_IPV6 = [
  ['2000::', '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::', '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::', '2606:4700:4700::1111', '2620:4f:8000::', '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['3fff:1000::', '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2606:4700:4700::1111%1'],
].flat();

/** IPv6 addresses that are the IPv4 address to whoever connects to them, or to the network on the way. */
const EMBEDDED: readonly ((ipv4: string) => string)[] = [
  (ipv4) => `::ffff:${ipv4}`,
  (ipv4) => `::ffff:${hex(ipv4)}`,
  (ipv4) => `0:0:0:0:0:FFFF:${hex(ipv4).toUpperCase()}`,
  (ipv4) => `64:ff9b::${ipv4}`,
  (ipv4) => `64:ff9b::${hex(ipv4)}`,
];

function hex(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

const POLICIES: readonly NetworkPolicy[] = ['public', 'loopback', 'any', (address) => address.startsWith('10.')];

describe("network: 'public'", () => {
  for (const [name, first, last] of [...SPECIAL_IPV4, ...SPECIAL_IPV6]) {
    test(`Refused are ${name}, ${first} to ${last}`, () => {
      assert.deepEqual([first, last].filter((address) => isAllowed('public', address)), []);
    });
  }

  test('What is next to the special blocks is let through, and what a registry calls globally reachable', () => {
    assert.deepEqual([...PUBLIC_IPV4, ...PUBLIC_IPV6].filter((address) => !isAllowed('public', address)), []);
  });

  test('An IPv4 address that is embedded in an IPv6 one is judged as itself', () => {
    for (const form of EMBEDDED) {
      const special = SPECIAL_IPV4.flatMap(([, first, last]) => [form(first), form(last)]);
      assert.deepEqual(special.filter((address) => isAllowed('public', address)), []);
      assert.deepEqual(PUBLIC_IPV4.map(form).filter((address) => !isAllowed('public', address)), []);
    }
  });
});

describe("network: 'loopback'", () => {
  test('127.0.0.0/8 and ::1 are let through, in whatever spelling', () => {
    const loopback = ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1', '::1%1', '::ffff:127.0.0.1', '::ffff:7f00:1'];
    assert.deepEqual(loopback.filter((address) => !isAllowed('loopback', address)), []);
  });

  test('Everything else is refused, what is no loopback on the way included', () => {
    const near = ['126.255.255.255', '128.0.0.0', '0.0.0.0', '::', '::2', '::127.0.0.1', '64:ff9b::127.0.0.1'];
    const others = [...near, '10.0.0.1', 'fe80::1', '8.8.8.8', '::ffff:8.8.8.8'];
    assert.deepEqual(others.filter((address) => isAllowed('loopback', address)), []);
    assert.deepEqual([...PUBLIC_IPV4, ...PUBLIC_IPV6].filter((address) => isAllowed('loopback', address)), []);
  });
});

describe("network: 'any'", () => {
  test('Every address is let through', () => {
    const all = [...SPECIAL_IPV4, ...SPECIAL_IPV6].flatMap(([, first, last]) => [first, last]).concat(PUBLIC_IPV4, PUBLIC_IPV6);
    assert.deepEqual(all.filter((address) => !isAllowed('any', address)), []);
  });
});

describe('network: a function', () => {
  const target = { host: 'agent.test', port: 8443 };

  test('It is asked with the address in one spelling, the port and the host', () => {
    const asked: unknown[] = [];
    const spellings = [
      ['2001:DB8:0:0::01', '2001:db8::1'],
      ['::ffff:7f00:1', '127.0.0.1'],
      ['0:0:0:0:0:FFFF:10.0.0.1', '10.0.0.1'],
      ['::10.0.0.1', '::10.0.0.1'],
      ['fe80::1%lo', 'fe80::1'],
      ['10.1.2.3', '10.1.2.3'],
    ];
    for (const [written = ''] of spellings) {
      judgeAddress((...given) => asked.push(given) > 0, canonicalAddress(written), target);
    }
    assert.deepEqual(asked, spellings.map(([, canonical]) => [canonical, 8443, 'agent.test']));
  });

  test('Only true lets an address through', () => {
    const answers: unknown[] = [true, false, undefined, null, 1, 'true', {}, [], Object(true), Promise.resolve(true), () => true, Symbol('true')];
    // A caller without types may return anything.
    const allowed = answers.filter((answer) => judgeAddress((() => answer) as () => boolean, '10.0.0.1', target) === undefined);
    assert.deepEqual(allowed, [true]);
  });

  test('A promise that it gives lets nothing through, and may reject', async () => {
    let unhandled = 0;
    const count = (): void => {
      unhandled++;
    };
    process.on('unhandledRejection', count);
    try {
      const asked = (() => Promise.reject(new Error('down'))) as unknown as () => boolean;
      assert.equal(judgeAddress(asked, '10.0.0.1', target)?.rule, 'network.refused');
      await new Promise((resolve) => setTimeout(resolve, 5));
    } finally {
      process.off('unhandledRejection', count);
    }
    assert.equal(unhandled, 0);
  });

  test('What it throws is behind unwrap(), and the address is refused', () => {
    for (const thrown of [new Error('secret'), 'secret', undefined]) {
      const failure = judgeAddress(
        () => {
          throw thrown as Error;
        },
        '10.0.0.1',
        target,
      );
      assert.equal(failure?.rule, 'network.refused');
      assert.equal(failure.unwrap(), thrown);
    }
  });

  test('The unspecified addresses, which the system takes for this machine, are refused without asking', () => {
    const unspecified = ['0.0.0.0', '::', '0:0::0', '::ffff:0.0.0.0', '::%1'];
    let asked = 0;
    const allow = (): boolean => ++asked > 0;
    assert.deepEqual(unspecified.filter((address) => isAllowed(allow, address)), []);
    assert.equal(asked, 0);
    assert.ok(isAllowed(allow, '0.0.0.1'));
  });
});

describe('What is no address', () => {
  test('It is never judged', () => {
    const old = ['127.1', '0x7f000001', '2130706433', '127.0.0.01', '127.0.0.1.'];
    for (const text of [...old, '', 'localhost', '[::1]', '1.2.3.4/8', '::1/128', ' 127.0.0.1', '127.0.0.1\0', ':::']) {
      assert.throws(() => canonicalAddress(text), TypeError, text);
    }
  });

  test('What unwrap() gives names the policy and the address', () => {
    const messages = POLICIES.map((policy) => String(judgeAddress(policy, '169.254.169.254', { host: 'agent.test', port: 80 })?.unwrap()));
    assert.match(messages[0]!, /public.*169\.254\.169\.254/);
    assert.match(messages[1]!, /loopback.*169\.254\.169\.254/);
    assert.equal(messages[2], 'undefined');
    assert.match(messages[3]!, /function.*169\.254\.169\.254/);
  });
});
