import { randomInt } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';

import type { FastifyInstance } from 'fastify';
import { expect, inject, onTestFinished, vi } from 'vitest';

import { API_KEY_PREFIX, issueApiKey } from '#auth/api_keys.ts';
import { hashSecret, newSecretText } from '#auth/secret_text.ts';
import { type Capability, CAPABILITIES } from '#modules/capabilities/decide/capability.ts';
import { compose, type AppContext } from '#entry/compose.ts';
import { type Config, loadConfig, requireStores } from '#entry/config.ts';
import { buildApp } from '#entry/http/app.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import type { Permission, Role } from '#kernel/permissions.ts';
import { withTimeout } from '#kernel/promises.ts';
import { storesOf } from '#modules/stores.ts';
import { type TestClock, testClock } from '#test/kit/clock.ts';
import { takeDatabases } from '#test/kit/databases.ts';
import { type DrivenQueue, drivenQueue } from '#test/kit/driven_queue.ts';
import { givenService } from '#test/kit/given_rows.ts';
import { COMPOSITIONS, withPostgres } from '#test/kit/templates.ts';
import { closedByFile, type ReusableByFiles, useForFile, useInFiles, useInTurn } from '#test/kit/used_in_turn.ts';

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into bodies of any shape
  readonly body: any;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
}

interface Person {
  readonly userId: Id<'user'>;
  readonly email: string;
  readonly name: string;
  readonly key: string;
}

interface Organization {
  readonly orgId: Id<'org'>;
  /** A key of the organization with all permissions. */
  readonly orgKey: string;
  readonly owner: Person;
}

/** One organization with its own databases, the real HTTP application, and a clock that only the test moves. */
export interface World extends Organization {
  readonly context: AppContext;
  readonly app: FastifyInstance;
  readonly clock: TestClock;
  /** Invokes an action, with the organization's key unless another is named; `key: null` sends none. */
  call(action: string, body?: unknown, options?: { key?: string | null }): Promise<Answer>;
  /** The result of an action that must succeed. */
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into results of any shape
  expectOk(action: string, body?: unknown, options?: { key?: string }): Promise<any>;
  readonly given: {
    organization(name?: string): Promise<Organization>;
    user(options?: { role?: Role; name?: string; orgId?: Id<'org'> }): Promise<Person>;
    apiKey(options?: { permissions?: readonly Permission[]; userId?: Id<'user'>; orgId?: Id<'org'> }): Promise<string>;
    /** A service with the named capabilities enabled; all of them by default. */
    service(options?: {
      name?: string;
      capabilities?: readonly Capability[];
      key?: string;
    }): Promise<{ serviceId: Id<'service'>; ingestionKey: string; dsn: string }>;
  };
  /** The same world as a further organization uses it: its keys, people and services are the defaults. */
  forOrganization(name?: string): Promise<World>;
  /** The response of `/metrics`. */
  metrics(): Promise<string>;
  /** The world cannot be used afterwards. A world of `beforeAll` is closed by `afterAll`, any other by itself. */
  close(): Promise<void>;
}

const METRICS_TOKEN = 'a token that opens the metrics';

const CLOSE_MS_MAX = 30_000;

/**
 * Closes something in time. If it does not close, no test fails, as the test is over: it is reported, with what the
 * database does meanwhile.
 */
async function closeInTime(
  name: string,
  close: () => Promise<unknown>,
  { databaseUrl }: { readonly databaseUrl: string },
): Promise<void> {
  await withTimeout(close(), CLOSE_MS_MAX, async () => {
    const activity = await withPostgres(databaseUrl, async (client) => {
      const { rows } = await client.query(
        'select application_name, state, wait_event, left(query, 200) as query from pg_stat_activity where datname = current_database()',
      );
      return rows;
    });
    console.error(`the ${name} of a world was not closed after ${CLOSE_MS_MAX / 1_000} s`, activity);
  });
}

interface WorldOptions {
  readonly settings?: Partial<Config>;
  /** Read from outside this process too, or shared with another world. */
  readonly clock?: TestClock | undefined;
  /**
   * Runner of the jobs: by default this process holds them until the test runs them; the real queue is for workers that
   * the test starts.
   */
  readonly jobs?: 'driven' | 'real queue';
  /** Whether no test has used the world before: for a test of how a process begins, or one that takes it apart. */
  readonly fresh?: boolean;
  /**
   * Whether no test has used the HTTP application before: for a test of what it remembers of senders, or one that
   * listens.
   */
  readonly newApp?: boolean;
  /** Whether the file closes the world: for `beforeAll`. */
  readonly keepOpen?: boolean;
}

/**
 * Returns a new organization. Tests that want the same settings use one composition of the application in turn, with emptied
 * databases; in `beforeAll` the file has it, and gives it back when it closes the world. Between files the application is
 * made anew, on the same databases and connections, if it remembers callers: an address counts what it does without a key
 * or session, and who was refused. All else that it remembers is of organizations, which are others in each file.
 */
