import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { onTestFinished } from 'vitest';

import { atEndOfFile } from '#test/kit/at_end_of_file.ts';

/** A folder for engines, which may run as another user; it is removed when the test is over, or the file. */
export function makeFolder(until: 'test' | 'file' = 'test'): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-faults-'));
  chmodSync(folder, 0o711);
  const remove = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
  if (until === 'test') onTestFinished(remove);
  else atEndOfFile(remove);
  return folder;
}
