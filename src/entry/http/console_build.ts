import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

/** Where infra/console/build.ts puts the console. */
export const CONSOLE_FOLDER = path.resolve(import.meta.dirname, '../../../.cache/console');

/** How long a page is trusted before the file is looked at again. */
const CHECK_MS = 1_000;

/** The page that the console starts from, as it is sent to one browser. */
export interface ConsolePage {
  with(nonce: string): string;
}

/** Reads the page of the build that is in place; null while there is none. A later build is noticed within a second. */
export function consolePages(basePath: string, folder = CONSOLE_FOLDER): () => Promise<ConsolePage | null> {
  const file = path.join(folder, 'index.html');
  let page: ConsolePage | null = null;
  let builtAtMs = 0;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (page !== null && performance.now() - checkedAtMs < CHECK_MS) return page;
    checkedAtMs = performance.now();
    try {
      const { mtimeMs } = await stat(file);
      if (page === null || mtimeMs !== builtAtMs) page = toPage(await readFile(file, 'utf8'), basePath);
      builtAtMs = mtimeMs;
    } catch {
      page = null;
    }
    return page;
  };
}

function toPage(template: string, basePath: string): ConsolePage {
  const parts = template.replace('__BASE__', basePath).split('__NONCE__');
  return { with: (nonce) => parts.join(nonce) };
}
