import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import type { Config } from '#entry/config.ts';
import type { FirstRun } from '#entry/first_run.ts';
import { claimMigrated, readSchemaFault } from '#entry/migrated_by.ts';
import { findPreparedStore, type PreparedStore } from '#infra/embedded/prepared/prepared_stores.ts';
import { ConfigError } from '#kernel/config.ts';
import { inboundSmsUrl } from '#notify/twilio/client.ts';
import { simulatedAccountSid, simulatorTokenOf } from '#notify/twilio/simulated_account.ts';
import { engineEnvironment } from './engine_environment.ts';
import { findFreePort } from './free_port.ts';
import { firstRunFile, readFirstRun, removeRunningFile, writeRunningFile } from './installation_files.ts';
import { type Program, runNodeProgram } from './node_child.ts';
import {
  type AddressedService,
  clickhouseService,
  postgresService,
  programOnDemand,
  programService,
} from './services.ts';
import { openStartingPage, type StartingPage } from './starting_page.ts';
import { BACK_OFF, type BackOff, type Service, type ServiceEvent, supervise, type Supervised } from './supervisor.ts';

type EntryWithArguments = readonly [entry: string, ...args: string[]];

/** The programs of an installation, besides the engines. */
export interface Programs {
  readonly phone: string;
  readonly migrate: EntryWithArguments;
  readonly api: string;
  readonly worker: EntryWithArguments;
  readonly pager: EntryWithArguments;
}

const root = path.resolve(import.meta.dirname, '../..');

export const PROGRAMS: Programs = {
  phone: createRequire(import.meta.url).resolve('@tocsin/phone-simulator/main'),
  migrate: [path.join(root, 'src/entry/migrate_program.ts')],
  api: path.join(root, 'src/entry/api.ts'),
  worker: [path.join(root, 'workers/main.ts'), 'worker'],
  pager: [path.join(root, 'workers/main.ts'), 'pager'],
};

/** Addresses of the parts of the installation, for people. */
export interface Facts {
  readonly apiUrl: string;
  readonly dataDir: string;
  readonly postgres: 'embedded' | 'server';
  readonly clickhouse: 'embedded' | 'server';
  readonly queue: 'Redis' | 'PostgreSQL';
  /** Null when a real Twilio account is configured. */
  readonly phoneUrl: string | null;
  /** The file that says how to sign in; null when there is none. */
  readonly firstRunFile: string | null;
  /** Organization and owner that this start created, if it was the first; shown once. */
  readonly firstRun: FirstRun | null;
}

export type Progress = ServiceEvent | { readonly kind: 'migrated'; readonly tookMs: number };

/** Time after the call to `stop` at which programs that still run are killed, and then engines. */
const PROGRAMS_KILLED_AFTER_MS = 3_000;
const ENGINES_KILLED_AFTER_MS = 4_000;
/** Senders and people wait for the API, pages for the pager. A worker can do with half a share of a busy processor. */
const WORKER_NICENESS = 3;
/** Ingestion is refused when less is free on the disk: the rest is for the database. */
const DISK_MEGABYTES_MIN = '128';
/** Twilio's own number for tests; it belongs to nobody. */
const PHONE_NUMBER = '+15005550006';

type Variables = Readonly<Record<string, string>>;

/**
 * Everything one machine runs: the engines that are not configured as servers and the phone simulator first, then
 * the migrations, then the API, a worker and a pager. Stops in reverse.
 */
export class Installation {
  readonly #config: Config;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #report: (progress: Progress) => void;
  readonly #programs: Programs;
  readonly #isDurable: boolean;
  readonly #usesPrepared: boolean;
  readonly #backOff: BackOff;
  readonly #dataDir: string;
  readonly #stopping = new AbortController();
  readonly #stages: Supervised[][] = [];
  #startingPage: StartingPage | null = null;

  /** `isDurable: false` is for tests, see PostgresOptions; so are another `backOff` and `usesPrepared: false`. */
  constructor(
    config: Config,
    environment: NodeJS.ProcessEnv,
    report: (progress: Progress) => void,
    {
      programs = PROGRAMS,
      isDurable = true,
      usesPrepared = true,
      backOff = BACK_OFF,
    }: { programs?: Programs; isDurable?: boolean; usesPrepared?: boolean; backOff?: BackOff } = {},
  ) {
    this.#config = config;
    this.#report = report;
    this.#programs = programs;
    this.#isDurable = isDurable;
    this.#usesPrepared = usesPrepared;
    this.#backOff = backOff;
    this.#dataDir = path.resolve(config.dataDir);
    this.#environment = { NODE_COMPILE_CACHE: path.join(this.#dataDir, 'cache'), ...environment };
  }

