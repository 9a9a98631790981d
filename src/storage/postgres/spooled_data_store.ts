import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** How long accepted data has been waiting on the disks of API processes, so that others know of it too. */
export class SpooledDataStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Null when nothing waits in that folder. What was told of folders that nobody has looked into since is dropped. */
  async tell(
    folder: string,
    oldestAt: Temporal.Instant | null,
    times: { readonly now: Temporal.Instant; readonly dropBefore: Temporal.Instant },
  ): Promise<void> {
    const { sql } = this.#session;
    await sql.run('delete from spooled_data where told_at < $1 or (folder = $2 and $3::timestamptz is null)', [
      times.dropBefore.toString(),
      folder,
      oldestAt?.toString() ?? null,
    ]);
    if (oldestAt === null) return;
    await sql.run(
      `insert into spooled_data (folder, oldest_at, told_at) values ($1, $2, $3)
       on conflict (folder) do update set oldest_at = excluded.oldest_at, told_at = excluded.told_at`,
      [folder, oldestAt.toString(), times.now.toString()],
    );
  }
}
