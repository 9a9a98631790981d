import { rowsOf } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';

/** The same beside others who share it: it keeps out who holds the lock alone. */
export async function shareLock({ db }: Pick<Session, 'db'>, name: string): Promise<void> {
  await lock(db, 'pg_advisory_xact_lock_shared', name);
}

/** Waits for the lock of this name and holds it until the transaction ends. */
export async function holdLock({ db }: Pick<Session, 'db'>, name: string): Promise<void> {
  await lock(db, 'pg_advisory_xact_lock', name);
}

/** Waits for each of these locks, in the order of their names, and holds them until the transaction ends. */
export async function holdLocks({ db }: Pick<Session, 'db'>, names: readonly string[]): Promise<void> {
  const wanted = [...new Set(names)].toSorted();
  const [only, ...others] = wanted;
  if (only === undefined) return;
  if (others.length === 0) return await holdLock({ db }, only);
  await db
    .selectFrom(rowsOf('w', { name: ['text', wanted] }))
    .select(({ fn, ref, lit }) =>
      fn('pg_advisory_xact_lock', [fn('hashtextextended', [ref('w.name'), lit(0)])]).as('held'),
    )
    .execute();
}

async function lock(db: Session['db'], how: string, name: string): Promise<void> {
  await db
    .selectNoFrom(({ fn, val, lit }) => fn(how, [fn('hashtextextended', [val(name), lit(0)])]).as('held'))
    .execute();
}
