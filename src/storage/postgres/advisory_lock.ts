import { sql } from 'kysely';

import type { Session } from '#storage/postgres/database.ts';

/** Waits for the lock of this name and holds it until the transaction ends. */
export async function holdLock({ db }: Pick<Session, 'db'>, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
}
