import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runCommand } from '#test/kit/programs/command_line.ts';

/** The programs under plain Node, as people start them, without the test runner's loader. */
const ROOT = path.join(import.meta.dirname, '..');

let dataDir: string;
let server: Server;

interface Server {
  readonly process: ChildProcess;
  readonly baseUrl: string;
  output(): string;
}

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'tocsin-boot-'));
  chmodSync(dataDir, 0o711);
  server = await start();
});

afterAll(async () => {
  // Undefined when the first start failed.
  if ((server as Server | undefined)?.process.exitCode === null) await stop(server);
  rmSync(dataDir, { recursive: true, force: true });
});

const environment = () => ({ PATH: process.env['PATH'], DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' });

async function start(): Promise<Server> {
  const child = spawn(process.execPath, ['infra/embedded/start.ts'], {
    cwd: ROOT,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      if (output.includes('Ctrl-C stops everything')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`it ended with ${code}:\n${output}`)));
  });
  const baseUrl = /API and console\s+(\S+)/.exec(output)?.[1] ?? '';
  return { process: child, baseUrl, output: () => output };
}

/** Resolves to the exit code. */
async function stop({ process: child }: Server): Promise<number | null> {
  const gone = once(child, 'exit') as Promise<[number | null]>;
  child.kill('SIGTERM');
  return (await gone)[0];
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { ...environment(), NODE_COMPILE_CACHE: 'node_modules/.cache/node' };
    execFile(process.execPath, args, { cwd: ROOT, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const tocsinWith = (input: string, args: readonly string[]) =>
  runCommand({ args, env: { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' }, input });

const tocsin = (...args: readonly string[]) => tocsinWith('', args);

async function tocsinJson(...args: readonly string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await tocsin(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, string>;
}

/** Processes that were started for our data folder, whatever their parent is now. */
function processesOfFolder(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const read = (what: string) => readFileSync(`/proc/${pid}/${what}`, 'utf8').replaceAll('\0', ' ');
        return `${read('cmdline')} ${read('environ')}`.includes(dataDir) ? [`${pid} ${read('cmdline')}`] : [];
      } catch {
        return [];
      }
    });
}

describe('the first start', () => {
  test('says where everything is, and answers', async () => {
    expect(server.output()).toContain('Tocsin is running');
    const response = await fetch(`${server.baseUrl}/healthz`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: 'up',
      stores: { postgres: { status: 'up' }, clickhouse: { status: 'up' }, queue: { status: 'up' } },
    });
  });

  test('writes how to sign in for its owner alone, and says where when it does not write to a terminal', async () => {
    const file = path.join(dataDir, 'first-run.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const firstRun = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    const keys = ['apiKey', 'baseUrl', 'email', 'organizationId', 'password', 'userId'];
    expect(Object.keys(firstRun).toSorted()).toEqual(keys);
    expect(firstRun['baseUrl']).toBe(server.baseUrl);
    expect(server.output()).not.toContain(firstRun['password']);
    expect(server.output()).toContain(`are in ${path.join(dataDir, 'first-run.json')}`);
    expect(await listServices(firstRun['apiKey'] ?? '')).toBe(200);
  });

  test('is the only one on its data folder', async () => {
    const second = await run('infra/embedded/start.ts');
    expect(second.code).toBe(2);
    expect(second.stdout).toContain(`another process (pid ${server.process.pid}) already runs on this data folder`);
  });
});

async function listServices(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const url = `${server.baseUrl}/api/rest/actions/list_services`;
  return (await fetch(url, { method: 'POST', headers, body: '{}' })).status;
}

describe('the command line beside it', { timeout: 60_000 }, () => {
  test('creates organizations, users and keys, and revokes keys at once', async () => {
    const { organizationId: org = '' } = await tocsinJson('org', 'create', '--name', 'Acme');
    const person = ['--email', 'anna@example.com', '--name', 'Anna', '--org', org, '--role', 'responder', '--json'];
    const created = await tocsinWith('a long password\n', ['user', 'create', ...person]);
    expect(created).toMatchObject({ code: 0, stderr: '' });
    const user = JSON.parse(created.stdout) as Record<string, string>;
    expect(user).toEqual({ userId: expect.stringMatching(/^user_/) as string, organizationId: org });
    const { link } = await tocsinJson('user', 'password', '--email', 'ANNA@example.com');
    expect(link).toMatch(/\/reset\/tocsin_rst_\w{49}$/);
    const [ofOrg, ofUser] = await Promise.all([
      tocsinJson('key', 'create', '--org', org, '--permissions', 'services:view', '--name', 'CI'),
      tocsinJson('key', 'create', '--org', org, '--user', user['userId'] ?? '', '--name', 'Laptop'),
    ]);
    expect(Object.keys(ofOrg).toSorted()).toEqual(['key', 'keyId']);
    expect([await listServices(ofOrg['key'] ?? ''), await listServices(ofUser['key'] ?? '')]).toEqual([200, 200]);
    expect(await tocsinJson('key', 'revoke', ofOrg['keyId'] ?? '')).toMatchObject({ keyId: ofOrg['keyId'] });
    expect([await listServices(ofOrg['key'] ?? ''), await listServices(ofUser['key'] ?? '')]).toEqual([401, 200]);
  });

  test('is a program', async () => {
    const { code, stdout } = await run('src/entry/cli.ts', 'org', 'list', '--json');
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('organizations') as string });
  });

  test('says what is wrong with a call, with status 2', async () => {
    const person = ['--email', 'b@example.com', '--name', 'Bram', '--org', 'org_1', '--role', 'owner'];
    const calls: (readonly [args: readonly string[], says: RegExp, input?: string])[] = [
      [['org', 'create'], /required option '--name <name>' not specified/],
      [['org', 'create', '--name', ' '], /must not be blank/],
      [['user', 'create', ...person], /at least 12 characters/, 'short'],
      [['user', 'create', ...person], /give the password by standard input/],
      [
        ['user', 'create', ...person, '--password', 'a long password'],
        /can see a password[\s\S]*no organization org_1/,
      ],
      [['user', 'create', ...person], /there is no organization org_1/, 'a long password'],
      [['user', 'create', ...person], /commonest/, 'Password1234'],
      [['user', 'password', '--email', 'nobody@example.com'], /there is no user nobody@example.com/],
      [['key', 'create', '--org', 'org_1', '--permissions', 'fly', '--name', 'n'], /Unknown: fly/],
      [['key', 'revoke', 'apikey_1'], /no key apikey_1/],
      [['fly'], /unknown command 'fly'/],
    ];
    const answers = await Promise.all(calls.map(([args, , input = '']) => tocsinWith(input, args)));
    for (const [index, [args, says]] of calls.entries()) {
      const stderr = expect.stringMatching(says) as string;
      expect({ args, ...answers[index] }).toMatchObject({ code: 2, stderr });
    }
  });
});

test('in the demo a real error and a real metric page a phone', { timeout: 60_000 }, async () => {
  const { code, stdout } = await run('infra/demo/main.ts');
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('Every step worked.') as string });
});

test('SIGTERM ends every process in time; the next start migrates nothing and has everything', async () => {
  expect(processesOfFolder().length).toBeGreaterThan(5);
  // It ends with another status when it has to give up what does not stop.
  expect(await stop(server)).toBe(0);
  expect(processesOfFolder()).toEqual([]);

  const { apiKey } = JSON.parse(readFileSync(path.join(dataDir, 'first-run.json'), 'utf8')) as { apiKey: string };
  server = await start();
  expect(server.output()).not.toContain('Migrations');
  expect(server.output()).not.toContain(apiKey);
  expect(await listServices(apiKey)).toBe(200);
});
