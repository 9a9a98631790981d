import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { type Phone, startPhone } from '@tocsin/phone-simulator';

import type { FirstRun } from '#entry/first_run.ts';
import { startClickHouse } from '#infra/embedded/clickhouse.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { type NodeChild, startNodeChild } from '#infra/embedded/node_child.ts';
import { readFirstRun } from '#infra/embedded/installation_files.ts';
import { startPostgres } from '#infra/embedded/postgres.ts';
import { supervise } from '#infra/embedded/supervisor.ts';
import { inboundSmsUrl } from '#notify/twilio/client.ts';
import { isRedisInstalled, redisService } from '#infra/bench/paging/redis.ts';

export type Role = 'api' | 'worker' | 'pager';

export interface Member {
  readonly role: Role;
  /** Address of an API process. */
  readonly url: string;
  readonly child: NodeChild;
}

export interface FleetOptions {
  /** Left out where no Redis is installed and none is configured. */
  readonly queue: 'Redis' | 'PostgreSQL';
  /** Further settings of every process, as environment variables. */
  readonly variables?: Readonly<Record<string, string>>;
}

const ROOT = path.join(import.meta.dirname, '../../..');
const ENTRIES: Readonly<Record<Role, readonly [entry: string, ...args: string[]]>> = {
  api: ['src/entry/api.ts'],
  worker: ['workers/main.ts', 'worker'],
  pager: ['workers/main.ts', 'pager'],
};
const PUBLIC_URL = 'http://tocsin.bench';
const PHONE_NUMBER = '+15005550006';
/** Every process has up to fifty. */
const CONNECTIONS_MAX = '1200';

/** Addresses of the stores: configured ones, or embedded ones that are started for this run. */
export interface Stores {
  readonly databaseUrl: string;
  readonly clickhouseUrl: string;
  readonly redisUrl: string | null;
  stop(): Promise<void>;
}

/** `BENCH_DATABASE_URL`, `BENCH_CLICKHOUSE_URL` and `BENCH_REDIS_URL` name servers to use; their processor time is not seen then. */
async function startStores(folder: string, queue: FleetOptions['queue']): Promise<Stores> {
  const { BENCH_DATABASE_URL, BENCH_CLICKHOUSE_URL, BENCH_REDIS_URL } = process.env;
  const postgres = BENCH_DATABASE_URL
    ? null
    : await startPostgres(path.join(folder, 'postgres'), { settings: { max_connections: CONNECTIONS_MAX } });
  const clickhouse = BENCH_CLICKHOUSE_URL ? null : await startClickHouse(path.join(folder, 'clickhouse'));
  const port = await findFreePort(0);
  const isOwn = queue === 'Redis' && !BENCH_REDIS_URL && isRedisInstalled();
  const redis = isOwn ? supervise(redisService(folder, port), () => {}) : null;
  await redis?.ready;
  const ownRedisUrl = isOwn ? `redis://127.0.0.1:${port}` : null;
  return {
    databaseUrl: BENCH_DATABASE_URL ?? postgres?.url ?? '',
    clickhouseUrl: BENCH_CLICKHOUSE_URL ?? clickhouse?.url ?? '',
    redisUrl: queue === 'Redis' ? (BENCH_REDIS_URL ?? ownRedisUrl) : null,
    async stop() {
      await Promise.all([postgres?.stop(), clickhouse?.stop(), redis?.stop(2_000)]);
    },
  };
}

/** Stores, the provider of messages, and any number of processes of any release on them. */
export class Fleet {
  readonly stores: Stores;
  readonly phone: Phone;
  readonly #folder: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #members: Member[] = [];

  private constructor(folder: string, stores: Stores, phone: Phone, environment: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.stores = stores;
    this.phone = phone;
    this.#environment = environment;
  }

