import { Kysely, type QueryExecutor } from 'kysely';

import { type Session, sqlOf } from '#storage/postgres/database.ts';

/** Options that only connecting needs. */
const UNUSED = { config: { dialect: {} as never }, dialect: {} as never, driver: {} as never };

/** The session with `before` called, and waited for, before each statement that does not come from the unit of work. */
export function watchedSession(session: Session, before: (sql: string) => Promise<void>): Session {
  const executor = session.db.getExecutor();
  const executeQuery: QueryExecutor['executeQuery'] = async (query, options) => {
    await before(query.sql);
    return await executor.executeQuery(query, options);
  };
  const watched = new Proxy(executor, {
    get(target, name) {
      if (name === 'executeQuery') return executeQuery;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  const db: Session['db'] = new Kysely({ ...UNUSED, executor: watched });
  return { em: session.em, db, sql: sqlOf(db) };
}
