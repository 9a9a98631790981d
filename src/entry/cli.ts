import { spawn } from 'node:child_process';
import path from 'node:path';

import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';

import { createReset } from '#actions/account/password_reset.ts';
import { createCalendarFeed, revokeCalendarFeed } from '#actions/schedules/calendar_feed.ts';
import { issueApiKey } from '#auth/api_keys.ts';
import { createCipher } from '#auth/cipher.ts';
import { passwordFault } from '#auth/password_rules.ts';
import { hashPassword } from '#auth/passwords.ts';
import { requireStores, type RunningConfig } from '#entry/compose.ts';
import { migrate } from '#entry/migrate.ts';
import { runningConfig } from '#entry/running_config.ts';
import type { Caller, RequestOrigin } from '#kernel/caller.ts';
import { ConfigError, loadConfig } from '#kernel/config.ts';
import { AppError, messageOf } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import { isPermission, isRole, type Permission, PERMISSIONS, type Role, ROLES } from '#kernel/permissions.ts';
import { systemClock, type Temporal } from '#kernel/time.ts';
import { openDatabase } from '#storage/postgres/database.ts';
import { ENTITIES, type Stores, storesOf } from '#storage/postgres/stores.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** A wrong call ends with this status, and a sentence that says what is wrong. */
const WRONG_CALL = 2;

const program = new Command('tocsin')
  .description('Monitoring, exception tracking and on-call that a team runs itself.')
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'tocsin: ')) })
  .showHelpAfterError('(add --help for how to call it)')
  .exitOverride();

program
  .command('start')
  .description('start everything on this machine: stores that are not configured, API and a worker')
  .action(() => runInstead('infra/embedded/start.ts'));

program
  .command('api')
  .description('run one API process on configured stores')
  .action(() => runInstead('src/entry/api.ts'));

program
  .command('worker')
  .description('run one worker process on configured stores')
  .action(() => runInstead('workers/main.ts'));

program
  .command('migrate')
  .description('bring every store to the newest schema')
  .action(async () => {
    await migrate(requireStores(await runningConfig(loadConfig())));
  });

const org = program.command('org').description('organizations');
org
  .command('create')
  .description('create an organization')
  .requiredOption('--name <name>', 'its name', notBlank)
  .option('--json', 'print JSON: organizationId')
  .action(async ({ name, json }: { name: string; json?: true }) => {
    const organization = await inStores((stores, now) => stores.people.insertOrganization(name, now));
    print(json, { organizationId: organization.id }, `Created the organization ${organization.id}.`);
  });

const user = program.command('user').description('people');
user
  .command('create')
  .description('create a user and make it a member of an organization; a user that exists is only made a member')
  .requiredOption('--email <email>', 'mail address, the name to sign in with', mailAddress)
  .requiredOption('--name <name>', 'name as others see it', notBlank)
  .requiredOption('--password <password>', 'at least 12 characters, and none of the commonest')
  .requiredOption('--org <id>', 'organization to belong to')
  .addOption(new Option('--role <role>', 'what the user may do there').choices(ROLES).makeOptionMandatory())
  .option('--json', 'print JSON: userId, organizationId')
  .action(
    async (options: { email: string; name: string; password: string; org: string; role: string; json?: true }) => {
      if (!isRole(options.role)) throw new InvalidArgumentError('unknown role');
      const userId = await createUser({ ...options, role: options.role });
      print(options.json, { userId, organizationId: options.org }, `Created the user ${userId} as ${options.role}.`);
    },
  );

user
  .command('password')
  .description('print a link by which a user sets a new password, once, within an hour')
  .requiredOption('--email <email>', 'mail address of the user', mailAddress)
  .option('--json', 'print JSON: userId, link')
  .action(async ({ email, json }: { email: string; json?: true }) => {
    const made = await inStores(async (stores, now, { baseUrl }) => {
      const found = await stores.people.findUserByEmail(email);
      if (found === null) throw new AppError('not_found', `there is no user ${email}`);
      const by = { actor: { kind: 'system' }, via: 'cli', origin: commandLine() } as const;
      const { link } = await createReset({ stores, now }, found.id, baseUrl, by);
      return { userId: found.id, link };
    });
    print(json, made, made.link);
  });

const key = program.command('key').description('API keys');
key
  .command('create')
  .description('create an API key of an organization, or of a user within it; the key is shown once')
  .requiredOption('--org <id>', 'organization the key acts in')
  .option('--user <email>', 'user (mail address or id) whose role the key has; a key of the organization when left out')
  .option('--permissions <list>', `all, or some of ${PERMISSIONS.join(',')}`, permissionList, null)
  .requiredOption('--name <name>', 'what it is for', notBlank)
  .option('--json', 'print JSON: keyId, key')
  .action(
    async (options: { org: string; user?: string; permissions: Permission[] | null; name: string; json?: true }) => {
      const issued = await createKey(options);
      print(options.json, issued, `Created the key ${issued.keyId}. It is shown this once:\n${issued.key}`);
    },
  );
key
  .command('revoke')
  .description('revoke an API key; it is refused from the next request on')
  .argument('<keyId>', 'as printed when it was created')
  .option('--json', 'print JSON: keyId, revoked')
  .action(async (keyId: string, { json }: { json?: true }) => {
    const revoked = await inStores((stores, now) => stores.apiKeys.revoke(keyId, now));
    if (!revoked) throw new AppError('not_found', `no key ${keyId} that is not revoked already`);
    print(json, { keyId, revoked }, `Revoked the key ${keyId}.`);
  });

