import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { addApiKey } from '#modules/api_keys/operations/api_keys.ts';
import { addMember, createOrganization } from '#modules/organizations/operations/add_member.ts';
import { hashPassword, newPassword } from '#auth/passwords.ts';
import type { AppContext } from '#entry/compose.ts';
import { newId } from '#kernel/ids.ts';
import type { AuditedBy } from '#modules/audit/store/audit_store.ts';
import { storesOf } from '#modules/stores.ts';

/** Content of the file `first-run.json` in the data folder. */
export interface FirstRun {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
}

const EMAIL = 'owner@localhost';

/**
 * Forgets, once a Twilio account is set up, the numbers that people confirmed at the phone simulator: whoever saw its page
 * could confirm any number, and no message has reached a phone.
 */
export async function forgetSimulatedNumbers({
  actions,
  config,
  db,
  log,
}: Pick<AppContext, 'actions' | 'config' | 'db' | 'log'>): Promise<void> {
  const { phoneProvider, simulatedIds } = actions.installation;
  if (config.twilioAccountSid === undefined || phoneProvider === 'simulator') return;
  const numbers = await storesOf(db.session()).phoneNumbers.forgetConfirmedBy(simulatedIds);
  if (numbers === 0) return;
  log.warn(
    { numbers },
    'numbers were confirmed at the phone simulator only, and their owners have to confirm them again',
  );
}

/**
 * Creates an organization and its owner on the very first run, with the owner from the settings if they name one.
 * Otherwise the owner gets a generated password, and the organization a key with all permissions: both are written to a
 * file that only its owner can read, before the commit, so that they cannot be lost. Returns null on every later run,
 * and when the settings name the owner.
 */
export async function ensureFirstRun(context: Pick<AppContext, 'db' | 'clock' | 'config'>): Promise<FirstRun | null> {
  const { db, clock, config } = context;
  if (await storesOf(db.session()).people.hasAnyOrganization()) return null;
  const { firstOwnerEmail, firstOwnerPassword } = config;
  const isNamed = firstOwnerEmail !== undefined && firstOwnerPassword !== undefined;
  const email = isNamed ? firstOwnerEmail : EMAIL;
  const password = isNamed ? firstOwnerPassword : newPassword();
  const passwordHash = await hashPassword(password);
  const now = clock.now();
  return await db.transaction(async (session) => {
    const stores = storesOf(session);
    await session.sql.run('lock table organizations in exclusive mode');
    if (await stores.people.hasAnyOrganization()) return null;
    const unit = { stores, now };
    const by: AuditedBy = {
      actor: { kind: 'system' },
      via: 'system',
      origin: { requestId: newId('req'), address: null },
    };
    const orgId = await createOrganization(unit, config.firstOrganization, by);
    const userId = await addMember(unit, orgId, { email, name: 'Owner', passwordHash }, 'owner', by);
    if (isNamed) return null;
    const wanted = {
      orgId,
      userId: null,
      name: 'Made at the first start, in first-run.json',
      permissions: null,
      expiresAt: null,
    };
    const { secret } = await addApiKey(unit, wanted, by);
    const firstRun: FirstRun = {
      baseUrl: config.baseUrl,
      organizationId: orgId,
      userId,
      email,
      password,
      apiKey: secret,
    };
    writeForOwnerOnly(path.join(config.dataDir, 'first-run.json'), firstRun);
    return firstRun;
  });
}

/** Warns that no organization exists, in a process that may not create an owner. */
export async function warnOfNoOrganization({ db, log }: Pick<AppContext, 'db' | 'log'>): Promise<void> {
  if (await storesOf(db.session()).people.hasAnyOrganization()) return;
  log.warn({}, 'nobody can sign in yet: set FIRST_OWNER_EMAIL and FIRST_OWNER_PASSWORD and run "tocsin migrate" again');
}

function writeForOwnerOnly(file: string, content: object): void {
  mkdirSync(path.dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
}
