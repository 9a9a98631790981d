import { createHmac } from 'node:crypto';

import { ConfigError } from '#kernel/config.ts';

/** Runs a statement of PostgreSQL, whichever client does it. */
export type RunSql = (
  text: string,
  parameters: readonly string[],
) => Promise<readonly { readonly value: string | null }[]>;

/** Returns a fingerprint that tells one secret from another, and reveals nothing about either. */
export function fingerprintOf(appSecret: string): string {
  return createHmac('sha256', appSecret).update('which installation this is').digest('hex').slice(0, 32);
}

/**
 * Throws a ConfigError if the database belongs to an installation with another secret: what one encrypts, the other
 * cannot read. A database that is new, or was migrated by an older release, belongs to nobody yet.
 */
export async function requireOwnSecret(run: RunSql, appSecret: string): Promise<void> {
  const [table] = await run(`select to_regclass('installation')::text as value`, []);
  if (!table?.value) return;
  const [row] = await run('select secret_fingerprint as value from installation', []);
  if (row === undefined || row.value === fingerprintOf(appSecret)) return;
  throw new ConfigError([OTHER_SECRET]);
}

const OTHER_SECRET =
  'APP_SECRET is not the one that this database was set up with: set it to that of the other processes, or name another database in DATABASE_URL';

/**
 * Claims the database for this installation. If it belongs to another one, throws as `requireOwnSecret` does. Periodic work
 * counts as done when the installation begins, however long before its stores were prepared.
 */
export async function claimDatabase(run: RunSql, appSecret: string): Promise<void> {
  await run(
    `with claimed as (
       insert into installation (secret_fingerprint) values ($1) on conflict (is_only) do nothing returning true
     )
     update leases set done_at = now() where held_until = 'epoch' and exists (select from claimed)`,
    [fingerprintOf(appSecret)],
  );
  await requireOwnSecret(run, appSecret);
}
