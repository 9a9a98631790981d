import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { AskSetting, KeptAnswers } from '#modules/moving_in/ask.ts';
import { AppError } from '#kernel/errors.ts';

const KEY_BYTES_MAX = 16_384;

/** Reads the key from a file at each question, so that another one may be written there. */
export function keyInFile(keyFile: string): AskSetting['key'] {
  return {
    place: keyFile,
    async read() {
      let text: string;
      try {
        text = await readFile(keyFile, 'utf8');
      } catch {
        throw new AppError('invalid_input', `the key file ${keyFile} cannot be read`);
      }
      return keyOf(text, keyFile);
    },
  };
}

/** Returns the key of a text that holds nothing else. */
export function keyOf(text: string, place: string): string {
  const key = text.trim();
  if (key === '' || key.length > KEY_BYTES_MAX || /[^\x21-\x7e]/.test(key)) {
    throw new AppError('invalid_input', `${place} has to hold a key, and nothing else`);
  }
  return key;
}

/** Keeps answers in a folder. The name of a file tells what was asked, so that the folder can be read by itself. */
export function keepInFolder(folder: string): KeptAnswers {
  return {
    async find(name) {
      const file = fileOf(folder, name);
      try {
        const value = JSON.parse(await readFile(file, 'utf8')) as unknown;
        return { value, next: await readFile(`${file}.next`, 'utf8').catch(() => null) };
      } catch {
        return null;
      }
    },
    // The query of the next page is written first: an answer without it would seem to be the last.
    async keep(name, { value, next }) {
      const file = fileOf(folder, name);
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      if (next !== null) await writeFile(`${file}.next`, next, { mode: 0o600 });
      await writeFile(`${file}.part`, JSON.stringify(value), { mode: 0o600 });
      await rename(`${file}.part`, file);
    },
  };
}

function fileOf(folder: string, asked: string): string {
  const name = decodeURIComponent(asked)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._=-]+/g, '-')
    .replace(/^-/, '');
  const short =
    name.length <= 180
      ? name
      : `${name.slice(0, 150)}-${createHash('sha256').update(asked).digest('hex').slice(0, 16)}`;
  return path.join(folder, `${short}.json`);
}
