import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { addApiKey } from '#actions/keys/add_api_key.ts';
import { addMember } from '#actions/people/add_member.ts';
import { createOrganization } from '#actions/people/create_organization.ts';
import { hashPassword, newPassword } from '#auth/passwords.ts';
import type { AppContext } from '#entry/compose.ts';
import { newId } from '#kernel/ids.ts';
import type { AuditedBy } from '#storage/postgres/audit_store.ts';
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
export async function ensureFirstRun({ db, clock, config }: AppContext): Promise<FirstRun | null> {
  if (await storesOf(db.session()).people.hasAnyOrganization()) return null;
  const password = newPassword();
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
    const orgId = await createOrganization(unit, 'My organization', by);
    const userId = await addMember(unit, orgId, { email: EMAIL, name: 'Owner', passwordHash }, 'owner', by);
    const wanted = { orgId, userId: null, name: 'First key', permissions: null, expiresAt: null };
    const { secret } = await addApiKey(unit, wanted, by);
    const firstRun: FirstRun = {
      baseUrl: config.baseUrl,
      organizationId: orgId,
      userId,
      email: EMAIL,
      password,
      apiKey: secret,
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
