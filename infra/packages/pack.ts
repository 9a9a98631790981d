/** Makes few files of packages that consist of hundreds; `npm ci` runs this at its end. See `use_packed.ts`. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Plugin } from 'vite';

import { PACKED, PACKED_FOLDER, readPacked, writeManifest } from './packed.ts';

/** Prefix of a module that exports by name what a package exports; of one in CommonJS only Node knows the names. */
const WRAPPED = 'wrapped:';

const began = performance.now();
if (readPacked() === null) {
  try {
    await pack();
    console.log(`Packed ${Object.keys(PACKED).join(', ')} in ${((performance.now() - began) / 1000).toFixed(1)} s.`);
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
    plugins: [wrapped(await namesOf(entries)), asciiOnly()],
    // What Node itself would load.
    ssr: { noExternal: true, resolve: { mainFields: ['main'], conditions: ['node'] } },
    build: {
      ssr: true,
      target: 'node24',
      minify: false,
      outDir: folder,
      rolldownOptions: {
        input: Object.fromEntries(entries.map((specifier) => [nameOf(specifier), `${WRAPPED}${specifier}`])),
        preserveEntrySignatures: 'strict',
        output: {
          format: 'es',
          entryFileNames: '[name].mjs',
          chunkFileNames: '[name]_[hash].mjs',
          // A process keeps the text of its modules: comments and indentation are a quarter of it. Names stay, as the ORM looks at them.
          minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
        },
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

async function namesOf(entries: readonly string[]): Promise<ReadonlyMap<string, string[]>> {
  const importersByPackage = new Map<string, string[]>();
  for (const specifier of entries) {
    const loaded = (await import(specifier)) as object;
    importersByPackage.set(
      specifier,
      Object.keys(loaded).filter((name) => !['module.exports', '__esModule'].includes(name)),
    );
  }
  return importersByPackage;
}

/** V8 keeps a text with one other character in two bytes a character. */
function asciiOnly(): Plugin {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return {
    name: 'ascii-only',
    generateBundle(_, bundle) {
      for (const part of Object.values(bundle)) {
        if (part.type === 'chunk') part.code = part.code.replaceAll(/[^\0-\x7f]/g, escaped);
      }
    },
  };
}

function wrapped(names: ReadonlyMap<string, readonly string[]>): Plugin {
  return {
    name: 'wrapped',
    resolveId: (id) => (id.startsWith(WRAPPED) ? `\0${id}` : null),
    load: (id) => {
      if (!id.startsWith(`\0${WRAPPED}`)) return null;
      const specifier = id.slice(WRAPPED.length + 1);
      return `export { ${(names.get(specifier) ?? []).join(', ')} } from ${JSON.stringify(specifier)};`;
    },
  };
}
