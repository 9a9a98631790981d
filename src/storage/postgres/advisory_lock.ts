import type { Session } from '#storage/postgres/database.ts';

/** The same beside others who share it: it keeps out who holds the lock alone. */
export async function shareLock({ db }: Pick<Session, 'db'>, name: string): Promise<void> {
  await lock(db, 'pg_advisory_xact_lock_shared', name);
}

/** Waits for the lock of this name and holds it until the transaction ends. */
export async function holdLock({ db }: Pick<Session, 'db'>, name: string): Promise<void> {
  await lock(db, 'pg_advisory_xact_lock', name);
}

async function lock(db: Session['db'], how: string, name: string): Promise<void> {
  await db
    .selectNoFrom(({ fn, val, lit }) => fn(how, [fn('hashtextextended', [val(name), lit(0)])]).as('held'))
    .execute();
}
