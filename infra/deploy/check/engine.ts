import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { execute, type Execution, type Executed, flags, tryToExecute } from './execute.ts';
import { Unavailable } from './report.ts';

/** A container engine of our own, with everything that it keeps in one folder. */
export interface Engine {
  readonly folder: string;
  docker(args: readonly string[], execution?: Execution): Promise<string>;
  tryDocker(args: readonly string[], execution?: Execution): Promise<Executed>;
  /** Socket of its API, for figures that its command line does not give. */
  readonly socket: string;
  /** Ends every container, and removes everything. */
  stop(): Promise<void>;
}

const READY_SECONDS_MAX = 30;
const STOP_SECONDS_MAX = 20;
/** Networks of ours, which no other engine uses by default. */
const ADDRESS_POOL = 'base=10.213.0.0/16,size=24';

/** Starts dockerd of this machine on a new folder. Throws Unavailable when there is none, or it cannot run here. */
export async function startEngine(): Promise<Engine> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Unavailable('a container engine of our own needs Linux and root');
  const dockerd = find('dockerd');
  const client = find('docker');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-deploy-'));
  const socket = path.join(folder, 'docker.sock');
  const logFile = path.join(folder, 'dockerd.log');
  const log = openSync(logFile, 'a');
  mkdirSync(path.join(folder, 'data'));
  const options = flags({
    'data-root': path.join(folder, 'data'),
    'exec-root': path.join(folder, 'exec'),
    pidfile: path.join(folder, 'pid'),
    host: `unix://${socket}`,
    'storage-driver': 'overlay2',
    bridge: 'none',
    'default-address-pool': ADDRESS_POOL,
  });
  // Nothing of these containers has to be forwarded, and the machine keeps its policy for what is.
  const daemon = spawn(dockerd, [...options, '--ip-forward=false'], { stdio: ['ignore', log, log] });
  const end = new AbortController();
  const gone = new Promise<void>((resolve) => {
    daemon.once('error', () => resolve());
    daemon.once('exit', () => resolve());
  }).then(() => end.abort());
  // Ours alone, whatever engines and contexts this machine has besides.
  const env = { DOCKER_HOST: `unix://${socket}`, DOCKER_CONFIG: path.join(folder, 'config'), DOCKER_BUILDKIT: '0' };
  const withEnv = (execution: Execution = {}): Execution => ({ ...execution, env: { ...env, ...execution.env } });
  const engine: Engine = {
    folder,
    socket,
    docker: (args, execution) => execute(client, args, withEnv(execution)),
    tryDocker: (args, execution) => tryToExecute(client, args, withEnv(execution)),
    async stop() {
      const { stdout } = await engine.tryDocker(['ps', '-aq']);
      const containers = stdout.split('\n').filter((id) => id !== '');
      if (containers.length > 0) await engine.tryDocker(['rm', '-f', '-v', ...containers]);
      await engine.tryDocker(['network', 'prune', '-f']);
      daemon.kill('SIGTERM');
      await Promise.race([gone, delay(STOP_SECONDS_MAX * 1_000, undefined, { ref: false })]);
      if (!end.signal.aborted) daemon.kill('SIGKILL');
      await gone;
      for (const mount of mountsBelow(folder)) await tryToExecute('umount', ['-l', mount]);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
  const until = performance.now() + READY_SECONDS_MAX * 1_000;
  while (!end.signal.aborted && performance.now() < until) {
    if ((await engine.tryDocker(['version'])).code === 0) return engine;
    await delay(200);
  }
  await engine.stop().catch(() => {});
  const why = existsSync(logFile) ? readFileSync(logFile, 'utf8').trim().split('\n').slice(-3).join(' | ') : '';
  throw new Unavailable(`dockerd does not run on this machine: ${why}`);
}

/** The innermost first. */
function mountsBelow(folder: string): string[] {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((mount) => mount.startsWith(`${folder}/`))
    .reverse();
}

/** A package of Debian may be beside another client, which does not fit its engine. */
function find(program: string): string {
  const found = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin']
    .map((folder) => path.join(folder, program))
    .find((file) => existsSync(file));
  if (found === undefined) throw new Unavailable(`there is no ${program} on this machine (Debian: docker.io)`);
  return found;
}
