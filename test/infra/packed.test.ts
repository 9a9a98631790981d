import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { PACKED, readPacked, writeManifest } from '#infra/packages/packed.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const NAMES = Object.keys(PACKED).join('|');

test('every part of a packed package that anything imports is packed with it, so that there is no second copy', () => {
  const files = globSync(
    ['src/**/*.ts', 'workers/**/*.ts', 'infra/**/*.ts', 'node_modules/@mikro-orm/*/**/*.js'].map(
      (name) => `${ROOT}/${name}`,
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
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-packed-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
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