  static async open(folder: string, { queue, variables = {} }: FleetOptions): Promise<Fleet> {
    const stores = await startStores(folder, queue);
    const account = { sid: `AC${randomBytes(16).toString('hex')}`, token: randomBytes(16).toString('hex') };
    let fleet: Fleet | null = null;
    const phone = await startPhone({
      accountSid: account.sid,
      authToken: account.token,
      numbers: [{ e164: PHONE_NUMBER, smsUrl: inboundSmsUrl(PUBLIC_URL) }],
      // Call-backs come to whichever process runs.
      publicUrlRewrite: (url) => url.replace(PUBLIC_URL, fleet?.of('api').at(-1)?.url ?? PUBLIC_URL),
    });
    const environment = {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: path.join(folder, 'cache'),
      BASE_URL: PUBLIC_URL,
      APP_SECRET: randomBytes(24).toString('hex'),
      DATABASE_URL: stores.databaseUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      ...(stores.redisUrl !== null && { REDIS_URL: stores.redisUrl }),
      TWILIO_ACCOUNT_SID: account.sid,
      TWILIO_AUTH_TOKEN: account.token,
      TWILIO_FROM: PHONE_NUMBER,
      TWILIO_API_BASE: phone.url,
      LOG_LEVEL: 'error',
      CALLS_PER_MINUTE: '0',
      ...variables,
    };
    fleet = new Fleet(folder, stores, phone, environment);
    return fleet;
  }

  /** Migrates the stores by the release in this folder. Throws with what it has said. */
  async migrate(root = ROOT): Promise<void> {
    const args = [path.join(root, 'src/entry/cli.ts'), 'migrate'];
    const env = { ...this.#environment, DATA_DIR: this.#dataDir('migrate') };
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk) => (said += String(chunk)));
    const [status] = (await once(child, 'close')) as [number | null];
    if (status !== 0) throw new Error(`the migrations failed: ${said}`);
  }

  /** Starts one process of the release in this folder; resolves when it is ready. */
  async start(role: Role, root = ROOT): Promise<Member> {
    const [entry, ...args] = ENTRIES[role];
    const port = await findFreePort(0);
    const dataDir = this.#dataDir(`${role}-${this.#members.length}`);
    const child = await startNodeChild({
      entry: path.join(root, entry),
      args,
      env: { ...this.#environment, DATA_DIR: dataDir, PORT: String(port) },
      memory: role === 'pager' ? 'frugal' : 'ample',
      log: path.join(dataDir, 'log'),
    });
    const member = { role, url: `http://127.0.0.1:${port}`, child };
    this.#members.push(member);
    return member;
  }

  /** Returns the running members of a role, the oldest first. */
  of(role: Role): Member[] {
    return this.#members.filter((member) => member.role === role);
  }

  /** Starts or stops processes until there are so many of the role. */
  async scaleTo(role: Role, count: number): Promise<void> {
    while (this.of(role).length < count) await this.start(role);
    for (const member of this.of(role).slice(count)) await this.stop(member);
  }

  /** Asks it to end; returns after how many milliseconds it has. */
  async stop(member: Member): Promise<number> {
    const began = performance.now();
    this.#forget(member);
    await member.child.stop();
    return performance.now() - began;
  }

  /** Kills a member, as a machine that loses power does. */
  async kill(member: Member): Promise<void> {
    this.#forget(member);
    member.child.kill();
    await member.child.exited;
  }

  /** Returns the file in which the first API process described the organization that it created. */
  firstRun(): FirstRun {
    const firstRun = readFirstRun(this.#dataDir('api-0'));
    if (firstRun === null) throw new Error('the stores are not new: name empty ones');
    return firstRun;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#members].map((member) => this.stop(member)));
    await this.phone.close();
    await this.stores.stop();
  }

  #forget(member: Member): void {
    this.#members.splice(this.#members.indexOf(member), 1);
  }

  #dataDir(name: string): string {
    const dataDir = path.join(this.#folder, name);
    mkdirSync(dataDir, { recursive: true });
    return dataDir;
  }
}

/** The DSN, or any address of the product, as it is reached at one of its processes. */
export function at(address: string, { url }: Member): string {
  const moved = new URL(address);
  const { protocol, host } = new URL(url);
  moved.protocol = protocol;
  moved.host = host;
  return moved.toString();
}
