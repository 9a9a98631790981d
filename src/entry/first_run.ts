import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { issueApiKey } from '#auth/api_keys.ts';
import { hashPassword, newPassword } from '#auth/passwords.ts';
import type { House } from '#entry/compose.ts';
import { storesOf } from '#storage/postgres/stores.ts';

/** What the file `first-run.json` in the data folder says. */
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
 * On the very first run: an organization, its owner with a generated password, and a key of the organization with
 * all permissions. They are written to a file that only its owner can read, before they are committed, so that they
 * cannot be lost. Null on every later run.
 */
export async function ensureFirstRun({ db, clock, config }: House): Promise<FirstRun | null> {
  if (await storesOf(db.session()).people.hasAnyOrganization()) return null;
  const password = newPassword();
  const passwordHash = await hashPassword(password);
  const now = clock.now();
  return await db.transaction(async (session) => {
    const stores = storesOf(session);
    await session.sql.run('lock table organizations in exclusive mode');
    if (await stores.people.hasAnyOrganization()) return null;
    const organization = await stores.people.insertOrganization('My organization', now);
    const owner = await stores.people.insertUser({ email: EMAIL, name: 'Owner', passwordHash }, now);
    await stores.people.setMembership(organization.id, owner.id, 'owner', now);
    const wanted = { orgId: organization.id, userId: null, name: 'First key', permissions: null };
    const { key } = await issueApiKey(stores, wanted, now);
    const firstRun: FirstRun = {
      baseUrl: config.baseUrl,
      organizationId: organization.id,
      userId: owner.id,
      email: EMAIL,
      password,
      apiKey: key,
    };
    writeForOwnerOnly(path.join(config.dataDir, 'first-run.json'), firstRun);
    return firstRun;
  });
}

function writeForOwnerOnly(file: string, content: object): void {
  mkdirSync(path.dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
}
