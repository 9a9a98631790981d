import { readFileSync } from 'node:fs';
import path from 'node:path';

import { readTimeZoneRules } from '#entry/time_zone_rules.ts';

/** Returns the output of `--version`. */
export function versionText(args: readonly string[]): string {
  const file = path.join(import.meta.dirname, '../../../package.json');
  const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name: string; version: string };
  const { used: timeZoneRules } = readTimeZoneRules();
  return args.includes('--json')
    ? JSON.stringify({ version, timeZoneRules })
    : `${name} ${version} (time zone rules ${timeZoneRules})`;
}
