/** The mutants of a source file: the same text with one small fault, as a careless change would make it. */
import ts from 'typescript';

export interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** The line that it begins on, from 1. */
  readonly line: number;
  /** How it is told from the others of its file, also after lines have moved: the line's text, and what becomes of what. */
  readonly key: string;
}

const SWAPS: ReadonlyMap<ts.SyntaxKind, readonly string[]> = new Map([
  [ts.SyntaxKind.PlusToken, ['-']],
  [ts.SyntaxKind.MinusToken, ['+']],
  [ts.SyntaxKind.AsteriskToken, ['/']],
  [ts.SyntaxKind.SlashToken, ['*']],
  [ts.SyntaxKind.PercentToken, ['*']],
  [ts.SyntaxKind.LessThanToken, ['<=', '>=']],
  [ts.SyntaxKind.LessThanEqualsToken, ['<', '>']],
  [ts.SyntaxKind.GreaterThanToken, ['>=', '<=']],
  [ts.SyntaxKind.GreaterThanEqualsToken, ['>', '<']],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, ['!==']],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, ['===']],
  [ts.SyntaxKind.EqualsEqualsToken, ['!=']],
  [ts.SyntaxKind.ExclamationEqualsToken, ['==']],
  [ts.SyntaxKind.AmpersandAmpersandToken, ['||']],
  [ts.SyntaxKind.BarBarToken, ['&&']],
  [ts.SyntaxKind.QuestionQuestionToken, ['&&']],
  [ts.SyntaxKind.AmpersandToken, ['|']],
  [ts.SyntaxKind.BarToken, ['&']],
  [ts.SyntaxKind.LessThanLessThanToken, ['>>']],
  [ts.SyntaxKind.PlusEqualsToken, ['-=']],
  [ts.SyntaxKind.MinusEqualsToken, ['+=']],
  [ts.SyntaxKind.QuestionQuestionEqualsToken, ['=']],
]);

