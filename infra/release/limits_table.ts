/** Part of `npm run format`: the table of limits in the security guide is made of their declarations. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { LimitSetting } from '#kernel/limit_setting.ts';
import { LIMIT_SETTINGS } from '#kernel/limit_settings.ts';

const HEAD = '| setting | default | what it bounds | what then happens |\n|---|---|---|---|\n';
const TABLE = /\| setting \| default \| what it bounds \| what then happens \|\n(?:\|.*\n)+/;

export const SECURITY_GUIDE = path.resolve(import.meta.dirname, '../../src/docs/security.md');

/** The same text, with the table of what is declared now. */
export function withLimitsTable(guide: string): string {
  if (!TABLE.test(guide)) throw new Error('the security guide has no table of limits');
  return guide.replace(TABLE, () => `${HEAD}${Object.values(LIMIT_SETTINGS).map(rowOf).join('')}`);
}

function rowOf({ variable, shown, purpose, reached }: LimitSetting): string {
  return `| \`${variable}\` | ${shown} | ${purpose} | ${reached} |\n`;
}

if (import.meta.main) writeFileSync(SECURITY_GUIDE, withLimitsTable(readFileSync(SECURITY_GUIDE, 'utf8')));
