/** Part of `npm run format`: the table of settings in the README is made of their declarations. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { GENERAL_SETTINGS } from '#entry/config.ts';
import type { Setting } from '#kernel/config.ts';

const HEAD = '| variable | default | meaning |\n|---|---|---|\n';
const TABLE = /\| variable \| default \| meaning \|\n(?:\|.*\n)+/;

/** The same text, with the table of what is declared now. */
export function withSettingsTable(readme: string): string {
  if (!TABLE.test(readme)) throw new Error('the README has no table of settings');
  const rows = Object.values(GENERAL_SETTINGS).map(rowOf);
  return readme.replace(TABLE, () => `${HEAD}${rows.join('')}`);
}

function rowOf({ variable, purpose, fallback, unset }: Setting): string {
  const cells = [`\`${variable}\``, fallback ?? unset ?? '', purpose];
  return `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|\n`;
}

if (import.meta.main) {
  const file = path.resolve(import.meta.dirname, '../../README.md');
  writeFileSync(file, withSettingsTable(readFileSync(file, 'utf8')));
}
