import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';

import { expect, test } from 'vitest';

import { licenceFaults, listLicences } from '#infra/release/licence_faults.ts';
import { lockFaults } from '#infra/release/lock_faults.ts';
import { readLockFile } from '#infra/release/lock_file.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const packages = readLockFile();
const withPackage = (name: string, locked: object) => ({ ...packages, [`node_modules/${name}`]: locked });
const hash = `sha512-${'A'.repeat(86)}==`;

test('each package of the lock file is named by its hash alone', () => {
  expect(lockFaults(packages)).toEqual([]);
  expect(lockFaults(withPackage('left-pad', { version: '1.3.0' }))).toEqual([
    'node_modules/left-pad has no integrity: install it anew',
  ]);
  expect(lockFaults(withPackage('@chdb/lib-other', { version: '1.3.0' }))).toHaveLength(1);
  expect(lockFaults(withPackage('left-pad', { version: '1.3.0', integrity: 'sha1-AAAA' }))).toHaveLength(1);
  const resolved = 'https://registry.example.com/left-pad.tgz';
  expect(lockFaults(withPackage('left-pad', { version: '1.3.0', integrity: hash, resolved }))).toHaveLength(1);
});

test('a family of binaries whose hashes are all there is excused no longer', () => {
  const complete = Object.fromEntries(
    Object.entries(packages).map(([place, locked]) => [place, { ...locked, integrity: hash }]),
  );
  expect(lockFaults(complete)).toContain('every @chdb/lib-… has its integrity: take it off the list in lock_faults.ts');
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
      .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name))
      .filter((name) => !(name in dependenciesOf(file)))
      .map((name) => `${file} imports ${name}`);
  });
  expect(files.length).toBeGreaterThan(500);
  expect(missing).toEqual([]);
});

test('Node itself is installed with the product, so that an older one on the machine can start it', () => {
  expect(dependenciesOf('package.json')).toHaveProperty('node', expect.stringMatching(/^24\./));
});

/** Those of the package that the file belongs to. */
function dependenciesOf(file: string): Record<string, string> {
  const folder = /^infra\/embedded\/(?:chdb_server|phone_simulator)\//.exec(file)?.[0] ?? '';
  const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return dependencies;
}
