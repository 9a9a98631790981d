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
import { megabytes, type Report, seconds, Unavailable } from './report.ts';

export const IMAGE = 'tocsin-check/tocsin';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const DOCKERFILE = path.join(import.meta.dirname, '../Dockerfile');
/** Largest size of the image without its base. */
const LAYER_BYTES_MAX = 130e6;

/** Builds the image as anybody would, on the base of this check. */
export async function buildImage({ docker, tryDocker }: Engine, report: Report, secondsMax: number): Promise<void> {
  const revision = await execute('git', ['rev-parse', 'HEAD'], { cwd: ROOT }).catch(() => 'unknown');
  const argumentsOfBuild = {
    BASE: BASE_IMAGE,
    VERSION: versionOf(),
    REVISION: revision.trim(),
    CREATED: new Date().toISOString(),
  };
  const buildArgs = Object.entries(argumentsOfBuild).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  const build = (...args: string[]) => ['build', '--network', 'host', '-f', DOCKERFILE, ...buildArgs, ...args, ROOT];
  const began = performance.now();
  // Downloads alone can fail here for a reason that is not ours.
  const packages = await tryDocker(build('--target', 'packages', '-t', 'tocsin-check/packages'), { secondsMax });
  if (packages.code !== 0) {
    throw new Unavailable(
      `the packages could not be installed in the image: ${packages.stdout.slice(-500)} ${packages.stderr.slice(-1_500)}`,
    );
  }
  report.say(`packages installed in ${seconds(began)}`);
  const builtFrom = performance.now();
  await docker(build('-t', IMAGE), { secondsMax: 180 });
  report.figure('image, build without the base', `${seconds(began)}, ${seconds(builtFrom)} of it after the packages`);
}

/** Checks the image's size, contents and labels. */
export async function checkImage(engine: Engine, report: Report): Promise<void> {
  const { docker } = engine;
  const sizeOf = async (image: string) => Number(await docker(['image', 'inspect', '-f', '{{.Size}}', image]));
  const layer = (await sizeOf(IMAGE)) - (await sizeOf(BASE_IMAGE));
  report.figure('image, application layer', `${megabytes(layer)} (at most ${megabytes(LAYER_BYTES_MAX)})`);
  const run = (program: string, ...args: string[]) =>
    docker([
      'run',
      '--rm',
      '--network',
      'none',
      '--read-only',
      '--cap-drop',
      'ALL',
      '--entrypoint',
      program,
      IMAGE,
      ...args,
    ]);
  const folders = ['node_modules', 'src', '.cache/console', '.cache/node'];
  const sizes = await run('du', '-sb', ...folders);
  report.figure('image, of this', sizes.trim().split('\n').map(toFolderSize).join(', '));

  const compiled = (await run('find', 'node_modules', '-name', '*.node', '-o', '-name', '*.so')).trim();
  report.figure(
    'image, compiled code in the packages',
    compiled === '' ? 'none: the same on amd64 and arm64' : compiled,
  );

  const bom = JSON.parse(await run('cat', 'sbom.cdx.json')) as { components: { name: string; purl?: string }[] };
  report.figure('image, bill of materials', `${bom.components.length} components (CycloneDX)`);
  const names = new Set(
    bom.components.map(({ name, purl = '' }) => purl.replace(/^pkg:npm\/|@[^@]*$/g, '').replace('%40', '@') || name),
  );

  const { Config: config, Architecture: architecture } = JSON.parse(
    await docker(['image', 'inspect', '-f', '{{json .}}', IMAGE]),
  ) as { Config: { User: string; Labels: Record<string, string>; Entrypoint: string[] }; Architecture: string };
  const labels = ['title', 'version', 'revision', 'created', 'licenses'].map(
    (name) => `org.opencontainers.image.${name}`,
  );
  const faults = [
    compiled !== '' && `the packages hold code for one platform: ${compiled}`,
    layer > LAYER_BYTES_MAX && `the application layer weighs ${megabytes(layer)}`,
    config.User !== '10001' && `it runs as ${config.User || 'root'}`,
    config.Entrypoint[0] !== 'tini' && 'tini is not its first process',
    ...labels.map((name) => !config.Labels[name] && `the label ${name} is missing`),
    ...['fastify', 'bullmq', 'pg', '@clickhouse/client'].map(
      (name) => !names.has(name) && `the bill of materials lacks ${name}`,
    ),
    ...['chdb', 'node', 'react', 'vite', 'vitest', 'typescript'].map(
      (name) => names.has(name) && `the image holds ${name}`,
    ),
  ].filter((fault) => typeof fault === 'string');
  report.figure('image, platform built here', `linux/${architecture}`);
  if (faults.length > 0) throw new Error(`the image has faults: ${faults.join('; ')}`);
}

function toFolderSize(line: string): string {
  const [bytes = '0', folder = ''] = line.split('\t');
  return `${folder} ${megabytes(Number(bytes))}`;
}

function versionOf(): string {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  return version;
}

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