export async function world(options: WorldOptions = {}): Promise<World> {
  const { settings = {}, clock, jobs = 'driven', fresh = false, newApp = false, keepOpen = false } = options;
  const make = (): Promise<Composition> => composeWorld({ settings, clock, jobs });
  // Other files have other settings, mostly.
  const hasSettings = Object.keys(settings).length > 0;
  const key = `world ${JSON.stringify(settings)}`;
  if (fresh || jobs !== 'driven' || clock !== undefined || (keepOpen && hasSettings)) {
    const composition = await make();
    if (!keepOpen) onTestFinished(composition.close);
    return await openWorld(composition);
  }
  if (keepOpen) {
    const { item, giveBack } = await useForFile(key, make);
    return { ...(await openWorld(item)), close: giveBack };
  }
  const use = hasSettings ? useInTurn : useInFiles;
  const composition = await use(key, make);
  if (newApp) await composition.reopen();
  return await openWorld(composition);
}

/** Returns the world of all tests of a file, which awaits it at its top level. */
export const fileWorld = (options: Omit<WorldOptions, 'keepOpen'> = {}): Promise<World> =>
  closedByFile(world({ ...options, keepOpen: true }));

/** Answers to callers whom the application may refuse for longer. */
const REFUSED: ReadonlySet<number> = new Set([401, 429]);

/** File in the folder of the run, with a byte for each composition. */
function noteComposition(): void {
  appendFileSync(path.join(inject('releasedDatabases'), `../${COMPOSITIONS}`), '.');
}

/** The application on databases of its own. */
export interface Composition extends ReusableByFiles {
  readonly context: AppContext;
  /** Another one in each file of tests. */
  readonly app: FastifyInstance;
  readonly clock: TestClock;
  /** Null with the real queue. */
  readonly queue: DrivenQueue | null;
  /** Makes the application anew, unless no test has used it. */
  reopen(): Promise<void>;
}

