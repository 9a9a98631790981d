/** Makes few files of packages and programs that consist of hundreds; `npm ci` runs this at its end. See `use_packed.ts`. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import type { Plugin } from 'vite';

import {
  arePackedProgramsFresh,
  describePrograms,
  PACKED,
  PACKED_FOLDER,
  PROGRAMS,
  PROGRAMS_FOLDER,
  readPacked,
  writeManifest,
} from './packed.ts';

/** Prefix of a module that exports by name what a package exports; of one in CommonJS only Node knows the names. */
const WRAPPED = 'wrapped:';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Folders of `imports` in package.json that are not below `src`. */
const OUTSIDE_SRC = /^#(?:infra|workers)\//;

if (readPacked() === null) await report(Object.keys(PACKED).join(', '), pack);
else console.log('The packed modules are up to date.');
if (arePackedProgramsFresh()) console.log('The packed programs are up to date.');
else await report(PROGRAMS.join(', '), packPrograms);

/** Reports what was packed. A failure only means slower starts. */
async function report(what: string, work: () => Promise<void>): Promise<void> {
  const began = performance.now();
  try {
    await work();
    console.log(`Packed ${what} in ${((performance.now() - began) / 1000).toFixed(1)} s.`);
  } catch (error) {
    console.log(`Could not pack ${what}; every start will be slower.`, error);
  }
}

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
  putInPlace(folder, PACKED_FOLDER);
}

function putInPlace(draft: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
}

/** Makes few files of our own programs. Packages stay out; lines and names stay, so that a stack tells where it was. */
async function packPrograms(): Promise<void> {
  const { build } = await import('vite');
  const folder = mkdtempSync(`${PROGRAMS_FOLDER}-`);
  const sources = new Set<string>();
  await build({
    configFile: false,
    logLevel: 'error',
    root: ROOT,
    plugins: [ownModules(sources), asciiOnly()],
    build: {
      ssr: true,
      target: 'node24',
      minify: false,
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: {
        input: Object.fromEntries(PROGRAMS.map((program) => [fileOf(program), path.join(ROOT, program)])),
        output: { format: 'es', keepNames: true, entryFileNames: '[name].mjs', chunkFileNames: '[name]_[hash].mjs' },
      },
    },
  });
  const files = Object.fromEntries(PROGRAMS.map((program) => [program, `${fileOf(program)}.mjs`]));
  for (const [name, text] of Object.entries(describePrograms(files, [...sources]))) {
    writeFileSync(path.join(folder, name), text);
  }
  putInPlace(folder, PROGRAMS_FOLDER);
}

function fileOf(program: string): string {
  return program.replaceAll('/', '_').replace(/\.ts$/, '');
}

/** Finds modules by their names in `imports`, and lets each know its own place; `sources` collects their files. */
function ownModules(sources: Set<string>): Plugin {
  return {
    name: 'own-modules',
    enforce: 'pre',
    resolveId(id) {
      if (!id.startsWith('#')) return null;
      return path.join(ROOT, OUTSIDE_SRC.test(id) ? '' : 'src', id.slice(1));
    },
    transform(code, id) {
      if (!path.isAbsolute(id)) return null;
      sources.add(id);
      return code
        .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(id)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
    },
  };
}

async function namesOf(entries: readonly string[]): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const specifier of entries) {
    const loaded = (await import(specifier)) as object;
    found.set(
      specifier,
      Object.keys(loaded).filter((name) => !['module.exports', '__esModule'].includes(name)),
    );
  }
  return found;
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
