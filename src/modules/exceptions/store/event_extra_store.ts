import { sql } from 'kysely';

import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  allBut,
  columns,
  daysBefore,
  holdLock,
  PostgresStore,
  type Row,
  rowsChanged,
  toColumns,
} from '#storage/postgres/store.ts';
import { EventAttachmentEntity, EventFeedbackEntity } from '#storage/postgres/entities/sent.ts';

export type EventAttachment = Row<typeof EventAttachmentEntity>;
export type EventFeedback = Row<typeof EventFeedbackEntity>;

/** Limits on the extras of an event; more is not of use to anybody. */
const ATTACHMENTS_MAX = 20;
const FEEDBACK_MAX = 50;
/** Limit on the feedback of a service; further feedback is refused until the oldest is no longer kept. */
const FEEDBACK_OF_SERVICE_MAX = 10_000;

/** Files that came with events, and what users wrote about them. */
export class EventExtraStore extends PostgresStore {
  /**
   * Returns false when the service's files would take more than `bytesMax`, or the event has enough of them. A file that
   * is stored already is not stored again.
   */
  async addAttachment(attachment: EventAttachment, bytesMax: number): Promise<boolean> {
    // One service at a time, so that two requests never both take the last room.
    await holdLock(this.session, `attachments ${attachment.serviceId}`);
    const { bytes, files, same } = await this.selectFrom('event_attachments')
      .select(({ fn, cast }) => [
        cast<number>(fn.coalesce(fn.sum('bytes'), sql<number>`0`), 'bigint').as('bytes'),
        fn.countAll<number>().filterWhere('event_id', '=', attachment.eventId).as('files'),
        fn.countAll<string>().filterWhere('id', '=', attachment.id).as('same'),
      ])
      .where('service_id', '=', attachment.serviceId)
      .executeTakeFirstOrThrow();
    if (Number(same) > 0) return true;
    if (bytes + attachment.bytes > bytesMax || files >= ATTACHMENTS_MAX) return false;
    await this.insertInto('event_attachments').values(toColumns(EventAttachmentEntity, attachment)).execute();
    return true;
  }

  /** Returns false when the service has enough of it. What is stored already is not stored again. */
  async addFeedback(feedback: EventFeedback): Promise<boolean> {
    if ((await this.#countFeedback(feedback.serviceId)) >= FEEDBACK_OF_SERVICE_MAX) return false;
    await this.insertInto('event_feedback')
      .values(toColumns(EventFeedbackEntity, feedback))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
    return true;
  }

  /** The newest of a service, and how much there is. */
  async listFeedbackOfService(
    serviceId: Id<'service'>,
    limit: number,
  ): Promise<{ readonly feedback: readonly EventFeedback[]; readonly total: number }> {
    const feedback = await this.selectFrom('event_feedback as f')
      .select(columns(EventFeedbackEntity, 'f'))
      .where('f.service_id', '=', serviceId)
      .orderBy('f.created_at', 'desc')
      .orderBy('f.id')
      .limit(limit)
      .execute();
    return { feedback, total: await this.#countFeedback(serviceId) };
  }

  /** Files of these events, or of feedback about none, without their content. */
  async listAttachmentsOf(
    serviceId: Id<'service'>,
    eventIds: readonly string[],
  ): Promise<Pick<EventAttachment, 'id' | 'eventId' | 'name'>[]> {
    if (eventIds.length === 0) return [];
    return await this.selectFrom('event_attachments as a')
      .select(columns(EventAttachmentEntity, 'a', ['id', 'eventId', 'name']))
      .where('a.service_id', '=', serviceId)
      .where('a.event_id', 'in', eventIds)
      .orderBy('a.name')
      .orderBy('a.id')
      .limit(eventIds.length * ATTACHMENTS_MAX)
      .execute();
  }

  async #countFeedback(serviceId: Id<'service'>): Promise<number> {
    const { count } = await this.selectFrom('event_feedback')
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .where('service_id', '=', serviceId)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  async listAttachments(serviceId: Id<'service'>, eventId: string): Promise<Omit<EventAttachment, 'content'>[]> {
    return await this.selectFrom('event_attachments as a')
      .select(columns(EventAttachmentEntity, 'a', allBut(EventAttachmentEntity, 'content')))
      .where('a.service_id', '=', serviceId)
      .where('a.event_id', '=', eventId)
      .orderBy('a.name')
      .orderBy('a.id')
      .limit(ATTACHMENTS_MAX)
      .execute();
  }

  async findAttachment(serviceId: Id<'service'>, attachmentId: string): Promise<EventAttachment | null> {
    const row = await this.selectFrom('event_attachments as a')
      .select(columns(EventAttachmentEntity, 'a'))
      .where('a.service_id', '=', serviceId)
      .where('a.id', '=', attachmentId)
      .executeTakeFirst();
    return row ?? null;
  }

  async listFeedback(serviceId: Id<'service'>, eventId: string): Promise<EventFeedback[]> {
    return await this.selectFrom('event_feedback as f')
      .select(columns(EventFeedbackEntity, 'f'))
      .where('f.service_id', '=', serviceId)
      .where('f.event_id', '=', eventId)
      .orderBy('f.created_at', 'desc')
      .orderBy('f.id')
      .limit(FEEDBACK_MAX)
      .execute();
  }

  /** Removes up to `limit` of each that are older than the events of their service; returns how many. */
  async removeOutdated(now: Temporal.Instant, limit: number): Promise<number> {
    const attachments = await this.deleteFrom('event_attachments')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('event_attachments as x')
          .innerJoin('services as s', 's.id', 'x.service_id')
          .select('x.id')
          .where((is) => is('x.created_at', '<', daysBefore(now, is.ref('s.retention_exceptions'))))
          .limit(limit),
      )
      .execute();
    const feedback = await this.deleteFrom('event_feedback')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('event_feedback as x')
          .innerJoin('services as s', 's.id', 'x.service_id')
          .select('x.id')
          .where((is) => is('x.created_at', '<', daysBefore(now, is.ref('s.retention_exceptions'))))
          .limit(limit),
      )
      .execute();
    return rowsChanged(attachments) + rowsChanged(feedback);
  }
}
