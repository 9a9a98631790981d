import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';

import { AppError } from '#kernel/errors.ts';

/** The lines of a stream, without their ends. */
export async function* linesOf(source: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of source) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** The lines of a file of an export; none of one that an earlier release did not write. */
export async function* linesOfFile(folder: string, file: string): AsyncGenerator<string> {
  const whole = path.join(folder, file);
  if (existsSync(whole)) yield* linesOf(createReadStream(whole));
}

/** A line of the file of a table. */
export function parseLine(table: string, line: string): Readonly<Record<string, unknown>> {
  try {
    const row: unknown = JSON.parse(line);
    if (typeof row === 'object' && row !== null) return row as Readonly<Record<string, unknown>>;
  } catch {
    // Answered below.
  }
  throw new AppError('invalid_input', `${table}.jsonl has a line that is no JSON object`);
}
