import { sql } from 'kysely';

import type { Session } from '#storage/postgres/database.ts';

/** The same beside others who share it: it keeps out who holds the lock alone. */
export async function shareLock({ db }: Pick<Session, 'db'>, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))`.execute(db);
}

/** Waits for the lock of this name and holds it until the transaction ends. */
export async function holdLock({ db }: Pick<Session, 'db'>, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
}
