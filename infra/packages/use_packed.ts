/**
 * Loaded before a program of `npm start`, which loads some two thousand files. Packages that consist of hundreds of small
 * files are read from the few that `pack.ts` has made of them; where those are missing, packages are read as they are, and
 * every start takes longer. Files of our own are named in full where they are imported, so that Node need not look for
 * them: its search takes a fifth of a start.
 */
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { readPacked } from './packed.ts';

const ROOT = pathToFileURL(path.resolve(import.meta.dirname, '../..')).href;
/** Folders of `imports` in package.json that are not below `src`. */
const OUTSIDE_SRC = /^#(?:infra|workers|test)\//;

const packed = new Map([...(readPacked() ?? [])].map(([name, file]) => [name, pathToFileURL(file).href]));

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.endsWith('.ts')) {
      const url = ownFile(specifier, context.parentURL);
      if (url !== null) return { url, format: 'module-typescript', shortCircuit: true };
    }
    const file = packed.get(specifier);
    if (file === undefined) return next(specifier, context);
    return { url: file, format: 'module', shortCircuit: true };
  },
});

/** Returns the address of one of our own files, or null for what Node has to look for. */
function ownFile(specifier: string, parent: string | undefined): string | null {
  if (parent === undefined || !parent.startsWith(ROOT) || parent.includes('/node_modules/')) return null;
  if (specifier.startsWith('#')) {
    return `${ROOT}/${OUTSIDE_SRC.test(specifier) ? '' : 'src/'}${specifier.slice(1)}`;
  }
  return specifier.startsWith('.') ? new URL(specifier, parent).href : null;
}
