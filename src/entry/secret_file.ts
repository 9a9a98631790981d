import { readFileSync } from 'node:fs';

/**
 * Reads the file that a `…_FILE` variable names; null, with a fault added, if it cannot be used. Orchestrators mount
 * secrets as files; the line break that most editors put at the end is removed.
 */
export function readSecretFile(variable: string, file: string, faults: string[]): string | null {
  try {
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    if (text === '') faults.push(`${variable}_FILE names an empty file; write the value into it`);
    return text;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    faults.push(`${variable}_FILE names a file that cannot be read (${code}); correct the path, or its permissions`);
    return null;
  }
}
