import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { copyFolder } from '#infra/embedded/prepared/copy_folder.ts';
import { findPreparedStore, MADE_FOR, preparedFor } from '#infra/embedded/prepared/prepared_stores.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(path.join(os.tmpdir(), 'prepared-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a prepared store is used when it was made for these migrations and engines', () => {
  writeFileSync(path.join(folder, MADE_FOR), preparedFor());
  expect(findPreparedStore('postgres', folder)).toBe(path.join(folder, 'postgres'));
  expect(findPreparedStore('clickhouse', folder)).toBe(path.join(folder, 'clickhouse'));
});

test('a prepared store is left alone when it was made for others, or was never finished', () => {
  expect(findPreparedStore('postgres', folder)).toBe(null);
  writeFileSync(path.join(folder, MADE_FOR), `${preparedFor()} and one migration more`);
  expect(findPreparedStore('postgres', folder)).toBe(null);
});

test('a copied folder holds the same files and links, which only its owner reads', async () => {
  const [source, target] = [path.join(folder, 'source'), path.join(folder, 'target')];
  mkdirSync(path.join(source, 'store/7a2'), { recursive: true });
  writeFileSync(path.join(source, 'store/7a2/table.sql'), 'ATTACH TABLE points');
  writeFileSync(path.join(source, 'empty'), '');
  symlinkSync('../store/7a2', path.join(source, 'default'));
  chmodSync(path.join(source, 'store/7a2/table.sql'), 0o444);
  await copyFolder(source, target, { folderMode: 0o700, fileMode: 0o600, owner: null, isDurable: true });
  const modeOf = (name: string): number => lstatSync(path.join(target, name)).mode & 0o777;
  expect(readFileSync(path.join(target, 'store/7a2/table.sql'), 'utf8')).toBe('ATTACH TABLE points');
  expect(readFileSync(path.join(target, 'empty'), 'utf8')).toBe('');
  expect(readlinkSync(path.join(target, 'default'))).toBe('../store/7a2');
  expect([modeOf('store/7a2/table.sql'), modeOf('store/7a2'), modeOf('')]).toEqual([0o600, 0o700, 0o700]);
});
