import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalJson, signedTexts } from '../../lib/discovery/canonical.js';

describe('RFC 8785', () => {
  test('writes members by UTF-16 code units, and strings with no more escapes than needed', () => {
    // The example of its section 3.2.3, and the control characters of section 3.2.2.2.
    const value: unknown = JSON.parse(
      '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}',
    );
    assert.equal(
      canonicalJson(value),
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    );
    assert.equal(canonicalJson('\u0000\b\t\n\f\r"\\/\u001f\u007f\u2028'), '"\\u0000\\b\\t\\n\\f\\r\\"\\\\/\\u001f\u007f\u2028"');
  });

  test('writes numbers as ECMAScript does', () => {
    // Of its appendix B.
    for (const [written, canonical] of [
      ['-0', '0'],
      ['5e-324', '5e-324'],
      ['1.7976931348623157e308', '1.7976931348623157e+308'],
      ['9007199254740992.0', '9007199254740992'],
      ['295147905179352830000.0', '295147905179352830000'],
      ['1e21', '1e+21'],
      ['9.999999999999997e22', '9.999999999999997e+22'],
      ['0.000001', '0.000001'],
      ['1E-7', '1e-7'],
      ['333333333.3333333', '333333333.3333333'],
      ['100', '100'],
      ['1.50', '1.5'],
    ] as const) {
      assert.equal(canonicalJson(JSON.parse(written)), canonical);
    }
  });

  test('writes all there is in JSON, and nothing between', () => {
    assert.equal(canonicalJson({ b: [1, [], {}, null, true, false, 'x', { d: 1, c: 2 }], a: {} }), '{"a":{},"b":[1,[],{},null,true,false,"x",{"c":2,"d":1}]}');
  });
});

/**
 * What `a2a.proto` says of each member of a card: `required` (always there), `optional` (there where it was set), or `plain` (there unless at its
 * default). Messages are there where they were set.
 */
const MEMBERS: readonly (readonly [at: (inner: Record<string, unknown>) => Record<string, unknown>, members: Record<string, readonly [presence: string, empty: unknown]>])[] = [
  [
    (card) => card,
    {
      name: ['required', ''],
      description: ['required', ''],
      supportedInterfaces: ['required', []],
      provider: ['message', { organization: '', url: '' }],
      version: ['required', ''],
      documentationUrl: ['optional', ''],
      capabilities: ['message', {}],
      securitySchemes: ['plain', {}],
      securityRequirements: ['plain', []],
      defaultInputModes: ['required', []],
      defaultOutputModes: ['required', []],
      skills: ['required', []],
      iconUrl: ['optional', ''],
    },
  ],
  [(supportedInterface) => ({ supportedInterfaces: [supportedInterface] }), { url: ['required', ''], protocolBinding: ['required', ''], tenant: ['plain', ''], protocolVersion: ['required', ''] }],
  [(provider) => ({ provider }), { url: ['required', ''], organization: ['required', ''] }],
  [(capabilities) => ({ capabilities }), { streaming: ['optional', false], pushNotifications: ['optional', false], extensions: ['plain', []], extendedAgentCard: ['optional', false] }],
  [(extension) => ({ capabilities: { extensions: [extension] } }), { uri: ['plain', ''], description: ['plain', ''], required: ['plain', false], params: ['message', {}] }],
  [
    (skill) => ({ skills: [skill] }),
    {
      id: ['required', ''],
      name: ['required', ''],
      description: ['required', ''],
      tags: ['required', []],
      examples: ['plain', []],
      inputModes: ['plain', []],
      outputModes: ['plain', []],
      securityRequirements: ['plain', []],
    },
  ],
  [(requirement) => ({ securityRequirements: [requirement] }), { schemes: ['plain', {}] }],
  [(list) => ({ skills: [{ securityRequirements: [{ schemes: { s: list } }] }] }), { list: ['plain', []] }],
  ...(
    [
      ['apiKeySecurityScheme', { description: 'plain', location: 'required', name: 'required' }],
      ['httpAuthSecurityScheme', { description: 'plain', scheme: 'required', bearerFormat: 'plain' }],
      ['oauth2SecurityScheme', { description: 'plain', oauth2MetadataUrl: 'plain' }],
      ['openIdConnectSecurityScheme', { description: 'plain', openIdConnectUrl: 'required' }],
      ['mtlsSecurityScheme', { description: 'plain' }],
    ] as const
  ).map(([kind, members]) => [(scheme: Record<string, unknown>) => ({ securitySchemes: { s: { [kind]: scheme } } }), texts(members)] as const),
  ...(
    [
      ['authorizationCode', { authorizationUrl: 'required', tokenUrl: 'required', refreshUrl: 'plain' }, 'required', { pkceRequired: ['plain', false] }],
      ['clientCredentials', { tokenUrl: 'required', refreshUrl: 'plain' }, 'required', {}],
      ['implicit', { authorizationUrl: 'plain', refreshUrl: 'plain' }, 'plain', {}],
      ['password', { tokenUrl: 'plain', refreshUrl: 'plain' }, 'plain', {}],
      ['deviceCode', { deviceAuthorizationUrl: 'required', tokenUrl: 'required', refreshUrl: 'plain' }, 'required', {}],
    ] as const
  ).map(
    ([kind, members, scopes, others]) =>
      [
        (flow: Record<string, unknown>) => ({ securitySchemes: { s: { oauth2SecurityScheme: { flows: { [kind]: flow } } } } }),
        { ...texts(members), scopes: [scopes, {}], ...others },
      ] as const,
  ),
];

