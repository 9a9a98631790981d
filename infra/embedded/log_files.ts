import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs';

const LOG_BYTES_MAX = 10 * 1024 * 1024;

/** Renames a log that has become too large; one older file is kept. Call it before the file is opened for writing. */
export function rotateLog(file: string): void {
  if (logEnd(file) > LOG_BYTES_MAX) renameSync(file, `${file}.1`);
}

export function logEnd(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** Returns the text that was logged after that position, at most the last two kilobytes. */
export function textSince(file: string, start: number): string {
  const end = logEnd(file);
  const text = Buffer.alloc(Math.min(Math.max(end - start, 0), 2048));
  if (text.length === 0) return '';
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, text, 0, text.length, end - text.length);
  } finally {
    closeSync(descriptor);
  }
  return text.toString().trim();
}
