import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';

import { expect, test } from 'vitest';

import { licenceFaults, listLicences } from '#infra/release/licence_faults.ts';
import { listExempt, lockFaults, readLockFile } from '#infra/release/lock_faults.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const packages = readLockFile();
const withPackage = (name: string, locked: object) => ({ ...packages, [`node_modules/${name}`]: locked });
const hash = `sha512-${'A'.repeat(86)}==`;

const CHDB_OF_OTHERS = ['@chdb/lib-darwin-arm64', '@chdb/lib-darwin-x64', '@chdb/lib-linux-arm64-gnu'];

test('each package of the lock file is named by its hash alone, but for three binaries of other platforms', () => {
  expect(lockFaults(packages)).toEqual([]);
  expect(listExempt(packages)).toEqual(CHDB_OF_OTHERS);
  expect(lockFaults(withPackage('left-pad', { version: '1.3.0' }))).toEqual([
    'node_modules/left-pad has no integrity: install it anew',
  ]);
  const ofOthers = { version: '1.3.0', optional: true, os: ['darwin'] };
  for (const name of ['@chdb/lib-other', '@oxlint/binding-darwin-x64', 'left-pad']) {
    expect(lockFaults(withPackage(name, ofOthers)), name).toEqual([
      `node_modules/${name} has no integrity: install it anew`,
    ]);
  }
  expect(lockFaults(withPackage('@chdb/lib-darwin-x64', { version: '1.3.0' }))).toHaveLength(2);
  expect(lockFaults(withPackage('left-pad', { version: '1.3.0', integrity: 'sha1-AAAA' }))).toHaveLength(1);
  const resolved = 'https://registry.example.com/left-pad.tgz';
  expect(lockFaults(withPackage('left-pad', { version: '1.3.0', integrity: hash, resolved }))).toHaveLength(1);
});

test('a binary whose hash is there is excused no longer', () => {
  const complete = Object.fromEntries(
    Object.entries(packages).map(([place, locked]) => [place, { ...locked, integrity: hash }]),
  );
  expect(lockFaults(complete)).toEqual(
    CHDB_OF_OTHERS.map((name) => `${name} has its integrity, or is gone: take it off the list in lock_faults.ts`),
  );
});

test('packages of the product have licences that allow passing them on', () => {
  expect(licenceFaults(packages)).toEqual([]);
  expect(listLicences(packages).every(({ licence }) => licence !== null)).toBe(true);
  const judge = (license: string | undefined) => licenceFaults(withPackage('left-pad', { version: '1.3.0', license }));
  for (const fine of ['MIT', '(MIT OR GPL-3.0)', 'MIT AND ISC']) expect(judge(fine), fine).toEqual([]);
  for (const bad of ['GPL-3.0', 'MIT AND GPL-3.0', 'MPL-2.0', 'SEE LICENSE IN LICENSE', undefined]) {
    expect(judge(bad), bad).toHaveLength(1);
  }
  expect(licenceFaults(withPackage('tool', { version: '1.0.0', license: 'GPL-3.0', dev: true }))).toEqual([]);
});

test('code that runs or is built without development dependencies imports none', () => {
  const files = ['src', 'workers', 'infra/console', 'infra/embedded', 'infra/migrations'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.includes('/test/'))
      .map((name) => path.join(folder, name)),
  );
  const missing = files.flatMap((file) => {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    const imported = [...text.matchAll(/^(?:import|export|\}) (?!type )[^;'"`]*?from '([^'.#][^']*)';$/gm)];
    return imported
      .map(([, name = '']) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '')
      .filter((name) => !/^(?:node|virtual):/.test(name) && !builtinModules.includes(name))
      .filter((name) => !(name in dependenciesOf(file)))
      .map((name) => `${file} imports ${name}`);
  });
  expect(files.length).toBeGreaterThan(500);
  expect(missing).toEqual([]);
});

test('Node itself is installed with the product, so that an older one on the machine can start it', () => {
  expect(dependenciesOf('package.json')).toHaveProperty('node', expect.stringMatching(/^24\./));
});

/** Returns the dependencies of the package that the file belongs to. */
function dependenciesOf(file: string): Record<string, string> {
  const folder = /^infra\/embedded\/(?:chdb_server|phone_simulator)\//.exec(file)?.[0] ?? '';
  const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return dependencies;
}
