/** Makes few files of packages that consist of hundreds; `npm ci` runs this at its end. See `use_packed.ts`. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { PACKED, PACKED_FOLDER, readPacked, writeManifest } from './packed.ts';

const began = performance.now();
if (readPacked() === null) {
  try {
    await pack();
    console.log(`Packed ${Object.keys(PACKED).join(' and ')} in ${((performance.now() - began) / 1000).toFixed(1)} s.`);
  } catch (error) {
    console.log('Could not pack modules; every start will be slower.', error);
  }
} else console.log('The packed modules are up to date.');

async function pack(): Promise<void> {
  const { build } = await import('vite');
  const entries = Object.values(PACKED).flat();
  const nameOf = (specifier: string): string => specifier.replaceAll('/', '_');
  mkdirSync(path.dirname(PACKED_FOLDER), { recursive: true });
  const folder = mkdtempSync(`${PACKED_FOLDER}-`);
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      target: 'node24',
      minify: false,
      outDir: folder,
      rolldownOptions: {
        input: Object.fromEntries(entries.map((specifier) => [nameOf(specifier), specifier])),
        preserveEntrySignatures: 'strict',
        output: { format: 'es', entryFileNames: '[name].mjs', chunkFileNames: '[name]_[hash].mjs' },
      },
    },
  });
  const { name, text } = writeManifest(
    Object.fromEntries(entries.map((specifier) => [specifier, `${nameOf(specifier)}.mjs`])),
  );
  writeFileSync(path.join(folder, name), text);
  rmSync(PACKED_FOLDER, { recursive: true, force: true });
  renameSync(folder, PACKED_FOLDER);
}
