import { type NotNull, sql } from 'kysely';

import type { NewsEvent } from '#modules/incidents/decide/incident.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import type { NotificationStatus } from '#modules/policies/decide/recipients.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { currentSpan } from '#kernel/tracing.ts';
import {
  anyOf,
  holdLock,
  insertSlices,
  PostgresStore,
  prepared,
  toColumns,
  type Values,
} from '#storage/postgres/store.ts';
import { NotificationEntity, type NotificationKind } from '#storage/postgres/entities/messages.ts';
import { NOTIFICATION, type NotificationRow } from '#modules/notifications/store/notification_row.ts';

/** Kinds that do not count as one of the messages of a minute, and never become part of a digest. */
export function isAboutAccount(kind: NotificationKind): boolean {
  return kind === 'test' || kind === 'code' || kind === 'number_changed' || kind === 'member_number_changed';
}

export type NewNotification = Pick<
  NotificationRow,
  'orgId' | 'incidentId' | 'stepIndex' | 'kind' | 'userId' | 'channel' | 'address' | 'reason'
> & {
  readonly news?: NewsEvent;
  readonly proposalId?: Id<'proposal'>;
  readonly status: 'queued' | 'failed' | 'skipped';
};

/** Status of one page to a person in a step. */
export interface PageStatus {
  readonly incidentId: Id<'incident'>;
  readonly stepIndex: number;
  readonly userId: Id<'user'>;
  readonly status: NotificationStatus;
}

/** Somebody by a number or address of theirs. */
interface Recipient {
  readonly userId: Id<'user'>;
  readonly address: string;
}

/** A time further ahead was set before the clock was set back. */
const AHEAD_MAX = Temporal.Duration.from({ minutes: 1 });

const FIND = prepared((db, { id }: Values<{ id: Id<'notification'> }>) =>
  db.selectFrom('notifications as n').select(NOTIFICATION).where('n.id', '=', id),
);

/** Columns of an entry that waits as if it had not been tried yet. */
const WAITING_AGAIN = { status: 'queued', reason: null, attempts: 0, released_at: null } as const;

/** The notification log: each entry is written before a provider is called, and never lost. */
export class NotificationStore extends PostgresStore {
  /**
   * Adds entries, those that are queued to be sent at `dueAt`; a page that the log has already (same incident, step,
   * person, channel) is left as it is.
   */
  async insert(
    entries: readonly NewNotification[],
    now: Temporal.Instant,
    dueAt: Temporal.Instant = now,
  ): Promise<Id<'notification'>[]> {
    const rows = entries.map(({ news = null, proposalId = null, ...entry }) =>
      toColumns(NotificationEntity, {
        id: newId('notification'),
        ...entry,
        news,
        proposalId,
        dueAt: entry.status === 'queued' ? dueAt : null,
        traceparent: currentSpan()?.traceparent ?? null,
        createdAt: now,
        updatedAt: now,
      }),
    );
    const ids: Id<'notification'>[] = [];
    for (const slice of insertSlices(rows)) {
      const inserted = await this.insertInto('notifications')
        .values(slice)
        .onConflict((conflict) =>
          conflict
            .columns(['incident_id', 'step_index', 'user_id', 'channel'])
            .where('kind', '=', sql.lit('page'))
            .doNothing(),
        )
        .returning('id')
        .execute();
      for (const { id } of inserted) ids.push(id);
    }
    return ids;
  }

  /** The newest so many of an incident, oldest first. */
  async listOf(incidentId: Id<'incident'>, limit: number): Promise<NotificationRow[]> {
    const newest = await this.#entries()
      .where('n.incident_id', '=', incidentId)
      .orderBy('n.created_at', 'desc')
      .orderBy('n.id', 'desc')
      .limit(limit)
      .execute();
    return newest.toReversed();
  }