/** Methods that are easily taken for one another; an empty text takes the call away. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['toLowerCase', 'toUpperCase'],
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['push', 'unshift'],
  ['shift', 'pop'],
  ['slice', ''],
  ['subarray', ''],
  ['filter', ''],
]);

export function mutantsOf(text: string): Mutant[] {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.ESNext, true);
  const found = new Map<string, Mutant>();
  const counts = new Map<string, number>();

  const add = (start: number, end: number, replacement: string): void => {
    const original = text.slice(start, end);
    const place = `${start}-${end}-${replacement}`;
    if (original === replacement || found.has(place)) return;
    const { line } = source.getLineAndCharacterOfPosition(start);
    const lineText = text.slice(source.getPositionOfLineAndCharacter(line, 0)).split('\n', 1)[0]!.trim();
    const what = `${lineText} | ${brief(original)} → ${brief(replacement)}`;
    // The same change may be made twice on one line, and the same line may be there twice.
    const count = (counts.get(what) ?? 0) + 1;
    counts.set(what, count);
    found.set(place, { start, end, replacement, line: line + 1, key: count === 1 ? what : `${what} (${count})` });
  };
  const replace = (node: ts.Node, replacement: string): void => {
    add(node.getStart(source), node.end, replacement);
  };

  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    mutate(node, replace, text, source);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found.values()].sort((a, b) => a.start - b.start);
}

type Replace = (node: ts.Node, replacement: string) => void;

function mutate(node: ts.Node, replace: Replace, text: string, source: ts.SourceFile): void {
  const textOf = (inner: ts.Node): string => text.slice(inner.getStart(source), inner.end);
  if (ts.isBinaryExpression(node)) {
    for (const swap of SWAPS.get(node.operatorToken.kind) ?? []) replace(node.operatorToken, swap);
  } else if (ts.isPrefixUnaryExpression(node)) {
    if (node.operator === ts.SyntaxKind.PlusPlusToken) replace(node, `--${textOf(node.operand)}`);
    else if (node.operator === ts.SyntaxKind.MinusMinusToken) replace(node, `++${textOf(node.operand)}`);
    else replace(node, textOf(node.operand));
  } else if (ts.isPostfixUnaryExpression(node)) {
    replace(node, `${textOf(node.operand)}${node.operator === ts.SyntaxKind.PlusPlusToken ? '--' : '++'}`);
  } else if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = ts.isIfStatement(node) ? node.expression : node.condition;
    replace(condition, 'true');
    replace(condition, 'false');
  } else if (ts.isWhileStatement(node) || ts.isForStatement(node)) {
    // Never for ever: that only takes time to find out.
    const condition = ts.isWhileStatement(node) ? node.expression : node.condition;
    if (condition !== undefined) replace(condition, 'false');
  } else if (ts.isExpressionStatement(node) || ts.isThrowStatement(node) || ts.isBreakOrContinueStatement(node)) {
    if (!isSuperCall(node)) replace(node, ';');
  } else if (ts.isReturnStatement(node)) {
    if (node.expression === undefined) replace(node, ';');
  } else if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) {
    replace(node.body, 'undefined');
  } else if (ts.isPropertyAccessExpression(node) && node.questionDotToken !== undefined) {
    replace(node.questionDotToken, '.');
  } else if (ts.isCallExpression(node)) {
    mutateCall(node, replace, textOf);
  } else {
    mutateLiteral(node, replace);
  }
}

function isSuperCall(node: ts.Node): boolean {
  if (!ts.isExpressionStatement(node) || !ts.isCallExpression(node.expression)) return false;
  return node.expression.expression.kind === ts.SyntaxKind.SuperKeyword;
}

function mutateCall(node: ts.CallExpression, replace: Replace, textOf: (node: ts.Node) => string): void {
  if (!ts.isPropertyAccessExpression(node.expression)) return;
  const { name, expression } = node.expression;
  const other = METHODS.get(name.text);
  if (other === '') replace(node, textOf(expression));
  else if (other !== undefined) replace(name, other);
}

function mutateLiteral(node: ts.Node, replace: Replace): void {
  switch (node.kind) {
    case ts.SyntaxKind.TrueKeyword:
      replace(node, 'false');
      return;
    case ts.SyntaxKind.FalseKeyword:
      replace(node, 'true');
      return;
    default:
  }
  if (ts.isNumericLiteral(node)) {
    replace(node, String(Number(node.text.replaceAll('_', '')) + 1));
  } else if (ts.isStringLiteral(node)) {
    // A name is no value.
    if (!ts.isPropertyAssignment(node.parent) || node.parent.name !== node) replace(node, node.text === '' ? "'mutant'" : "''");
  } else if (ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) {
    replace(node, "''");
  } else if (ts.isArrayLiteralExpression(node)) {
    if (node.elements.length > 0) replace(node, '[]');
  } else if (ts.isObjectLiteralExpression(node)) {
    if (node.properties.length > 0) replace(node, '{}');
  } else if (ts.isRegularExpressionLiteral(node)) {
    for (const other of regexps(node.text)) replace(node, other);
  }
}

/** Without an anchor, without a flag, with a class turned round, with a repetition that is none. */
function regexps(text: string): string[] {
  const body = text.slice(1, text.lastIndexOf('/'));
  const flags = text.slice(text.lastIndexOf('/') + 1);
  const others: string[] = [];
  if (body.startsWith('^')) others.push(`/${body.slice(1)}/${flags}`);
  if (body.endsWith('$')) others.push(`/${body.slice(0, -1)}/${flags}`);
  if (flags !== '') others.push(`/${body}/`);
  for (const { index } of body.matchAll(/\[(?!\^)/g)) {
    if (body[index - 1] !== '\\') others.push(`/${body.slice(0, index)}[^${body.slice(index + 1)}/${flags}`);
  }
  for (const { index } of body.matchAll(/[\])][*+]/g)) others.push(`/${body.slice(0, index + 1)}${body.slice(index + 2)}/${flags}`);
  return others;
}

/** Enough to tell it by. */
function brief(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= 60 ? line : `${line.slice(0, 40)}…${line.slice(-16)}`;
}
