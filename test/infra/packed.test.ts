import { globSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, onTestFinished, test } from 'vitest';

import {
  arePackedProgramsFresh,
  describePrograms,
  PACKED,
  readPacked,
  readPrograms,
  writeManifest,
} from '#infra/packages/packed.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const NAMES = Object.keys(PACKED).join('|');

test('every part of a packed package that anything imports is packed with it, so that there is no second copy', () => {
  const files = globSync(
    ['src/**/*.ts', 'workers/**/*.ts', 'infra/**/*.ts', 'node_modules/@mikro-orm/*/**/*.js'].map(
      (one) => `${ROOT}/${one}`,
    ),
  );
  const imported = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    return [...text.matchAll(new RegExp(String.raw`(?:from|import\()\s*['"]((?:${NAMES})(?:/[^'"]+)?)['"]`, 'g'))].map(
      ([, specifier]) => specifier!,
    );
  });
  expect(imported.length).toBeGreaterThan(100);
  expect([...new Set(imported)].toSorted()).toEqual(Object.values(PACKED).flat().toSorted());
});

test('what was packed is used as long as the packages are those that it was made of', () => {
  const folder = newFolder();
  expect(readPacked(folder)).toBeNull();
  const files = Object.fromEntries(Object.values(PACKED).flatMap((parts) => parts.map((part) => [part, 'a.mjs'])));
  const { name, text } = writeManifest(files);
  const packed = (manifest: string) => {
    writeFileSync(path.join(folder, name), manifest);
    return readPacked(folder);
  };
  expect(packed(text)?.get('typebox')).toBe(path.join(folder, 'a.mjs'));
  expect(packed(text.replace(/"typebox":"\d/, '"typebox":"0'))).toBeNull();
  expect(packed(text.replace('"typebox/value"', '"another/part"'))).toBeNull();
});

test('packed programs are used only where they were packed, and until one of their sources changes', () => {
  const folder = newFolder();
  const source = path.join(folder, 'source.ts');
  const pack = (change = (text: string): string => text): void => {
    writeFileSync(source, 'export const a = 1;');
    const described = describePrograms({ 'src/entry/api.ts': 'api.mjs' }, [source]);
    for (const [name, text] of Object.entries(described)) writeFileSync(path.join(folder, name), change(text));
  };
  expect(arePackedProgramsFresh(folder)).toBe(false);

  pack();
  expect(arePackedProgramsFresh(folder)).toBe(true);
  expect(readPrograms(folder).get(pathToFileURL(path.join(ROOT, 'src/entry/api.ts')).href)).toBe(
    pathToFileURL(path.join(folder, 'api.mjs')).href,
  );
  utimesSync(source, 1, 1);
  expect(arePackedProgramsFresh(folder)).toBe(false);

  pack((text) => text.replace(`"root":"${ROOT}"`, '"root":"/elsewhere"'));
  expect(arePackedProgramsFresh(folder)).toBe(false);

  pack();
  rmSync(source);
  expect(arePackedProgramsFresh(folder)).toBe(false);
});

function newFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-packed-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
