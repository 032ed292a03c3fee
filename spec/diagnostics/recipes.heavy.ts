import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { writeRecipes } from './recipes.js';

test('The recipes of docs/observability.md are strict TypeScript as they stand', (t) => {
  const recipes = writeRecipes();
  t.after(() => {
    recipes.remove();
  });
  assert.deepEqual(recipes.files, ['tracing.ts', 'traced.ts', 'audit.ts', 'audited.ts']);
  const program = ts.createProgram(
    recipes.files.map((name) => join(recipes.folder, name)),
    {
      ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true },
      ...{ target: ts.ScriptTarget.ES2023, lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts'], types: ['node'] },
      ...{ module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
    },
  );
  const found = recipes.files.flatMap((name) => {
    const file = program.getSourceFile(join(recipes.folder, name));
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  });
  assert.deepEqual(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')), []);
});
