/**
 * Builds the console that src/entry/http/console_pages.ts serves. `npm ci` runs this at its end, and `npm start` in the
 * background when the sources have changed.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync, brotliCompress, constants, gzip } from 'node:zlib';
import { promisify } from 'node:util';

import { CONSOLE_FOLDER, PAGE_FILES } from '#entry/http/console_build.ts';
import { FINGERPRINT_FILE, fingerprintOfSources, isConsoleFresh } from './freshness.ts';
import { filesOfPages, type Manifest } from './page_files.ts';
import { tablerIcons } from './tabler_icons.ts';

const PACKED = /\.(?:js|css|svg|webmanifest)$/;
/** Below this size compression saves no more than its header costs. */
const BYTES_MIN = 1_000;

/** Compresses every text file once, instead of for each request. */
async function packFiles(folder: string): Promise<void> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => PACKED.test(name));
  await Promise.all(files.map((name) => packFile(path.join(folder, name))));
}

async function packFile(file: string): Promise<void> {
  const bytes = await readFile(file);
  if (bytes.length < BYTES_MIN) return;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    promisify(gzip)(bytes, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${file}.br`, brotli), writeFile(`${file}.gz`, gzipped)]);
}

const SOURCES = path.resolve(import.meta.dirname, '../../src/console');
const MANIFEST = 'manifest.json';

const began = performance.now();
if (isConsoleFresh()) {
  console.log('The console is up to date.');
} else {
  const fingerprint = fingerprintOfSources();
  const folder = await buildInto(path.dirname(CONSOLE_FOLDER));
  writeFileSync(path.join(folder, FINGERPRINT_FILE), fingerprint);
  const size = await sizeOfFirstLoad(folder);
  putInPlace(folder);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`Built the console in ${seconds} s; the first load is ${Math.round(size / 1000)} kB compressed.`);
}

/** Says on the terminal what is done now, and how far it is. */
function step(number: number, what: string): void {
  console.log(`Preparing the console, ${number} of 3: ${what} …`);
}

/** Builds in a temporary folder, so that browsers get the old files or the new ones, never a mixture. */
async function buildInto(parent: string): Promise<string> {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(path.join(parent, 'console-'));
  // The server may run as another user than the one who installed it.
  chmodSync(folder, 0o755);
  // Vite takes the mode of React from here, and tests that build an outdated console have set another.
  process.env.NODE_ENV = 'production';
  step(1, 'compiling, which takes half a minute on a small machine');
  const { build } = await import('vite');
  const configFile = path.join(SOURCES, 'vite.config.ts');
  try {
    const options = { outDir: folder, emptyOutDir: true, manifest: MANIFEST };
    await build({ configFile, plugins: [tablerIcons], logLevel: 'warn', build: options });
    step(2, 'listing the files of each page');
    await writePageFiles(folder);
    step(3, 'compressing');
    await packFiles(folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

/** Writes the files of each page for the server, which names them in the page that it sends. */
async function writePageFiles(folder: string): Promise<void> {
  const manifest = JSON.parse(await readFile(path.join(folder, MANIFEST), 'utf8')) as Manifest;
  const routes = ['router.tsx', 'outside_routes.ts'].map((file) => readFile(path.join(SOURCES, file), 'utf8'));
  const router = (await Promise.all(routes)).join('\n');
  writeFileSync(path.join(folder, PAGE_FILES), JSON.stringify(filesOfPages(manifest, router)));
  rmSync(path.join(folder, MANIFEST));
}

/** Returns the size of the files that a browser fetches before it shows the first page, compressed with gzip. */
async function sizeOfFirstLoad(folder: string): Promise<number> {
  const page = await readFile(path.join(folder, 'index.html'), 'utf8');
  const files = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, name = '']) => name);
  const sizes = await Promise.all(
    [...new Set(files)].map(async (name) => gzipSync(await readFile(path.join(folder, name))).length),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** A tab that still asks for files of the previous build gets 404 and reloads the page. */
function putInPlace(folder: string): void {
  const old = `${folder}-old`;
  if (existsSync(CONSOLE_FOLDER)) renameSync(CONSOLE_FOLDER, old);
  renameSync(folder, CONSOLE_FOLDER);
  rmSync(old, { recursive: true, force: true });
  for (const name of readdirSync(path.dirname(CONSOLE_FOLDER))) {
    if (/^console-.*-old$/.test(name)) rmSync(path.join(path.dirname(CONSOLE_FOLDER), name), { recursive: true });
  }
}
