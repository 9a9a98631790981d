import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

const CONSOLE = path.resolve('src/console');
const IMPORT = /import (\w+) from '#console\/([^']+\.module\.css)'/g;

/** A class that is not there is `undefined` to the compiler and no style to the page. */
test('every class that a component names is in its style sheet', () => {
  const files = readdirSync(CONSOLE, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
  const missing = files.flatMap((file) => {
    const source = readFileSync(path.join(CONSOLE, file), 'utf8');
    return [...source.matchAll(IMPORT)].flatMap(([, name = '', sheet = '']) => {
      if (!existsSync(path.join(CONSOLE, sheet))) return [`${file}: ${sheet}`];
      const styles = readFileSync(path.join(CONSOLE, sheet), 'utf8');
      const named = new Set([...source.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g'))].map(([, word = '']) => word));
      return [...named]
        .filter((word) => !new RegExp(`\\.${word}\\b`).test(styles))
        .map((word) => `${file}: .${word} of ${sheet}`);
    });
  });
  expect(missing).toEqual([]);
});
