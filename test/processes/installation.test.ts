import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { createClient } from '@clickhouse/client';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';

import { Installation, makeDataFolder, type Progress, readOrCreateAppSecret } from '#infra/embedded/installation.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { takeLock } from '#infra/embedded/data_folder.ts';
import { loadConfig } from '#entry/config.ts';
import { withDatabase } from '#test/kit/templates.ts';

let folder: string;
let diary: string;
let port: string;

beforeEach(async () => {
  port = String(await findFreePort(0));
  folder = mkdtempSync(path.join(tmpdir(), 'installation-'));
  chmodSync(folder, 0o711);
  diary = path.join(folder, 'diary');
  writeFileSync(diary, '');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const entries = () => readFileSync(diary, 'utf8').split('\n').slice(0, -1);

/** A program that writes into the diary when it begins and ends. */
function write(name: string, body: string): string {
  const entry = path.join(folder, `${name}.mjs`);
  writeFileSync(
    entry,
    `import { appendFileSync } from 'node:fs';
    const note = (what) => appendFileSync(${JSON.stringify(diary)}, '${name} ' + what + '\\n');
    const ready = (url) => { note('begins'); process.send({ ready: true, url }); };
    process.once('SIGTERM', () => setTimeout(() => { note('ends'); process.exit(); }, 20));
    process.once('disconnect', () => process.exit());
    ${body}`,
  );
  return entry;
}

describe('an installation', () => {
  const build = (progress: Progress[], environment: Record<string, string> = {}) => {
    const programs = {
      phone: write(
        'phone',
        `process.on('message', (_message, connection) => connection.end('HTTP/1.1 204 OK\\r\\nx-pid: ' + process.pid + '\\r\\n\\r\\n')); ready();`,
      ),
      migrate: [
        write(
          'migrate',
          `note(process.argv[2]); if (process.env.FAIL) console.error('tocsin: no room'); process.exit(process.env.FAIL ? 1 : 0);`,
        ),
        'migrate',
      ] as const,
      api: write(
        'api',
        `import { writeFileSync } from 'node:fs';
        writeFileSync(process.env.DATA_DIR + '/first-run.json', JSON.stringify(process.env));
        process.once('message', () => ready('http://127.0.0.1:' + process.env.PORT));`,
      ),
      worker: [write('worker', `process.once('message', () => ready());`)] as const,
      pager: [write('pager', `process.once('message', () => ready());`)] as const,
    };
    const variables = { DATA_DIR: path.join(folder, 'data'), PORT: port, ...environment };
    makeDataFolder(variables.DATA_DIR);
    const config = loadConfig(variables);
    return new Installation(config, { ...process.env, ...variables }, (one) => progress.push(one), {
      usesPrepared: false,
      programs,
      isDurable: false,
    });
  };

  test('starts engines, migrations and programs in order, and stops in reverse', async () => {
    const progress: Progress[] = [];
    const installation = build(progress);
    const facts = await installation.start();
    const dataDir = path.join(folder, 'data');
    expect(facts).toMatchObject({
      apiUrl: `http://127.0.0.1:${port}`,
      dataDir,
      postgres: 'embedded',
      clickhouse: 'embedded',
      queue: 'PostgreSQL',
      firstRun: expect.objectContaining({ DATA_DIR: dataDir }) as unknown,
      firstRunFile: path.join(dataDir, 'first-run.json'),
    });
    const given = JSON.parse(readFileSync(path.join(dataDir, 'first-run.json'), 'utf8')) as Record<string, string>;
    const database = new pg.Client({ connectionString: given['DATABASE_URL'] });
    await database.connect();
    await database.end();
    const clickhouse = createClient({ url: given['CLICKHOUSE_URL']! });
    expect(await clickhouse.ping({ select: true })).toMatchObject({ success: true });
    await clickhouse.close();
    expect(given['APP_SECRET']).toBe(readOrCreateAppSecret(path.join(dataDir, 'app-secret')));
    expect(facts.phoneUrl).toMatch(new RegExp(`^${given['TWILIO_API_BASE']}/[0-9a-f]{32}$`));
    expect(loadConfig({ ...given, BASE_URL: '' })).toMatchObject({ twilioFrom: '+15005550006' });
    expect(entries()).not.toContain('phone begins');
    expect(await Promise.all([1, 2].map(async () => (await fetch(facts.phoneUrl!)).status))).toEqual([204, 204]);

    await installation.stop();
    const order = entries();
    expect(order.slice(0, 1)).toEqual(['migrate migrate']);
    expect(order.slice(1, 4).sort()).toEqual(['api begins', 'pager begins', 'worker begins']);
    expect(order.slice(4, 5)).toEqual(['phone begins']);
    expect(order.slice(5, 8).sort()).toEqual(['api ends', 'pager ends', 'worker ends']);
    expect(order.slice(8)).toEqual(['phone ends']);
  });

  test('restarts what dies, at the same addresses', async () => {
    const progress: Progress[] = [];
    const installation = build(progress);
    const facts = await installation.start();
    const given = JSON.parse(readFileSync(facts.firstRunFile!, 'utf8')) as Record<string, string>;
    const pids = new Map(progress.flatMap((one) => (one.kind === 'ready' ? [[one.service, one.pid]] : [])));
    for (const name of ['PostgreSQL', 'ClickHouse', 'API']) process.kill(pids.get(name)!, 'SIGKILL');
    await expect.poll(() => progress.filter((one) => one.kind === 'ready')).toHaveLength(9);
    const database = new pg.Client({ connectionString: given['DATABASE_URL'] });
    await database.connect();
    await database.end();
    const clickhouse = createClient({ url: given['CLICKHOUSE_URL']! });
    expect(await clickhouse.ping({ select: true })).toMatchObject({ success: true });
    await clickhouse.close();
    const phonePid = async () => (await fetch(facts.phoneUrl!).catch(() => null))?.headers.get('x-pid') ?? '';
    const first = await phonePid();
    process.kill(Number(first), 'SIGKILL');
    await expect.poll(phonePid).not.toMatch(new RegExp(`^${first}$|^$`));
    await installation.stop();
  });

  test('an installation whose migrations fail does not start', async () => {
    const installation = build([], { FAIL: 'yes' });
    await expect(installation.start()).rejects.toMatchObject({
      message: 'the migrations failed',
      cause: { message: 'tocsin: no room' },
    });
    await installation.stop();
    expect(entries()).toEqual(['migrate migrate']);
  });

  test('an installation that is stopped while it starts leaves nothing', async () => {
    const installation = build([]);
    const outcome = installation.start().catch((error: Error) => error.message);
    await installation.stop();
    expect(await outcome).toMatch(/abort|did not start/);
    expect(entries()).not.toContain('api begins');
  });
});

describe('the command', () => {
  async function run(environment: Record<string, string>): Promise<{ code: number | null; output: string }> {
    const child = spawn(process.execPath, ['infra/embedded/start.ts'], {
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number | null]>]);
    return { code, output };
  }

  async function runProgram(
    program: string,
    given: string | Record<string, string> = {},
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const [args, env] = typeof given === 'string' ? [[given], {}] : [[], given];
    const child = spawn(process.execPath, [program, ...args], {
      env: { PATH: process.env['PATH'], DATA_DIR: folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number | null]>,
    ]);
    return { code, stdout, stderr };
  }

  test('says who else runs on the data folder', async () => {
    const lock = takeLock(path.join(folder, 'lock'));
    const { code, output } = await run({ DATA_DIR: folder });
    expect(code).toBe(2);
    expect(output).toContain(`another process (pid ${process.pid}) already runs on this data folder`);
    lock.release();
  });

  test('names every setting that is wrong', async () => {
    const { code, output } = await run({ DATA_DIR: folder, PORT: 'x', LOG_LEVEL: 'loud' });
    expect(code).toBe(2);
    expect(output).toMatch(/PORT must be[\s\S]*LOG_LEVEL must be/);
  });

  test('says in one sentence what does not fit its settings, before it starts anything', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const occupied = String((taken.address() as AddressInfo).port);
    // A port that was free a moment ago, another test may have by now.
    const away = '127.0.0.1:1';
    const APP_SECRET = 'a secret that is long enough for tests';
    const noDatabase = withDatabase(inject('postgresUrl'), 'missing');
    const clickhouse = new URL(inject('clickhouseUrl'));
    clickhouse.password = 'wrong';
    const file = path.join(folder, 'a-file');
    writeFileSync(file, '');
    const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
      [{ PORT: occupied }, /port \d+ of 127.0.0.1 is taken by another program: end it, or set PORT/],
      [{ PHONE_PORT: occupied }, /is taken by another program: end it, or set PHONE_PORT/],
      [{ HOST: '192.0.2.7' }, /HOST 192.0.2.7 is not an address of this machine: set HOST/],
      [{ HOST: '0.0.0.0' }, /BASE_URL: with HOST 0.0.0.0, links .* which only this machine can open; set it to/],
      [{ DATA_DIR: path.join(file, 'x') }, /the data folder .* cannot be written .* set DATA_DIR/],
      [{ REDIS_URL: `redis://${away}` }, /REDIS_URL: Redis does not answer at 127.0.0.1:\d+; start it there, or/],
      [{ CLICKHOUSE_URL: `http://${away}` }, /CLICKHOUSE_URL: ClickHouse does not answer at/],
      [{ CLICKHOUSE_URL: clickhouse.href }, /CLICKHOUSE_URL: ClickHouse refuses this user or password; correct them/],
      [{ APP_SECRET, DATABASE_URL: `postgres://u:hunter2@${away}/x` }, /DATABASE_URL: PostgreSQL does not answer at/],
      [{ APP_SECRET, DATABASE_URL: noDatabase }, /DATABASE_URL: PostgreSQL has no database of this name; create it/],
      [{ APP_SECRET, DATABASE_URL: 'postgres://u:100%@h/x' }, /DATABASE_URL is not a valid URL: escape/],
    ];
    for (const [settings, says] of cases) {
      const { code, output } = await run({ DATA_DIR: folder, PORT: '0', ...settings });
      expect({ settings, code, output }).toMatchObject({ code: 2, output: expect.stringMatching(says) as string });
      expect(output.trim().split('\n')).toHaveLength(1);
      expect(output).not.toMatch(/hunter2|    at /);
    }
    expect(readdirSync(folder).toSorted()).toEqual(['a-file', 'diary']);
    taken.close();
  }, 120_000);

  test.each([
    ['infra/embedded/start.ts', 'npm start'],
    ['infra/demo/main.ts', 'npm run demo'],
  ])('%s says what it is for, and refuses what it does not know', async (program, name) => {
    const help = await runProgram(program, '--help');
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining(name) as string });
    const unknown = await runProgram(program, 'fly');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown argument: fly') as string });
  });

  test.each([
    ['src/entry/api.ts', {}],
    ['workers/main.ts', 'worker'],
    ['workers/main.ts', 'pager'],
  ])('%s %s alone says which settings it needs, without a stack', async (program, given) => {
    const { code, stderr } = await runProgram(program, given);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'tocsin: set DATABASE_URL, CLICKHOUSE_URL, APP_SECRET, which every single process needs; "npm start" provides them for the embedded stores\n',
    });
  });

  test('workers/main.ts says which processes there are', async () => {
    const { code, stderr } = await runProgram('workers/main.ts');
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'tocsin: say which process to run: worker or pager\n' });
  });

  test('an API that cannot listen says so, without a stack', async () => {
    const { code, stderr } = await runProgram('src/entry/api.ts', {
      HOST: '192.0.2.7',
      APP_SECRET: 'a secret that is long enough for tests',
      DATABASE_URL: inject('postgresUrl'),
      CLICKHOUSE_URL: inject('clickhouseUrl'),
    });
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^tocsin: HOST 192.0.2.7 is not an address of this machine.*\n$/) as string,
    });
  });
});