  /** Rejects when a first start or the migrations fail, or when `stop` is called meanwhile. Call `stop` after a failure. */
  async start(): Promise<Facts> {
    const { databaseUrl, clickhouseUrl, twilioAccountSid } = this.#config;
    const isFirst = readFirstRun(this.#dataDir) === null;
    this.#startingPage = await openStartingPage(this.#config);
    const appSecret = this.#config.appSecret ?? readOrCreateAppSecret(path.join(this.#dataDir, 'app-secret'));
    const account = twilioAccountSid === undefined ? simulatedAccount(appSecret) : null;
    const prepared = (store: PreparedStore) => (this.#usesPrepared ? findPreparedStore(store) : null);
    const postgres =
      databaseUrl === undefined
        ? postgresService(this.#dataDir, { durable: this.#isDurable, prepared: prepared('postgres') })
        : null;
    const clickhouse = clickhouseUrl === undefined ? clickhouseService(this.#dataDir, prepared('clickhouse')) : null;
    const phoneToken = simulatorTokenOf(appSecret);
    const phone = account && (await this.#phoneService(account, phoneToken));
    await this.#startStage([postgres, clickhouse, phone]);

    const variables: Variables = {
      DATA_DIR: this.#dataDir,
      PORT: String(this.#config.port),
      APP_SECRET: appSecret,
      DATABASE_URL: databaseUrl ?? urlOf(postgres),
      // It has been read; the address may have been completed since.
      DATABASE_URL_FILE: '',
      CLICKHOUSE_URL: clickhouseUrl ?? urlOf(clickhouse),
      ...(postgres && { INGEST_DISK_MEGABYTES: this.#environment['INGEST_DISK_MEGABYTES'] || DISK_MEGABYTES_MIN }),
      ...account,
      ...(phone && { TWILIO_API_BASE: phone.url }),
    };
    const after = this.#migrate(variables);
    const api = programService('API', {
      ...this.#program([this.#programs.api], variables),
      after,
      freePort: async () => await this.#startingPage?.close(),
    });
    const worker = programService('Worker', {
      ...this.#program(this.#programs.worker, { ...variables, METRICS_PORT: this.#metricsPort(1) }),
      niceness: WORKER_NICENESS,
      after,
    });
    // It does little and needs little memory, but keeps its full share of a busy processor.
    const pager = programService('Pager', {
      ...this.#program(this.#programs.pager, { ...variables, METRICS_PORT: this.#metricsPort(2) }),
      memory: 'frugal',
      after,
    });
    // They load while the stores are migrated, which uses one processor only.
    await Promise.all([after, this.#startStage([api, worker, pager])]);

    writeRunningFile(this.#dataDir, {
      databaseUrl: databaseUrl ?? urlOf(postgres),
      clickhouseUrl: clickhouseUrl ?? urlOf(clickhouse),
      appSecret,
      baseUrl: this.#config.baseUrl,
      phoneUrl: phone && `${phone.url}/${phoneToken}`,
    });
    const firstRun = readFirstRun(this.#dataDir);
    return {
      apiUrl: api.url,
      dataDir: this.#dataDir,
      postgres: postgres ? 'embedded' : 'server',
      clickhouse: clickhouse ? 'embedded' : 'server',
      queue: this.#config.redisUrl === undefined ? 'PostgreSQL' : 'Redis',
      phoneUrl: phone && `${phone.url}/${phoneToken}`,
      firstRunFile: firstRun && firstRunFile(this.#dataDir),
      firstRun: isFirst ? firstRun : null,
    };
  }

  /** Idempotent. `isUrgent` kills everything at once instead of asking first. */
  async stop({ isUrgent = false } = {}): Promise<void> {
    this.#stopping.abort();
    removeRunningFile(this.#dataDir);
    await this.#startingPage?.close();
    const began = performance.now();
    for (const [index, stage] of [...this.#stages.entries()].reverse()) {
      const deadlineMs = index === 0 ? ENGINES_KILLED_AFTER_MS : PROGRAMS_KILLED_AFTER_MS;
      const killAfterMs = isUrgent ? 0 : Math.max(0, deadlineMs - (performance.now() - began));
      await Promise.all(stage.map((service) => service.stop(killAfterMs)));
    }
  }

  async #startStage(services: readonly (Service | null)[]): Promise<void> {
    this.#stopping.signal.throwIfAborted();
    const stage = services
      .filter((service) => service !== null)
      .map((service) => supervise(service, this.#report, this.#backOff));
    this.#stages.push(stage);
    await Promise.all(
      stage.map(async ({ name, ready }) => {
        await ready.catch((cause: unknown) => {
          throw new Error(`${name} did not start`, { cause });
        });
      }),
    );
  }

  async #migrate(variables: Variables): Promise<void> {
    const began = performance.now();
    const {
      DATABASE_URL: databaseUrl = '',
      CLICKHOUSE_URL: clickhouseUrl = '',
      APP_SECRET: appSecret = '',
    } = variables;
    if (await claimMigrated({ databaseUrl, clickhouseUrl, appSecret, redisUrl: this.#config.redisUrl })) return;
    const fault = await readSchemaFault(databaseUrl);
    if (fault !== null) throw new ConfigError([fault]);
    try {
      await runNodeProgram(this.#program(this.#programs.migrate, variables), this.#stopping.signal);
    } catch (error) {
      throw new Error('the migrations failed', { cause: error });
    }
    this.#report({ kind: 'migrated', tookMs: Math.round(performance.now() - began) });
  }

  /**
   * Opens the phone simulator on the port after the API's if it is free, so that the address of its page stays the
   * same. It runs from the first connection on: most installations page nobody in their first minutes.
   */
  async #phoneService(account: Variables, token: string): Promise<AddressedService> {
    const { baseUrl, host, port } = this.#config;
    const phonePort = this.#environment['PHONE_PORT'] ?? String(await findFreePort(port + 1));
    const variables = {
      PHONE_PORT: 'none',
      PHONE_ACCOUNT_SID: account['TWILIO_ACCOUNT_SID'] ?? '',
      PHONE_AUTH_TOKEN: account['TWILIO_AUTH_TOKEN'] ?? '',
      PHONE_NUMBER,
      PHONE_TOKEN: token,
      PHONE_SMS_URL: inboundSmsUrl(baseUrl),
      PHONE_CALLBACK_ORIGIN: `http://${addressToReach(host)}:${port}`,
    };
    const env = { ...engineEnvironment(this.#environment, { prefix: 'PHONE_' }), ...variables };
    const program = this.#program([this.#programs.phone], variables);
    return programOnDemand('Phone simulator', { ...program, env, memory: 'frugal' }, Number(phonePort));
  }

  /** The API has METRICS_PORT, and the processes beside it the ports that follow. */
  #metricsPort(after: number): string {
    const { metricsPort } = this.#config;
    return String(metricsPort === 0 ? 0 : metricsPort + after);
  }

  #program([entry, ...args]: EntryWithArguments, variables: Variables): Program {
    return { entry, args, env: { ...this.#environment, ...variables }, memory: 'ample', usesPacked: true };
  }
}

/** The account that the phone simulator and the product share; the same at every start. */
function simulatedAccount(appSecret: string): Variables {
  return {
    TWILIO_ACCOUNT_SID: simulatedAccountSid(appSecret),
    TWILIO_AUTH_TOKEN: deriveSecret(appSecret, 'token of the simulated account').slice(0, 32),
    TWILIO_FROM: PHONE_NUMBER,
  };
}

/** The address under which a program on this machine reaches one that listens there. */
function addressToReach(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function urlOf(service: AddressedService | null): string {
  if (!service) throw new Error('neither configured nor embedded');
  return service.url;
}

/** Creates the data folder. The user that runs PostgreSQL instead of root must be able to enter it. */
export function makeDataFolder(dataDir: string): string {
  const folder = path.resolve(dataDir);
  mkdirSync(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  return folder;
}

/** The minimum for `APP_SECRET`. */
const CHARACTERS_MIN = 32;

/**
 * The secret of this installation, generated on first use. Without it stored ingestion keys cannot be read, so a damaged
 * file is an error and is never replaced.
 */
export function readOrCreateAppSecret(file: string): string {
  const stored = read(file);
  if (stored === null) return create(file);
  if (stored.length < CHARACTERS_MIN)
    throw new Error(`${file} is damaged: put it back from a backup, or set APP_SECRET`);
  return stored;
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function create(file: string): string {
  const secret = randomBytes(32).toString('hex');
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flush: true });
  renameSync(draft, file);
  return secret;
}

/** A secret derived from this one, as hexadecimal digits; the same at every start. */
export function deriveSecret(appSecret: string, purpose: string): string {
  return createHmac('sha256', appSecret).update(purpose).digest('hex');
}
