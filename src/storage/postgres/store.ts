import type { Session } from '#storage/postgres/database.ts';

/** A store over one session: what it changes commits or vanishes with what the session's other stores change. */
export class PostgresStore {
  protected readonly session: Session;

  constructor(session: Session) {
    this.session = session;
  }

  /** Queries in the transaction of the session. */
  protected get db(): Session['db'] {
    return this.session.db;
  }

  /** The unit of work for entities. */
  protected get em(): Session['em'] {
    return this.session.em;
  }
}
