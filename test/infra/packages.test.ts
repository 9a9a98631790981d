import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Packages that are no part of the product, with one file each that others may import. */
const PACKAGES = ['infra/embedded/chdb_server', 'infra/embedded/phone_simulator'];
const IMPORT = /(?<!')\b(?:from|import)\s*\(?\s*'([^']+)'/g;

function importsOf(file: string): string[] {
  return [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(IMPORT)].map(([, target = '']) => target);
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => path.join(folder, name));
}

const inPackage = (file: string) => PACKAGES.find((folder) => file.startsWith(`${folder}/`));

test('a package is imported by its name only, which leads to its public interface', () => {
  const files = ['src', 'workers', 'infra', 'test'].flatMap(sourcesBelow).filter((file) => !inPackage(file));
  const names = PACKAGES.map((folder) => path.basename(folder));
  const deeper = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => names.some((name) => target.includes(`/${name}/`)))
      .map((target) => `${file} imports ${target}`),
  );
  expect(files.length).toBeGreaterThan(700);
  expect(deeper).toEqual([]);
});

test.each(PACKAGES)('%s imports nothing of the product, and only packages that it names itself', (folder) => {
  const { dependencies, exports } = JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    exports: Record<string, string>;
  };
  expect(Object.keys(exports)).toEqual(['.', './main']);
  const alias = `#${path.basename(folder)}/`;
  const isAllowed = (target: string, isTest: boolean) =>
    /^(?:\.\/|node:)/.test(target) ||
    Object.keys(dependencies).some((name) => target === name || target.startsWith(`${name}/`)) ||
    (isTest && (target.startsWith(alias) || !target.startsWith('#')));
  const files = sourcesBelow(folder);
  const faults = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => !isAllowed(target, file.startsWith(`${folder}/test/`)))
      .map((target) => `${file} imports ${target}`),
  );
  expect(files.length).toBeGreaterThan(10);
  expect(faults).toEqual([]);
});

test('modules that are compiled ahead start nothing when they are loaded', () => {
  const source = readFileSync(path.join(ROOT, 'infra/compile_ahead.ts'), 'utf8');
  const modules = [...source.matchAll(/^ {4}'#(\w+)(\/.+)',$/gm)].map(([, folder = '', file = '']) =>
    ['infra', 'workers'].includes(folder) ? folder + file : `src/${folder}${file}`,
  );
  expect(modules.length).toBeGreaterThan(8);
  expect(modules.filter((file) => /^await runProgram\(/m.test(readFileSync(path.join(ROOT, file), 'utf8')))).toEqual(
    [],
  );
});
