/** Part of `npm run format`: the settings that the chart of infra/deploy knows are made of their declarations. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { SETTINGS } from '#entry/config.ts';
import type { Setting } from '#kernel/config.ts';

const DECLARED: readonly Setting[] = Object.values(SETTINGS);

export const CHART_SETTINGS_FILE = path.resolve(import.meta.dirname, '../deploy/chart/settings.json');

/**
 * Returns the facts that a chart without our code has to know: names, which of them are secrets, and which need another
 * one.
 */
export function chartSettings(): object {
  const namesOf = (settings: readonly Setting[]) => settings.map(({ variable }) => variable).toSorted();
  return {
    settings: namesOf(DECLARED.filter(({ isSecret }) => isSecret !== true)),
    secrets: namesOf(DECLARED.filter(({ isSecret }) => isSecret === true)),
    requiredWith: Object.fromEntries(
      DECLARED.flatMap(({ variable, requiredWith }) => (requiredWith === undefined ? [] : [[variable, requiredWith]])),
    ),
  };
}

if (import.meta.main) writeFileSync(CHART_SETTINGS_FILE, `${JSON.stringify(chartSettings(), null, 2)}\n`);
