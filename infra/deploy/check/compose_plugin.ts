import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { debianMirror } from './base_image.ts';
import { obtain, tryToExecute } from './execute.ts';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const INSTALLED = [
  '/usr/libexec/docker/cli-plugins',
  '/usr/lib/docker/cli-plugins',
  '/usr/local/lib/docker/cli-plugins',
];
const CACHE = path.resolve(import.meta.dirname, '../../../node_modules/.cache/deploy/docker-compose');
/** The first release of Debian that has it. */
const SUITE = 'trixie';

/** The program of Docker Compose: the machine's, or that of a later Debian. Throws Unavailable when it cannot be had. */
export async function findCompose(): Promise<string> {
  const places = [...INSTALLED.map((folder) => path.join(folder, 'docker-compose')), CACHE];
  for (const place of places) {
    if (existsSync(place) && (await tryToExecute(place, ['version'])).code === 0) return place;
  }
  const folder = `${CACHE}.${process.pid}`;
  mkdirSync(path.join(folder, 'lists/partial'), { recursive: true });
  mkdirSync(path.join(folder, 'cache/archives/partial'), { recursive: true });
  try {
    const sources = path.join(folder, 'sources.list');
    writeFileSync(sources, `deb [signed-by=${KEYRING}] ${await debianMirror()} ${SUITE} main\n`);
    const options = [
      `Dir::Etc::sourcelist=${sources}`,
      'Dir::Etc::sourceparts=/dev/null',
      `Dir::State::lists=${folder}/lists`,
      `Dir::Cache=${folder}/cache`,
      'APT::Get::List-Cleanup=0',
      'APT::Sandbox::User=root',
    ].flatMap((option) => ['-o', option]);
    await obtain('apt-get', [...options, '-qq', 'update'], { secondsMax: 60 });
    await obtain('apt-get', [...options, '-qq', 'download', 'docker-compose'], { secondsMax: 60, cwd: folder });
    await obtain('sh', ['-c', 'dpkg-deb -x docker-compose_*.deb unpacked'], { cwd: folder });
    const program = path.join(folder, 'unpacked/usr/libexec/docker/cli-plugins/docker-compose');
    copyFileSync(program, path.join(folder, 'program'));
    chmodSync(path.join(folder, 'program'), 0o755);
    renameSync(path.join(folder, 'program'), CACHE);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return CACHE;
}
