import { createHash } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { makePrivateFolder, type Account } from './account.ts';

/** A Unix socket's path has room for 107 bytes on Linux and 103 on macOS; PostgreSQL's file name takes 14 of them. */
const FOLDER_BYTES_MAX = 103 - '/.s.PGSQL.5432'.length;

/**
 * The private folder for the socket: beside the data if the path is short enough, else in the folder for temporary
 * files, under a name derived from the data's path, so that the next start finds it.
 */
export function socketFolderFor(root: string, account: Account | null): string {
  const folderInRoot = path.join(root, 'run');
  if (Buffer.byteLength(folderInRoot) <= FOLDER_BYTES_MAX) {
    makePrivateFolder(folderInRoot, account);
    return folderInRoot;
  }
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const folder = path.join(tmpdir(), `tocsin-${name}`);
  if (isMissing(folder)) {
    mkdirSync(folder, { mode: 0o700 });
    if (account) chownSync(folder, account.uid, account.gid);
  }
  assertOwn(folder, account);
  return folder;
}

const isMissing = (folder: string) => lstatSync(folder, { throwIfNoEntry: false }) === undefined;

/** Anyone can create a folder with a known name in a shared place: only one that is ours and closed to others is used. */
function assertOwn(folder: string, account: Account | null): void {
  const status = lstatSync(folder);
  const isOwn =
    status.isDirectory() && status.uid === (account?.uid ?? process.getuid?.()) && (status.mode & 0o077) === 0;
  if (!isOwn) throw new Error(`${folder} belongs to others: remove it, or choose a shorter data folder (DATA_DIR)`);
}
