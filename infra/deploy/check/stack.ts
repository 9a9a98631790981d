import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  chmodSync,
  existsSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { BASE_IMAGE, debianMirror, IMAGE } from './image.ts';
import type { Engine } from './engine.ts';
import { execute, type Executed, tryToExecute, obtain } from './execute.ts';

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
async function findCompose(): Promise<string> {
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

const DEPLOY = path.resolve(import.meta.dirname, '..');
const FILES = ['compose.yaml', 'compose.chdb.yaml', 'compose.phones.yaml', 'check/compose.debian.yaml'];

/** The services of compose.yaml, running. */
export interface Stack {
  readonly baseUrl: string;
  readonly phoneUrl: string;
  compose(args: readonly string[], secondsMax?: number): Promise<string>;
  tryCompose(args: readonly string[], secondsMax?: number): Promise<Executed>;
  containers(service: string): Promise<string[]>;
  /** Runs a command of the product, and returns the JSON that it prints. */
  tocsin<Printed>(...args: string[]): Promise<Printed>;
  password(): string;
}

/** Makes the secrets and finds what is needed; starts nothing. Throws Unavailable when there is no compose. */
export async function prepareStack(engine: Engine): Promise<Stack> {
  // A copy: an installation of packages may empty their folder meanwhile.
  const program = path.join(engine.folder, 'docker-compose');
  copyFileSync(await findCompose(), program);
  const secrets = path.join(engine.folder, 'secrets');
  mkdirSync(secrets);
  await execute('sh', [path.join(DEPLOY, 'make_secrets.sh'), secrets]);
  const [apiPort, phonesPort] = await Promise.all([freePort(), freePort()]);
  const baseUrl = `http://127.0.0.1:${apiPort}`;
  const env = {
    DOCKER_HOST: `unix://${engine.socket}`,
    DOCKER_CONFIG: path.join(engine.folder, 'config'),
    COMPOSE_PROJECT_NAME: 'tocsin-check',
    TOCSIN_IMAGE: IMAGE,
    CHECK_STORES_IMAGE: BASE_IMAGE,
    SECRETS: secrets,
    BASE_URL: baseUrl,
    LISTEN: `127.0.0.1:${apiPort}`,
    PHONES_PORT: String(phonesPort),
    FIRST_OWNER_EMAIL: 'owner@example.com',
    LOG_LEVEL: 'info',
  };
  const files = FILES.flatMap((file) => ['-f', path.join(DEPLOY, file)]);
  const execution = (secondsMax: number) => ({ env, secondsMax, cwd: DEPLOY });
  const tryCompose = (args: readonly string[], secondsMax = 60) =>
    tryToExecute(program, [...files, ...args], execution(secondsMax));
  const compose = (args: readonly string[], secondsMax = 60) =>
    execute(program, [...files, ...args], execution(secondsMax));
  return {
    baseUrl,
    phoneUrl: `http://127.0.0.1:${phonesPort}`,
    compose,
    tryCompose,
    containers: async (service) => (await compose(['ps', '-aq', service])).split('\n').filter((id) => id !== ''),
    async tocsin<Printed>(...args: string[]) {
      const command = ['exec', '-T', 'pager', 'node', 'src/entry/cli.ts', ...args, '--json'];
      return JSON.parse(await compose(command)) as Printed;
    },
    password: () => readFileSync(path.join(secrets, 'first_owner_password'), 'utf8'),
  };
}

export async function waitUntil(what: string, secondsMax: number, look: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + secondsMax * 1_000;
  while (!(await look().catch(() => false))) {
    if (performance.now() > until) throw new Error(`waited ${secondsMax} s in vain until ${what}`);
    await delay(50);
  }
}

export async function isReady(baseUrl: string): Promise<boolean> {
  return (await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(5_000) })).ok;
}

/** Below the range that connections take their ports from. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}
