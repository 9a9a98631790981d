import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { LockHeldError, takeLock } from '#infra/embedded/data_folder.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'lock-'));
  file = path.join(folder, 'lock');
});

afterEach(() => rmSync(folder, { recursive: true }));

test('a lock is held until it is released', () => {
  const lock = takeLock(file);
  expect(() => takeLock(file)).toThrow(LockHeldError);
  expect(() => takeLock(file)).toThrow(`(pid ${process.pid})`);
  lock.release();
  expect(existsSync(file)).toBe(false);
  takeLock(file).release();
  expect(readdirSync(folder)).toEqual([]);
});

test('the lock of a dead process is taken over', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  writeFileSync(file, JSON.stringify({ pid: child.pid, birth: 'long ago' }));
  const lock = takeLock(file);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid });
  lock.release();
});

test('the lock of a dead process whose pid was reused is taken over', () => {
  writeFileSync(file, JSON.stringify({ pid: process.pid, birth: 'before the machine started' }));
  takeLock(file).release();
  expect(existsSync(file)).toBe(false);
});

test('an unreadable lock file is taken over', () => {
  writeFileSync(file, '');
  takeLock(file).release();
  expect(existsSync(file)).toBe(false);
});

test('a lock that another process has taken over is not released', () => {
  const lock = takeLock(file);
  const other = JSON.stringify({ pid: 1, birth: 'another' });
  writeFileSync(file, other);
  lock.release();
  expect(readFileSync(file, 'utf8')).toBe(other);
});
