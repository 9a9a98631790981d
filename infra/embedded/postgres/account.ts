import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** User that runs the server: PostgreSQL refuses root. Null when this process may run it as itself. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const CANDIDATES = ['postgres', 'nobody'] as const;

export function findAccount(): Account | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of CANDIDATES) {
    try {
      return { name, uid: numberOf('-u', name), gid: numberOf('-g', name) };
    } catch {
      continue;
    }
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is neither a user "postgres" nor "nobody": start as another user',
  );
}

function numberOf(flag: '-u' | '-g', name: string): number {
  return Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
}

/** Creates a folder that only this account can read. Missing parent folders are created so that it can enter them. */
export function makePrivateFolder(folder: string, account: Account | null): void {
  mkdirSync(path.dirname(folder), { recursive: true, mode: account ? 0o711 : 0o700 });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (account) chownSync(folder, account.uid, account.gid);
}

const SEARCH_OWNER = 0o100;
const SEARCH_GROUP = 0o010;
const SEARCH_OTHERS = 0o001;

/** Throws, naming the folder, when the account cannot reach the file or folder because of a folder above it. */
export function assertReachable(target: string, account: Account | null): void {
  if (!account) return;
  for (let folder = path.dirname(path.resolve(target)); ; folder = path.dirname(folder)) {
    const { uid, gid, mode } = statSync(folder);
    const needed = uid === account.uid ? SEARCH_OWNER : gid === account.gid ? SEARCH_GROUP : SEARCH_OTHERS;
    if ((mode & needed) === 0) {
      throw new Error(
        `PostgreSQL runs as the user "${account.name}" (it refuses root), who cannot enter ${folder}: ` +
          `run "chmod o+x ${folder}", choose another place (DATA_DIR), or start as another user than root`,
      );
    }
    if (folder === path.dirname(folder)) return;
  }
}