  async countOf(incidentId: Id<'incident'>): Promise<number> {
    const { count } = await this.selectFrom('notifications')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('incident_id', '=', incidentId)
      .executeTakeFirstOrThrow();
    return count;
  }

  /**
   * Lists the people whom the steps of an incident paged, from this step on, each once with each outcome, oldest step
   * first.
   */
  async listStepOutcomes(
    incidentId: Id<'incident'>,
    firstStep: number,
  ): Promise<Pick<NotificationRow, 'stepIndex' | 'userId' | 'status'>[]> {
    return await this.#pages()
      .select(['n.step_index as stepIndex', 'n.user_id as userId', 'n.status'])
      .distinct()
      .where('n.incident_id', '=', incidentId)
      .where('n.step_index', '>=', firstStep)
      .orderBy('n.step_index')
      .orderBy('n.user_id')
      .orderBy('n.status')
      .execute();
  }

  async find(notificationId: string): Promise<NotificationRow | null> {
    return await FIND.row(this.session, { id: asId('notification', notificationId) });
  }

  /**
   * Lists the people to whom pages of these incidents went, and what became of them; pages that were never sent are
   * left out. Those that the phone simulator took, with ids that match `simulatedIds`, are marked.
   */
  async listPagesOf(
    incidentIds: readonly Id<'incident'>[],
    simulatedIds: string,
  ): Promise<(Omit<PageStatus, 'stepIndex'> & { readonly isSimulated: boolean })[]> {
    const pages = await this.#pages()
      .select(['n.incident_id as incidentId', 'n.user_id as userId', 'n.status'])
      .select((n) => n.fn.coalesce(n('n.provider_id', 'like', simulatedIds), n.lit(false)).as('isSimulated'))
      .distinct()
      .where('n.incident_id', '=', anyOf(incidentIds))
      .where('n.status', 'not in', ['skipped', 'cancelled'])
      .orderBy('n.incident_id')
      .orderBy('n.user_id')
      .orderBy('n.status')
      .orderBy('isSimulated')
      .$narrowType<{ incidentId: NotNull }>()
      .execute();
    return pages.map((page) => ({ ...page, status: shownStatus(page.status), isSimulated: Boolean(page.isSimulated) }));
  }

  /** The states of all pages to the person of each of these pages, in its step. */
  async listStatuses(pages: readonly NotificationRow[]): Promise<PageStatus[]> {
    const asked = this.selectFrom('notifications')
      .select(['incident_id', 'step_index', 'user_id'])
      .distinct()
      .where('id', '=', anyOf(pages.map(({ id }) => id)));
    const statuses = await this.#pages()
      .innerJoin(asked.as('page'), (join) =>
        join
          .onRef('page.incident_id', '=', 'n.incident_id')
          .onRef('page.step_index', '=', 'n.step_index')
          .onRef('page.user_id', '=', 'n.user_id'),
      )
      .select(['n.incident_id as incidentId', 'n.step_index as stepIndex', 'n.user_id as userId', 'n.status'])
      .$narrowType<{ incidentId: NotNull; stepIndex: NotNull }>()
      .execute();
    return statuses.map((page) => ({ ...page, status: shownStatus(page.status) }));
  }

  /** Returns the people to whom pages of these steps have left or are about to, each once. */
  async listPaged(incidentId: Id<'incident'>, steps: readonly number[]): Promise<Id<'user'>[]> {
    const paged = await this.#pages()
      .select('n.user_id as userId')
      .distinct()
      .where('n.incident_id', '=', incidentId)
      .where('n.step_index', '=', anyOf(steps))
      .where('n.status', 'not in', ['failed', 'skipped'])
      .orderBy('n.user_id')
      .execute();
    return paged.map(({ userId }) => userId);
  }

