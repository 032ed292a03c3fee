/**
 * The public surface as text: what each entry point exports, with the types that this names, as the compiler declares them and without
 * comments. A change of the surface is a change of these texts, and is seen in review.
 */
import { join, posix } from 'node:path';
import ts from 'typescript';
import { entryPoints, root } from '../trust/compiled.js';

/** A declaration, in the file that it stands in. */
interface Declared {
  readonly file: string;
  readonly nodes: readonly ts.Node[];
}

/** What a name stands for: a declaration of ours, or something of a package. */
type Meaning = Declared | { readonly module: string; readonly name: string };

/** The reports by the names of their files. */
export function reports(): Map<string, string> {
  const declarations = declarationsOf(entryPoints().map(({ source }) => join(root, 'lib', source)));
  return new Map(
    entryPoints().map(({ name, source }) => [
      `${name === '.' ? 'index' : name.slice(2).replaceAll('/', '-')}.api.txt`,
      report(name, source.replace(/\.ts$/, '.d.ts'), declarations),
    ]),
  );
}

/** The declaration files of the library, by their paths below `dist`. */
function declarationsOf(sources: readonly string[]): Map<string, ts.SourceFile> {
  const config = ts.readConfigFile(join(root, 'lib', 'tsconfig.json'), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, join(root, 'lib'));
  const program = ts.createProgram(sources, { ...options, emitDeclarationOnly: true, removeComments: true, skipLibCheck: true });
  const emitted = new Map<string, ts.SourceFile>();
  program.emit(
    undefined,
    (path, text) => {
      const name = posix.relative(posix.join(root, 'dist'), path);
      emitted.set(name, ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true));
    },
    undefined,
    true,
  );
  return emitted;
}

function report(name: string, entry: string, files: ReadonlyMap<string, ts.SourceFile>): string {
  const exported = [...exportsOf(entry, files)].sort(([a], [b]) => (a < b ? -1 : 1));
  const printed = new Set<ts.Node>();
  const queue: Declared[] = [];
  const print = (as: string, meaning: Meaning): string => {
    if ('module' in meaning) return `export ${as === meaning.name ? as : `${meaning.name} as ${as}`} from '${meaning.module}'`;
    for (const node of meaning.nodes) printed.add(node);
    queue.push(meaning);
    return meaning.nodes.map(textOf).join('\n');
  };
  const own = exported.map(([as, meaning]) => print(as, meaning));
  const named = new Map<string, string>();
  for (const { file, nodes } of queue) {
    for (const identifier of nodes.flatMap(identifiersOf)) {
      const meaning = meaningOf(file, identifier, files);
      if (meaning === undefined || 'module' in meaning || meaning.nodes.every((node) => printed.has(node))) continue;
      named.set(`${identifier} ${meaning.file}`, print(identifier, meaning));
    }
  }
  const also = [...named].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  return [
    `# What a2a-strict${name.slice(1)} exports`,
    ...own,
    ...(also.length > 0 ? ['# What these name, and nobody can import', ...also] : []),
  ].join('\n\n').concat('\n');
}

function textOf(node: ts.Node): string {
  const statement = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  return statement
    .getText()
    .replace(/^(?:export |declare )+/, '')
    .replace(/^ +#private;\n/gm, '');
}

function identifiersOf(node: ts.Node): string[] {
  const found: string[] = ts.isIdentifier(node) ? [node.text] : [];
  node.forEachChild((child) => {
    found.push(...identifiersOf(child));
  });
  return found;
}

function exportsOf(file: string, files: ReadonlyMap<string, ts.SourceFile>): Map<string, Meaning> {
  const exported = new Map<string, Meaning>();
  for (const statement of sourceOf(file, files).statements) {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, moduleSpecifier } = statement;
      if (exportClause === undefined) throw new Error(`${file} exports all of a module: what that is would not be seen here`);
      if (!ts.isNamedExports(exportClause)) continue;
      for (const { name, propertyName } of exportClause.elements) {
        const original = (propertyName ?? name).text;
        const meaning = moduleSpecifier === undefined ? meaningOf(file, original, files) : through(file, moduleSpecifier, original, files);
        if (meaning !== undefined) exported.set(name.text, meaning);
      }
    } else if (ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true) {
      for (const name of namesOf(statement)) {
        const meaning = meaningOf(file, name, files);
        if (meaning !== undefined) exported.set(name, meaning);
      }
    }
  }
  return exported;
}

/** What a name in a file stands for: its declarations there, or what it is imported from. `undefined` for a name of the language's. */
function meaningOf(file: string, name: string, files: ReadonlyMap<string, ts.SourceFile>): Meaning | undefined {
  const nodes: ts.Node[] = [];
  for (const statement of sourceOf(file, files).statements) {
    if (namesOf(statement).includes(name)) nodes.push(statement);
    if (!ts.isImportDeclaration(statement)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue;
    const imported = bindings.elements.find((element) => element.name.text === name);
    if (imported !== undefined) return through(file, statement.moduleSpecifier, (imported.propertyName ?? imported.name).text, files);
  }
  return nodes.length > 0 ? { file, nodes } : undefined;
}

function through(file: string, specifier: ts.Expression, name: string, files: ReadonlyMap<string, ts.SourceFile>): Meaning | undefined {
  if (!ts.isStringLiteral(specifier)) throw new Error(`${file} imports from what is no literal`);
  if (!specifier.text.startsWith('.')) return { module: specifier.text, name };
  const target = posix.join(posix.dirname(file), specifier.text).replace(/\.js$/, '.d.ts');
  return exportsOf(target, files).get(name);
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
  }
  const isNamed =
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isEnumDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}

function sourceOf(file: string, files: ReadonlyMap<string, ts.SourceFile>): ts.SourceFile {
  const source = files.get(file);
  if (source === undefined) throw new Error(`there is no declaration file ${file}`);
  return source;
}