export async function composeWorld({
  settings,
  clock = testClock(),
  jobs = 'driven',
}: Pick<WorldOptions, 'settings' | 'clock' | 'jobs'>): Promise<Composition> {
  const databases = await takeDatabases();
  const dataDir = mkdtempSync(path.join(inject('releasedDatabases'), '../world-'));
  noteComposition();
  const config = requireStores({
    ...loadConfig({ DATA_DIR: dataDir, BASE_URL: 'http://tocsin.test' }),
    databaseUrl: databases.databaseUrl,
    clickhouseUrl: databases.clickhouseUrl,
    clickhouseCluster: inject('clickhouseCluster') ?? undefined,
    appSecret: 'a secret that is long enough for tests',
    metricsToken: METRICS_TOKEN,
    // Doubles of push services and of apps live on this machine.
    allowInternalAddresses: 'true',
    ...settings,
  });
  const queue = jobs === 'driven' ? drivenQueue(clock) : null;
  const context = await compose(config, { log: silentLog, clock, ...(queue && { jobQueue: queue }) });
  // Pretends that it was installed just now: the databases that all tests copy are older.
  const install = () => context.db.sql.run('update leases set done_at = $1', [clock.now().toString()]);
  await install();
  let isClosed = false;
  let isNew = true;
  let remembersCallers = false;
  const openApp = async (): Promise<FastifyInstance> => {
    const opened = await buildApp(context);
    opened.addHook('onClose', async () => void (isClosed = true));
    opened.addHook('onResponse', async ({ headers: { authorization, cookie } }, { statusCode }) => {
      remembersCallers ||= (authorization ?? cookie) === undefined || REFUSED.has(statusCode);
    });
    await opened.ready();
    isClosed = false;
    // Its timers are what the test has made of them.
    remembersCallers = vi.isFakeTimers();
    return opened;
  };
  let app = await openApp();
  const closeApp = () => closeInTime('API', () => app.close(), databases);
  return {
    context,
    get app() {
      return app;
    },
    clock,
    queue,
    async renew() {
      isNew = false;
      await context.outbox.settled();
      queue?.clear();
      if (!(await databases.empty())) return false;
      clock.restart();
      await install();
      if (!isClosed && vi.isFakeTimers()) await closeApp();
      if (isClosed) app = await openApp();
      return true;
    },
    async reopen() {
      if (isNew) return;
      await closeApp();
      app = await openApp();
    },
    async rest() {
      if (remembersCallers || app.server.listening) await closeApp();
    },
    async close() {
      await closeApp();
      await closeInTime('context', () => context.close(), databases);
      await databases.release();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export async function openWorld({ context, app, clock, close }: Composition): Promise<World> {
  const metrics = async (): Promise<string> => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    return (await app.inject({ method: 'GET', url: '/metrics', headers })).body;
  };
  const forOrganization = async (name?: string): Promise<World> => {
    const home = await createOrganization(context, name);
    const { call, expectOk } = callsOf(app, home.orgKey);
    const given = givenBy(context, home);
    return { ...home, context, app, clock, call, expectOk, given, forOrganization, metrics, close };
  };
  return await forOrganization();
}

/**
 * Returns the world as an HTTP application of other settings serves it, a fifth of the work of composing another; what
 * `compose` makes of settings is as it was. Closed with the test.
 */
export async function withSettings(w: World, settings: Partial<Config>): Promise<World> {
  const context = { ...w.context, config: requireStores({ ...w.context.config, ...settings }) };
  const app = await buildApp(context);
  onTestFinished(() => app.close());
  await app.ready();
  return { ...w, context, app, ...callsOf(app, w.orgKey) };
}

/** Calls of actions with this key, unless another is named. */
function callsOf(app: FastifyInstance, orgKey: string): Pick<World, 'call' | 'expectOk'> {
  const call: World['call'] = async (action, body = {}, { key = orgKey } = {}) => {
    const response = await app.inject({
      method: 'POST',
      url: `/api/rest/actions/${action}`,
      headers: { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
      payload: JSON.stringify(body),
    });
    return { status: response.statusCode, body: response.json(), headers: response.headers };
  };
  const expectOk: World['expectOk'] = async (action, body, callOptions) => {
    const answer = await call(action, body, callOptions);
    expect(answer, `${action} ${JSON.stringify(body)} answered ${JSON.stringify(answer.body)}`).toMatchObject({
      status: 200,
    });
    return answer.body.result;
  };
  return { call, expectOk };
}

function givenBy(context: AppContext, home: Organization): World['given'] {
  return {
    organization: (name) => createOrganization(context, name),
    user: ({ role = 'responder', name = 'Anna', orgId = home.orgId } = {}) =>
      createPerson(context, { orgId, role, name }),
    async apiKey({ permissions, userId, orgId = home.orgId } = {}) {
      return await context.db.transaction(async (session) => {
        const wanted = { orgId, userId: userId ?? null, name: 'test', permissions: permissions ?? null };
        return (await issueApiKey(storesOf(session), wanted, context.clock.now())).key;
      });
    },
    async service({ name = 'checkout', capabilities = CAPABILITIES, key = home.orgKey } = {}) {
      const orgId = key === home.orgKey ? home.orgId : await organizationOf(context, key);
      return await givenService(context, { orgId, name, capabilities });
    },
  };
}

async function organizationOf({ db }: AppContext, key: string): Promise<Id<'org'>> {
  const found = await db.sql.row<{ orgId: Id<'org'> }>('select org_id as "orgId" from api_keys where hash = $1', [
    hashSecret(key),
  ]);
  return found!.orgId;
}

/** A key with all permissions of its owner, and the values of its row: id, hash, hint. */
function newKey(): { readonly key: string; readonly values: readonly unknown[] } {
  const key = newSecretText(API_KEY_PREFIX);
  return { key, values: [newId('apikey'), hashSecret(key), `${key.slice(0, API_KEY_PREFIX.length + 5)}…`] };
}

/** Leaves the rows that the stores leave, by one statement: every test makes organizations and people. */
async function createPerson(
  { clock, db }: AppContext,
  { orgId, role, name }: { readonly orgId: Id<'org'>; readonly role: Role; readonly name: string },
  before: { readonly statements: string; readonly values: readonly unknown[] } = { statements: '', values: [] },
): Promise<Person> {
  // In digits, which hold no name: hexadecimal ones now and then say "bea" or "ada", and a search finds them.
  const email = `${name.toLowerCase()}.${String(randomInt(10 ** 8)).padStart(8, '0')}@example.com`;
  const person = { userId: newId('user'), email, name };
  const { key, values } = newKey();
  await db.sql.run(
    `with ${before.statements} person as (
       insert into users (id, email, name, address_proven_at, created_at, updated_at) values ($3, $4, $5, $1, $1, $1)
     ), membership as (
       insert into memberships (org_id, user_id, role, created_at) values ($2, $3, $6, $1)
     )
     insert into api_keys (org_id, user_id, name, id, hash, hint, created_at) values ($2, $3, 'test', $7, $8, $9, $1)`,
    [clock.now().toString(), orgId, person.userId, email, name, role, ...values, ...before.values],
  );
  return { ...person, key };
}

async function createOrganization(context: AppContext, name = 'Acme'): Promise<Organization> {
  const orgId = newId('org');
  const { key: orgKey, values } = newKey();
  const organization = {
    statements: `organization as (
       insert into organizations (id, name, created_at) values ($2, $10, $1)
     ), key as (
       insert into api_keys (org_id, name, id, hash, hint, created_at) values ($2, 'all', $11, $12, $13, $1)
     ),`,
    values: [name, ...values],
  };
  const owner = await createPerson(context, { orgId, role: 'owner', name: 'Olga' }, organization);
  return { orgId, orgKey, owner };
}
