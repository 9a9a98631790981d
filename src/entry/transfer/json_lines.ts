import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';

import { AppError, type Fault } from '#kernel/errors.ts';

/** Limit on the length of a line: more than any row has. */
const LINE_LENGTH_MAX = 64 * 1024 * 1024;

/** Yields the lines of a stream, without their ends. */
export async function* linesOf(
  source: AsyncIterable<Buffer | string>,
  decoder = new TextDecoder(),
): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of source) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_LENGTH_MAX) {
      throw new AppError('invalid_input', `a line has more than ${LINE_LENGTH_MAX} characters`);
    }
    yield* lines;
  }
  if (rest !== '') yield rest;
}

export interface Line {
  readonly file: string;
  /** Line number, from 1. */
  readonly number: number;
  readonly text: string;
}

/** Yields the lines of a file of an export; none if an earlier release did not write that file. */
export async function* linesOfFile(folder: string, file: string): AsyncGenerator<Line> {
  const whole = path.join(folder, file);
  if (!existsSync(whole)) return;
  let number = 0;
  for await (const text of linesOf(createReadStream(whole))) {
    number += 1;
    yield { file, number, text };
  }
}

export function parseLine(line: Line): Readonly<Record<string, unknown>> {
  try {
    const row: unknown = JSON.parse(line.text);
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as Readonly<Record<string, unknown>>;
  } catch {
    // The error follows below.
  }
  throw refusedLine(line, 'is no JSON object');
}

export function refusedLine({ file, number }: Pick<Line, 'file' | 'number'>, what: string): AppError {
  return new AppError('invalid_input', `${file}, line ${number}: ${what}. Nothing was imported`);
}

/** Returns the first fault as a sentence, and the number of others. */
export function faultText([first, ...others]: readonly Fault[]): string {
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `${first?.path ?? ''} ${first?.message ?? ''}`.trim() + more;
}
