import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { onTestFinished } from 'vitest';

/** A folder for engines, which may run as another user; it is removed when the test is over. */
export function makeFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-faults-'));
  chmodSync(folder, 0o711);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
