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
