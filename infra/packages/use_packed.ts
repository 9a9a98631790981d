/**
 * Loaded before a program of `npm start`: packages that consist of hundreds of small files are then read from the few that
 * `pack.ts` has made of them. Where those are missing, packages are read as they are, and every start takes longer.
 */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

import { readPacked } from './packed.ts';

const packed = readPacked();
if (packed !== null) {
  registerHooks({
    resolve(specifier, context, next) {
      const file = packed.get(specifier);
      if (file === undefined) return next(specifier, context);
      return { url: pathToFileURL(file).href, format: 'module', shortCircuit: true };
    },
  });
}