  /** Numbers that were sent a page of this incident by SMS, each once with its person. */
  async listSmsRecipients(incidentId: Id<'incident'>): Promise<Recipient[]> {
    return await this.#pages()
      .select(['n.user_id as userId', 'n.address'])
      .distinct()
      .where('n.incident_id', '=', incidentId)
      .where('n.channel', '=', 'sms')
      .where('n.status', 'in', ['sending', 'sent', 'delivered'])
      .$narrowType<{ address: NotNull }>()
      .execute();
  }

  /**
   * Counts the messages of this kind that the person asked for on the channel between two times. Until the transaction ends
   * others who count the same wait, so that requests at the same time cannot pass the limit together: those that began
   * later and ended sooner count, too.
   */
  async countAskedFor(
    kind: 'test' | 'code',
    userId: Id<'user'>,
    channel: Channel,
    { since, now }: { readonly since: Temporal.Instant; readonly now: Temporal.Instant },
  ): Promise<number> {
    await holdLock(this.session, ['asked for', kind, userId, channel].join(' '));
    const { count } = await this.selectFrom('notifications')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('incident_id', 'is', null)
      .where('created_at', '>', since)
      .where('created_at', '<=', now.add(AHEAD_MAX))
      .where('kind', '=', kind)
      .where('user_id', '=', userId)
      .where('channel', '=', channel)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Cancels what has not left, one row after another in the order of their ids; resolves to the cancelled ones. */
  async cancelQueued(
    incidentId: Id<'incident'>,
    reason: string,
    now: Temporal.Instant,
    userId: Id<'user'> | null = null,
  ): Promise<NotificationRow[]> {
    const waiting = this.#lockable(incidentId, userId).where('status', '=', 'queued').where('kind', '=', 'page');
    return await this.#cancelling(reason, now)
      .from(waiting.as('waiting'))
      .whereRef('n.id', '=', 'waiting.id')
      .returning(NOTIFICATION)
      .execute();
  }

  /**
   * Pages that an answer has cancelled wait again, as if they had not been tried yet, but for those to `except`; resolves to
   * which.
   */
  async requeueCancelled(
    incidentId: Id<'incident'>,
    now: Temporal.Instant,
    { only = null, except = [] }: { readonly only?: Id<'user'> | null; readonly except?: readonly Id<'user'>[] } = {},
  ): Promise<Id<'notification'>[]> {
    const cancelled = this.#lockable(incidentId, only)
      .where('kind', '=', 'page')
      .where('status', '=', 'cancelled')
      .where('reason', 'in', ['acknowledged', 'resolved'])
      .$if(except.length > 0, (query) => query.where('user_id', 'not in', except));
    const requeued = await this.updateTable('notifications as n')
      .from(cancelled.as('waiting'))
      .set({ ...WAITING_AGAIN, digest_id: null, due_at: now, updated_at: now })
      .whereRef('n.id', '=', 'waiting.id')
      .returning('n.id')
      .execute();
    return requeued.map(({ id }) => id);
  }

  /** Finds the last step that has passed a person over because of their acknowledgement at `since`, with its pages. */
  async findPassedOver(
    incidentId: Id<'incident'>,
    userId: Id<'user'>,
    since: Temporal.Instant,
  ): Promise<{ stepIndex: number; pages: Pick<NotificationRow, 'id' | 'channel'>[] }> {
    const passedOver = await this.#lockable(incidentId, userId)
      .select(['channel', 'step_index as stepIndex'])
      .where('kind', '=', 'page')
      .where('status', '=', 'skipped')
      .where('reason', '=', 'acknowledged')
      .where('created_at', '>=', since)
      .execute();
    const last = Math.max(0, ...passedOver.map(({ stepIndex }) => stepIndex ?? 0));
    return { stepIndex: last, pages: passedOver.filter(({ stepIndex }) => stepIndex === last) };
  }

  /** Lets a page leave now that was skipped. */
  async queueSkipped(id: Id<'notification'>, address: string | null, now: Temporal.Instant): Promise<void> {
    await this.updateTable('notifications')
      .set({ ...WAITING_AGAIN, address, due_at: now, updated_at: now })
      .where('id', '=', id)
      .execute();
  }

  /** Pages that an answer has cancelled stay so, also when the answer is undone: the incident was reassigned. */
  async supersedeCancelled(incidentId: Id<'incident'>, now: Temporal.Instant): Promise<void> {
    const cancelled = this.#lockable(incidentId)
      .where('kind', '=', 'page')
      .where('status', '=', 'cancelled')
      .where('reason', 'in', ['acknowledged', 'resolved']);
    await this.#cancelling('reassigned', now)
      .from(cancelled.as('waiting'))
      .whereRef('n.id', '=', 'waiting.id')
      .execute();
  }

  /**
   * Cancels news of an answer that have not left; resolves to the numbers for which they are the last that has, each
   * once with its person.
   */
  async cancelNews(incidentId: Id<'incident'>, news: NewsEvent, now: Temporal.Instant): Promise<Recipient[]> {
    const waiting = this.#lockable(incidentId)
      .where('kind', '=', 'update')
      .where('news', '=', news)
      .where('status', '=', 'queued');
    await this.#cancelling('taken_back', now).from(waiting.as('waiting')).whereRef('n.id', '=', 'waiting.id').execute();
    const last = this.selectFrom('notifications')
      .distinctOn(['user_id', 'address'])
      .select(['user_id as userId', 'address', 'news'])
      .where('incident_id', '=', incidentId)
      .where('kind', '=', 'update')
      .where('status', 'in', ['sending', 'sent', 'delivered'])
      .orderBy('user_id')
      .orderBy('address')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc');
    return await this.selectFrom(last.as('last'))
      .select(['last.userId', 'last.address'])
      .where('last.news', '=', news)
      .$narrowType<{ address: NotNull }>()
      .execute();
  }

  /** Notes that the receiver of a message had it, and all that it stands for. The first time counts. */
  async markAnswered(notificationId: Id<'notification'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('notifications')
      .set({ answered_at: now })
      .where(({ eb, or }) => or([eb('id', '=', notificationId), eb('digest_id', '=', notificationId)]))
      .where('answered_at', 'is', null)
      .execute();
  }

  /** Marks the pages about these incidents by SMS to this number as answered. */
  async markRepliedTo(phone: string, incidentIds: readonly Id<'incident'>[], now: Temporal.Instant): Promise<void> {
    await this.updateTable('notifications')
      .set({ answered_at: now })
      .where('incident_id', '=', anyOf(incidentIds))
      .where('kind', '=', 'page')
      .where('channel', '=', 'sms')
      .where('address', '=', phone)
      .where('status', 'in', ['sending', 'sent', 'delivered', 'failed'])
      .where('answered_at', 'is', null)
      .execute();
  }

  /** Removes digests and messages about accounts from before then. */
  async pruneWithoutIncident(before: Temporal.Instant): Promise<void> {
    await this.deleteFrom('notifications').where('incident_id', 'is', null).where('created_at', '<', before).execute();
  }

  #entries() {
    return this.selectFrom('notifications as n').select(NOTIFICATION);
  }

  #pages() {
    return this.selectFrom('notifications as n').where('n.kind', '=', 'page');
  }

  /** The ids of entries of the incident, or of one person's, in the order in which all transactions lock them. */
  #lockable(incidentId: Id<'incident'>, userId: Id<'user'> | null = null) {
    return this.selectFrom('notifications')
      .select('id')
      .where('incident_id', '=', incidentId)
      .$if(userId !== null, (query) => query.where('user_id', '=', userId ?? asId('user', '')))
      .orderBy('id')
      .forUpdate();
  }

  #cancelling(reason: string, now: Temporal.Instant) {
    return this.updateTable('notifications as n').set({ status: 'cancelled', reason, due_at: null, updated_at: now });
  }
}

function shownStatus(status: NotificationRow['status']): NotificationStatus {
  return status === 'sending' ? 'queued' : status;
}