function texts(members: Readonly<Record<string, string>>): Record<string, readonly [string, unknown]> {
  return Object.fromEntries(Object.entries(members).map(([name, presence]) => [name, [presence, '']]));
}

/** The text that the specification has signed of a card. */
function told(card: Record<string, unknown>): string {
  return signedTexts(card, '1.0')[0]!;
}

/** The one object in a value that has a member of this name. */
function holderOf(name: string, value: unknown): object | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, name)) return value;
  for (const member of Object.values(value)) {
    const found = holderOf(name, member);
    if (found !== undefined) return found;
  }
  return undefined;
}

describe('What the specification has signed of each member', () => {
  test('is there, or not, as the protocol declares it', () => {
    let seen = 0;
    for (const [at, members] of MEMBERS) {
      for (const [name, [presence, empty]] of Object.entries(members)) {
        seen++;
        const isThere = (inner: Record<string, unknown>): boolean => {
          const holder = holderOf('here', JSON.parse(told(at({ here: 1, ...inner }))));
          assert.ok(holder !== undefined);
          if (name in holder) assert.deepEqual(holder[name as keyof typeof holder], empty);
          return name in holder;
        };
        assert.equal(isThere({ [name]: empty }), presence !== 'plain', `${name} at its default`);
        assert.equal(isThere({}), presence === 'required', `${name} absent`);
        assert.equal(isThere({ [name]: null }), presence === 'required', `${name} null`);
      }
    }
    assert.equal(seen, 66);
  });

  test('is there where it is not at its default, known or not', () => {
    for (const [at] of MEMBERS) {
      const text = told(at({ unknown: '', more: [null] }));
      assert.ok(text.includes('"more":[null]') && text.includes('"unknown":""'), text);
    }
  });

  test('leaves the data of extensions as it is, and the signatures out', () => {
    const params = { a: '', b: null, c: [], d: {}, e: false };
    const text = told({ name: 'n', signatures: [{ protected: 'p', signature: 's' }], capabilities: { extensions: [{ params }] } });
    assert.ok(text.includes('"params":{"a":"","b":null,"c":[],"d":{},"e":false}'));
    assert.ok(!text.includes('signatures'));
  });
});

describe('What the official SDKs sign', () => {
  test('has nothing empty in it', () => {
    const card = { name: 'n', description: '', provider: null, skills: [{ id: '', tags: ['', 't', null] }], capabilities: { streaming: false, extensions: [{ params: { a: '', b: [{}], n: 0 } }] } };
    assert.equal(signedTexts(card, '1.0')[1], '{"capabilities":{"extensions":[{"params":{"n":0}}],"streaming":false},"name":"n","skills":[{"tags":["t"]}]}');
    assert.equal(signedTexts({}, '1.0')[1], '{}');
  });

  test('is the same text only where nothing is empty', () => {
    const card = { name: 'n', url: 'u' };
    assert.deepEqual(signedTexts(card, '0.3'), ['{"name":"n","url":"u"}']);
    assert.equal(signedTexts({ ...card, description: '' }, '0.3').length, 2);
  });
});
