import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import type { Engine } from './engine.ts';
import { execute, obtain } from './execute.ts';
import { Unavailable } from './report.ts';

/** Debian, Node with npm, and the stores of Debian: what stands in for images where no registry can be reached. */
export const BASE_IMAGE = 'tocsin-check/base';

const PACKAGES = ['ca-certificates', 'tini', 'postgresql', 'redis-server'];
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

export async function makeBaseImage(engine: Engine, secondsMax: number): Promise<void> {
  await importDebian(engine, secondsMax);
  await addNode(engine);
}

async function importDebian({ folder, docker }: Engine, secondsMax: number): Promise<void> {
  if (!existsSync('/usr/bin/mmdebstrap'))
    throw new Unavailable('a base image is made of packages of Debian, with mmdebstrap');
  const root = path.join(folder, 'debian.tar');
  const withoutDocuments = ['man', 'doc', 'locale', 'info'].map(
    (name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`,
  );
  const noCluster =
    'mkdir -p "$1/etc/postgresql-common" && echo create_main_cluster=false > "$1/etc/postgresql-common/createcluster.conf"';
  const options = [`--essential-hook=${noCluster}`, '--aptopt=Acquire::Languages "none"', ...withoutDocuments];
  const included = `--include=${PACKAGES.join(',')}`;
  const args = ['--variant=minbase', included, ...options, debianSuite(), root, await debianMirror()];
  await obtain('mmdebstrap', args, { secondsMax, cwd: folder });
  await docker(['import', root, 'tocsin-check/debian'], { secondsMax: 120 });
  rmSync(root);
}

async function addNode({ folder, docker }: Engine): Promise<void> {
  const context = path.join(folder, 'base');
  mkdirSync(context);
  copyFileSync(realpathSync(process.execPath), path.join(context, 'node'));
  cpSync(await npmFolder(), path.join(context, 'npm'), { recursive: true });
  copyFileSync(CERTIFICATES, path.join(context, 'certificates.crt'));
  const registry = (await execute('npm', ['config', 'get', 'registry'])).trim();
  const lines = [
    'FROM tocsin-check/debian',
    'COPY node /usr/local/bin/node',
    'COPY npm /usr/local/lib/node_modules/npm',
    `COPY certificates.crt ${CERTIFICATES}`,
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
    `ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES} NPM_CONFIG_CAFILE=${CERTIFICATES} NPM_CONFIG_REGISTRY=${registry}`,
  ];
  writeFileSync(path.join(context, 'Dockerfile'), `${lines.join('\n')}\n`);
  await docker(['build', '-q', '-t', BASE_IMAGE, context], { secondsMax: 120 });
  rmSync(context, { recursive: true });
}

/** Returns the mirror from which this machine has its packages. */
export async function debianMirror(): Promise<string> {
  const suite = debianSuite();
  const targets = await obtain('apt-get', [
    'indextargets',
    '--format',
    '$(REPO_URI) $(RELEASE)',
    'Created-By: Packages',
  ]);
  const mirror = targets
    .split('\n')
    .map((line) => line.split(' '))
    .find(([uri = '', release]) => release === suite && /debian\/?$/.test(uri))?.[0];
  if (mirror === undefined) throw new Unavailable(`this machine has no packages of Debian ${suite}`);
  return mirror;
}

async function npmFolder(): Promise<string> {
  const program = (await execute('sh', ['-c', 'command -v npm'])).trim();
  return path.resolve(realpathSync(program), '../..');
}

function debianSuite(): string {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  const suite = /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1];
  if (suite === undefined) throw new Unavailable('this machine is not a Debian with a name');
  return suite;
}
