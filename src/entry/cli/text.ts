import { readFileSync } from 'node:fs';

import { InvalidArgumentError } from 'commander';

/** Prints the answer of a command: one line of JSON if requested, else a sentence or a table. */
export function print(isJson: true | undefined, values: object, text: string): void {
  process.stdout.write(isJson ? `${JSON.stringify(values)}\n` : `${text}\n`);
}

/** Renders a table with columns as wide as their longest entry, below their titles. */
export function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles, ...rows];
  const widths = titles.map((_title, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((entry, column) => entry.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function notBlank(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be blank.');
  return text;
}

export function mailAddress(text: string): string {
  if (!/^\S+@\S+$/.test(text)) throw new InvalidArgumentError('It must be a mail address.');
  return text;
}

/** Reads a secret from the file that `@path` names: what stands in an argument is shown to everybody by `ps`. */
export function secretArgument(value: string): string {
  if (!value.startsWith('@')) return value;
  let secret: string;
  try {
    secret = readFileSync(value.slice(1), 'utf8').trim();
  } catch {
    throw new InvalidArgumentError(`The file ${value.slice(1)} cannot be read.`);
  }
  if (secret === '') throw new InvalidArgumentError(`The file ${value.slice(1)} is empty.`);
  return secret;
}
