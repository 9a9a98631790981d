import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';

import { type ChainRow, toStreamedRow } from '#modules/audit/decide/audit_stream.ts';

const NEWLINE = 0x0a;
/** Bytes at the end of a file that are looked at; a row is smaller. */
const TAIL_BYTES = 4 * 1_024 * 1_024;

/**
 * Appends rows to a file, one JSON object a line, and waits until they are on the disk. A line that a crash cut short
 * is removed first, and rows that the file ends with already are left out.
 */
export async function appendRows(folder: string, name: string, rows: readonly ChainRow[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o750 });
  const file = await open(path.join(folder, name), 'a+', 0o640);
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const tail = Buffer.alloc(size - from);
    await file.read(tail, 0, tail.length, from);
    const end = tail.lastIndexOf(NEWLINE) + 1;
    if (end < tail.length) await file.truncate(from + end);
    const last = lastRowOf(tail.subarray(0, end));
    const [first] = rows;
    // Another chain, as after a restore, is written in full.
    const position = last !== null && first !== undefined ? rows.findIndex((row) => isSame(row, last)) : -1;
    const lines = rows.slice(position + 1).map((row) => `${JSON.stringify(toStreamedRow(row))}\n`);
    if (lines.length > 0) await file.appendFile(lines.join(''));
    await file.sync();
  } finally {
    await file.close();
  }
}

interface WrittenRow {
  readonly number: number;
  readonly hash: string;
}

function lastRowOf(tail: Buffer): WrittenRow | null {
  if (tail.length === 0) return null;
  const begin = tail.lastIndexOf(NEWLINE, tail.length - 2) + 1;
  try {
    return JSON.parse(tail.toString('utf8', begin)) as WrittenRow;
  } catch {
    return null;
  }
}

function isSame({ number, hash }: ChainRow, written: WrittenRow): boolean {
  return number === written.number && hash.toString('hex') === written.hash;
}
