import type { Overdue } from '#core/oncall/pager.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** What the pager is late with, of all organizations. */
export class OverdueReader {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** What belongs to deleted services is nobody's any more. */
  async find(now: Temporal.Instant): Promise<Overdue> {
    const overdue = await this.#session.sql.row<Overdue>(
      `select
         (select min(t.due_at) from incident_steps t
            join incidents i on i.id = t.incident_id join services s on s.id = i.service_id and s.deleted_at is null
          where t.state = 'pending' and t.due_at <= $1) as "stepDueAt",
         (select min(n.due_at) from notifications n
          where n.status in ('queued', 'sending') and n.due_at <= $1) as "messageDueAt"`,
      [now.toString()],
    );
    return overdue ?? { stepDueAt: null, messageDueAt: null };
  }
}
