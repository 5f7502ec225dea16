/**
 * Checks exported modules against LLMRTC's own types, strictly, and writes them as JavaScript beside themselves:
 * `node compile.mjs FOLDER TYPESCRIPT < ["a.ts", …] > ["what the compiler says", …]`.
 *
 * FOLDER holds node_modules with LLMRTC, TYPESCRIPT is the compiler's package.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [folder, compiler] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(compiler);
const files = JSON.parse(readFileSync(0, 'utf8'));
const options = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ['lib.es2023.d.ts'],
  types: [],
  skipLibCheck: true,
  paths: { '@llmrtc/llmrtc-core': [join(folder, 'node_modules/@llmrtc/llmrtc-core/dist/index.d.ts')] },
};
const program = ts.createProgram(files, options);
const said = ts.getPreEmitDiagnostics(program).map((found) => {
  const where = found.file ? `${found.file.fileName}:${found.file.getLineAndCharacterOfPosition(found.start).line + 1}` : '';
  return `${where} ${ts.flattenDiagnosticMessageText(found.messageText, ' ')}`;
});
for (const file of files) {
  const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), { compilerOptions: options });
  writeFileSync(file.replace(/\.ts$/, '.mjs'), outputText);
}
process.stdout.write(JSON.stringify(said));
