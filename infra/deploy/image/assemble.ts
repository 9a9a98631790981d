/** Puts together what the image holds: `node infra/deploy/image/assemble.ts FOLDER`, after the console has been built. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { foldersOf, importedPackages, isServerSource, SERVER_SOURCES } from './server_packages.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const OTHERS = ['.cache/console', 'infra/deploy/image/compile.ts', 'LICENSE', 'README.md'];
/** Declarations for compilers, maps for debuggers, guides of packages: nothing that a process reads. */
const UNREAD = /\.(?:map|d\.[cm]?ts|markdown)$|\.tsbuildinfo$|\/(?:readme|changelog|changes|history)\.md$/i;

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error('name the folder to put it in');
for (const source of [...SERVER_SOURCES, ...OTHERS]) copy(source, (file) => isServerSource(file));
const names = importedPackages(ROOT);
for (const folder of foldersOf(ROOT, names)) {
  copy(folder, (file) => !UNREAD.test(file) && !file.slice(folder.length).includes('/node_modules'));
}
writeFileSync(path.join(target, 'package.json'), `${JSON.stringify(manifestOf(names), null, 2)}\n`);

function copy(source: string, isWanted: (file: string) => boolean): void {
  const to = path.join(target ?? '', source);
  mkdirSync(path.dirname(to), { recursive: true });
  cpSync(path.join(ROOT, source), to, { recursive: true, filter: (from) => isWanted(path.relative(ROOT, from)) });
}

/** Names what is there, so that the bill of materials is that of the image. */
function manifestOf(packages: readonly string[]): object {
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  } & Record<string, unknown>;
  const { name, version, description, license, type, imports, engines, dependencies } = manifest;
  const kept = Object.fromEntries(Object.entries(dependencies).filter(([one]) => packages.includes(one)));
  return { name, version, private: true, description, license, type, imports, engines, dependencies: kept };
}
