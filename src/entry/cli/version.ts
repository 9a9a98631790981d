import { readFileSync } from 'node:fs';
import path from 'node:path';

/** What `--version` prints. */
export function versionText(args: readonly string[]): string {
  const file = path.join(import.meta.dirname, '../../../package.json');
  const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name: string; version: string };
  return args.includes('--json') ? JSON.stringify({ version }) : `${name} ${version}`;
}