const calendar = program.command('calendar').description('schedules as calendars, for calendar programs');
calendar
  .command('create')
  .description(
    'print the secret address of a schedule, a new one if it has none; whoever knows it can read the schedule',
  )
  .requiredOption('--schedule <id>', 'the schedule')
  .option('--json', 'print JSON: scheduleId, url, createdAt')
  .action(async ({ schedule, json }: { schedule: string; json?: true }) => {
    const feed = await inStores(async (stores, now, { appSecret, baseUrl }) => {
      const settings = { cipher: createCipher(appSecret, 'calendar-feeds'), baseUrl };
      const caller = await operatorOf(stores, schedule);
      return await createCalendarFeed({ stores, now }, caller, schedule, settings, commandLine());
    });
    print(json, feed, feed.url);
  });
calendar
  .command('revoke')
  .description('revoke the secret address of a schedule; it is worthless from the next request on')
  .requiredOption('--schedule <id>', 'the schedule')
  .option('--json', 'print JSON: scheduleId, revoked')
  .action(async ({ schedule, json }: { schedule: string; json?: true }) => {
    const revoked = await inStores(async (stores, now) => {
      return await revokeCalendarFeed({ stores, now }, await operatorOf(stores, schedule), schedule, commandLine());
    });
    print(json, revoked, `Revoked the calendar address of ${schedule}.`);
  });

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_CALL;
  process.stderr.write(`tocsin: ${messageOf(error)}\n`);
  return error instanceof AppError || error instanceof ConfigError ? WRONG_CALL : 1;
}

/** Runs another program of the product in place of this one; signals reach it, and its status becomes ours. */
async function runInstead(entry: string): Promise<void> {
  const child = spawn(process.execPath, [path.join(ROOT, entry)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  process.exitCode = await new Promise<number>((resolve) => {
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

async function inStores<Result>(
  work: (stores: Stores, now: Temporal.Instant, config: RunningConfig) => Promise<Result>,
): Promise<Result> {
  const config = requireStores(await runningConfig(loadConfig()));
  const db = await openDatabase({ url: config.databaseUrl, entities: ENTITIES, poolMax: 1 });
  try {
    return await db.transaction((session) => work(storesOf(session), systemClock.now(), config));
  } finally {
    await db.close();
  }
}

/** Whoever may run commands on this installation, in the organization of the schedule. */
async function operatorOf(stores: Stores, scheduleId: string): Promise<Caller> {
  const orgId = await stores.schedules.findOrganization(scheduleId);
  if (orgId === null) throw new AppError('not_found', `there is no schedule ${scheduleId}`);
  return { orgId, actor: { kind: 'system' }, via: 'cli', permissions: new Set(PERMISSIONS) };
}

function commandLine(): RequestOrigin {
  return { requestId: newId('req'), address: null };
}

async function createUser(wanted: { email: string; name: string; password: string; org: string; role: Role }) {
  const fault = await passwordFault(wanted.password, wanted);
  if (fault !== null) throw new AppError('invalid_input', `the password ${fault}`);
  const passwordHash = await hashPassword(wanted.password);
  return await inStores(async (stores, now) => {
    const orgId = await existingOrganization(stores, wanted.org);
    const existing = await stores.people.findUserByEmail(wanted.email);
    const { id } =
      existing ?? (await stores.people.insertUser({ email: wanted.email, name: wanted.name, passwordHash }, now));
    await stores.people.setMembership(orgId, id, wanted.role, now);
    return id;
  });
}

async function createKey(wanted: { org: string; user?: string; permissions: Permission[] | null; name: string }) {
  return await inStores(async (stores, now) => {
    const orgId = await existingOrganization(stores, wanted.org);
    const userId = wanted.user === undefined ? null : await memberOf(stores, orgId, wanted.user);
    return await issueApiKey(stores, { orgId, userId, name: wanted.name, permissions: wanted.permissions }, now);
  });
}

/** The user of the organization with this mail address or id. */
async function memberOf(stores: Stores, orgId: Id<'org'>, emailOrId: string): Promise<Id<'user'>> {
  const user = emailOrId.includes('@')
    ? await stores.people.findUserByEmail(emailOrId)
    : { id: asId('user', emailOrId) };
  if (user === null || (await stores.people.findRole(orgId, user.id)) === null) {
    throw new AppError('not_found', `the organization ${orgId} has no user ${emailOrId}`);
  }
  return user.id;
}

async function existingOrganization(stores: Stores, id: string) {
  const organization = await stores.people.findOrganization(asId('org', id));
  if (organization === null) throw new AppError('not_found', `there is no organization ${id}`);
  return organization.id;
}

function print(isJson: true | undefined, values: object, sentence: string): void {
  process.stdout.write(isJson ? `${JSON.stringify(values)}\n` : `${sentence}\n`);
}

function notBlank(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be blank.');
  return text;
}

function mailAddress(text: string): string {
  if (!/^\S+@\S+$/.test(text)) throw new InvalidArgumentError('It must be a mail address.');
  return text;
}

function permissionList(text: string): Permission[] | null {
  if (text === 'all') return null;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !isPermission(name));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`Unknown: ${unknown.join(', ')}. Known are ${PERMISSIONS.join(', ')}.`);
  return names.filter(isPermission);
}
