/**
 * `npm run check:lock`: each package is installed as it was reviewed. With `--complete`, missing hashes are fetched
 * from the registry.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { conclude, listExempt, type LockedPackage, lockFaults, nameOf, readLockFile } from './lock_faults.ts';

if (process.argv.includes('--complete')) complete();
const packages = readLockFile();
conclude(
  lockFaults(packages),
  `The lock file names ${Object.keys(packages).length} packages, each by its hash but for binaries of other platforms: ${listExempt(packages).join(', ')}.`,
);

function complete(): void {
  const file = path.resolve(import.meta.dirname, '../../package-lock.json');
  const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockedPackage> };
  for (const [place, locked] of Object.entries(lock.packages)) {
    if (!place.includes('node_modules/') || locked.link === true || locked.integrity !== undefined) continue;
    const integrity = integrityOf(`${nameOf(place)}@${locked.version}`);
    if (integrity === null) continue;
    const { version, ...rest } = locked;
    lock.packages[place] = { ...(version === undefined ? {} : { version }), integrity, ...rest };
  }
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}

function integrityOf(spec: string): string | null {
  try {
    return execFileSync('npm', ['view', spec, 'dist.integrity'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}
