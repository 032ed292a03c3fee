/**
 * Compares the public surface with the reports in `spec/api`, one for each entry point; with `--update`, writes them anew.
 */
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reports } from '../api/report.js';
import { root } from '../trust/compiled.js';

const folder = join(root, 'spec', 'api');
const isUpdate = process.argv.includes('--update');
const current = reports();
let differs = false;

for (const name of readdirSync(folder).filter((file) => file.endsWith('.api.txt') && !current.has(file))) {
  differs = true;
  if (isUpdate) rmSync(join(folder, name));
  else console.error(`There is no entry point any more that ${name} is about.`);
}
for (const [name, text] of current) {
  const path = join(folder, name);
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (before === text) continue;
  differs = true;
  if (isUpdate) {
    writeFileSync(path, text);
    continue;
  }
  console.error(`The public surface is another than ${name} says:`);
  const [old, now] = [new Set(before.split('\n')), new Set(text.split('\n'))];
  for (const line of old) if (!now.has(line)) console.error(`- ${line}`);
  for (const line of now) if (!old.has(line)) console.error(`+ ${line}`);
}
if (differs && !isUpdate) {
  console.error('Where that is meant: npm run api -- --update, and say so in CHANGELOG.md.');
  process.exitCode = 1;
}
