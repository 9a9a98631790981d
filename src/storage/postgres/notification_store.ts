import type { NewsEvent } from '#core/incidents/incident.ts';
import { type Channel, CHANNELS } from '#core/oncall/channel.ts';
import type { ChannelHistory } from '#core/oncall/channel_state.ts';
import type { NotificationStatus } from '#core/oncall/recipients.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/**
 * `page` wakes somebody; `update` tells somebody who was paged what became of it; a `digest` stands for several of
 * these; a `test` was asked for by its receiver; the others are about a phone number. Only the first two are about one
 * incident, and in its log.
 */
export type NotificationKind =
  | 'page'
  | 'update'
  | 'digest'
  | 'test'
  | 'code'
  | 'number_changed'
  | 'member_number_changed';

/** Kinds that count towards nobody's messages of the minute, and are never folded into a digest. */
export function isAboutAccount(kind: NotificationKind): boolean {
  return kind === 'test' || kind === 'code' || kind === 'number_changed' || kind === 'member_number_changed';
}

/** An entry as stored; `sending` is what the log shows as `queued`. */
export interface NotificationRow {
  readonly id: Id<'notification'>;
  readonly orgId: Id<'org'>;
  /** null for a digest and for a test. */
  readonly incidentId: Id<'incident'> | null;
  readonly stepIndex: number | null;
  readonly kind: NotificationKind;
  /** What an `update` tells. */
  readonly news: NewsEvent | null;
  readonly userId: Id<'user'>;
  readonly channel: Channel;
  readonly address: string | null;
  /** The digest that stands for it. */
  readonly digestId: Id<'notification'> | null;
  readonly status: NotificationStatus | 'sending';
  readonly reason: string | null;
  readonly attempts: number;
  readonly providerId: string | null;
  /** When it was first let through to its channel; null while it waits, and for what a digest stands for. */
  readonly releasedAt: Temporal.Instant | null;
  readonly createdAt: Temporal.Instant;
  readonly updatedAt: Temporal.Instant;
}

export interface NewNotification {
  readonly orgId: Id<'org'>;
  readonly incidentId: Id<'incident'> | null;
  readonly stepIndex: number | null;
  readonly kind: NotificationKind;
  readonly news?: NewsEvent;
  readonly userId: Id<'user'>;
  readonly channel: Channel;
  readonly address: string | null;
  readonly status: 'queued' | 'failed' | 'skipped';
  readonly reason: string | null;
}

/** How one page to a person in a step stands. */
export interface PageStatus {
  readonly incidentId: Id<'incident'>;
  readonly stepIndex: number;
  readonly userId: Id<'user'>;
  readonly status: NotificationStatus;
}

/** How a channel fared lately. */
export interface ChannelHealth extends ChannelHistory {
  readonly channel: Channel;
  readonly lastFailure: string | null;
}

/** A message that is this worker's to send. */
export interface ClaimedNotification extends NotificationRow {
  /** True when an earlier try may have reached the provider without our learning of it. */
  readonly isUncertain: boolean;
}

export const NOTIFICATION_COLUMNS = `n.id, n.org_id as "orgId", n.incident_id as "incidentId",
  n.step_index as "stepIndex", n.kind, n.news, n.user_id as "userId", n.channel, n.address, n.digest_id as "digestId",
  n.status, n.reason, n.attempts, n.provider_id as "providerId", n.released_at as "releasedAt",
  n.created_at as "createdAt", n.updated_at as "updatedAt"`;

const COLUMNS = NOTIFICATION_COLUMNS;

/** No message waits for ten minutes: a time further ahead was set by a clock that has been set back since. */
export function isDueAt(parameter: string): string {
  return `(n.due_at <= ${parameter} or n.due_at > ${parameter}::timestamptz + interval '10 minutes')`;
}

/** The reason of a try whose fate is unknown: a time-out after the request had left. */
export const UNCERTAIN = 'provider_silent';

/** Says of an entry that a digest stood for it. */
const DIGEST_REASON = "case when n.digest_id is not null then 'digest' end";

/** The reason of a message that was tried twice with an unknown fate, and then counts as sent. */
export const UNCONFIRMED = 'unconfirmed';

/** How far a delivery has come; call-backs may only move it forward. */
const RANK: Record<NotificationStatus | 'sending', number> = {
  queued: 0,
  sending: 1,
  sent: 2,
  delivered: 3,
  failed: 3,
  skipped: 3,
  cancelled: 3,
};

/** A message whose time has come. */
export interface DueMessage {
  readonly id: Id<'notification'>;
  readonly orgId: Id<'org'>;
}

/** The notification log: each entry is written before a provider is called, and never lost. */
export class NotificationStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Adds entries, those that are queued to be sent at `dueAt`; a page that the log has already (same incident, step,
   * person, channel) is left as it is.
   */
  async insert(
    entries: readonly NewNotification[],
    now: Temporal.Instant,
    dueAt: Temporal.Instant = now,
  ): Promise<Id<'notification'>[]> {
    if (entries.length === 0) return [];
    const rows = entries.map((entry) => ({ id: newId('notification'), ...entry }));
    const inserted = await this.#session.sql.rows<{ id: Id<'notification'> }>(
      `insert into notifications (id, org_id, incident_id, step_index, kind, news, user_id, channel, address, status,
         reason, due_at, created_at, updated_at)
       select n->>'id', n->>'orgId', n->>'incidentId', (n->>'stepIndex')::int, n->>'kind', n->>'news', n->>'userId',
         n->>'channel', n->>'address', n->>'status', n->>'reason',
         case when n->>'status' = 'queued' then $3::timestamptz end, $2, $2
       from json_array_elements($1::json) n
       on conflict (incident_id, step_index, user_id, channel) where kind = 'page' do nothing
       returning id`,
      [JSON.stringify(rows), now.toString(), dueAt.toString()],
    );
    return inserted.map(({ id }) => id);
  }

  async listOf(incidentId: Id<'incident'>): Promise<NotificationRow[]> {
    return await this.#session.sql.rows(
      `select ${COLUMNS} from notifications n where n.incident_id = $1 order by n.created_at, n.id limit 5000`,
      [incidentId],
    );
  }

  /** To whom pages of these incidents went, and what became of them; those that were never sent are left out. */
  async listPagesOf(incidentIds: readonly Id<'incident'>[]): Promise<Omit<PageStatus, 'stepIndex'>[]> {
    return await this.#session.sql.rows(
      `select distinct incident_id as "incidentId", user_id as "userId",
         case status when 'sending' then 'queued' else status end as status
       from notifications where incident_id = any($1) and kind = 'page' and status not in ('skipped', 'cancelled')
       order by 1, 2, 3`,
      [incidentIds],
    );
  }

  async find(notificationId: string): Promise<NotificationRow | null> {
    return await this.#session.sql.row(`select ${COLUMNS} from notifications n where n.id = $1`, [notificationId]);
  }

  /**
   * When the provider of each channel last took a message to people of the organization, and when and why it last
   * refused one or did not answer, of messages since then. Our reasons that say so begin with `provider_`.
   */
  async listHealth(orgId: Id<'org'>, since: Temporal.Instant): Promise<ChannelHealth[]> {
    const last = (condition: string) =>
      `left join lateral (select n.updated_at as at, n.reason from notifications n
         where n.org_id = $1 and n.channel = c.channel and n.updated_at >= $2 and (${condition})
         order by n.updated_at desc limit 1)`;
    const taken = "n.provider_id is not null or n.status in ('sent', 'delivered')";
    const refused = `n.reason = '${UNCONFIRMED}' or starts_with(n.reason, 'provider_')`;
    return await this.#session.sql.rows(
      `select c.channel, good.at as "lastSucceededAt", bad.at as "lastFailedAt", bad.reason as "lastFailure"
       from unnest($3::text[]) c (channel)
       ${last(`(${taken}) and (${refused}) is not true`)} good on true
       ${last(refused)} bad on true`,
      [orgId, since.toString(), [...CHANNELS]],
    );
  }

  /**
   * Takes a message to send, for as long as the lease lasts: one that is due, or one whose sender has not been heard
   * of since its lease ended.
   */
  async claim(
    notificationId: string,
    leaseUntil: Temporal.Instant,
    now: Temporal.Instant,
  ): Promise<ClaimedNotification | null> {
    return await this.#session.sql.row(
      `update notifications n
       set status = 'sending', attempts = n.attempts + 1, lease_until = $2, due_at = $2, updated_at = $3,
         released_at = coalesce(n.released_at, $3)
       from (select id, status as was, reason as why from notifications where id = $1 for update) old
       where n.id = old.id and n.status in ('queued', 'sending')
         and ${isDueAt('$3')}
       returning ${COLUMNS}, old.was = 'sending' or coalesce(old.why, '') = $4 as "isUncertain"`,
      [notificationId, leaseUntil.toString(), now.toString(), UNCERTAIN],
    );
  }

  /** When a message that waits to be sent is due; null when it does not, or waits for its digest. */
  async findQueuedDueAt(notificationId: Id<'notification'>): Promise<Temporal.Instant | null> {
    const message = await this.#session.sql.row<{ dueAt: Temporal.Instant | null }>(
      `select due_at as "dueAt" from notifications where id = $1 and status = 'queued'`,
      [notificationId],
    );
    return message?.dueAt ?? null;
  }

  /** Prolongs the lease of a claimed message; false when it has ended and another has taken the message over. */
  async keep(claimed: ClaimedNotification, leaseUntil: Temporal.Instant): Promise<boolean> {
    const kept = await this.#session.sql.run(
      `update notifications set lease_until = $3, due_at = $3 where id = $1 and status = 'sending' and attempts = $2`,
      [claimed.id, claimed.attempts, leaseUntil.toString()],
    );
    return kept > 0;
  }

  /** Of the message, and of what it stands for if it is a digest, those that were not known to be sent already. */
  async markSent(
    notificationId: Id<'notification'>,
    sent: { readonly providerId: string | null; readonly reason: string | null },
    now: Temporal.Instant,
  ): Promise<NotificationRow[]> {
    return await this.#session.sql.rows(
      `update notifications n set status = 'sent', provider_id = $2, reason = coalesce($3, ${DIGEST_REASON}),
         due_at = null, lease_until = null, updated_at = $4
       where (n.id = $1 or n.digest_id = $1) and n.status = 'sending' returning ${COLUMNS}`,
      [notificationId, sent.providerId, sent.reason, now.toString()],
    );
  }

  /** Notes what the provider calls this message, unless that is known. */
  async setProviderId(notificationId: Id<'notification'>, providerId: string): Promise<void> {
    await this.#session.sql.run(
      'update notifications set provider_id = coalesce(provider_id, $2) where id = $1 or digest_id = $1',
      [notificationId, providerId],
    );
  }

  /**
   * Of the provider's ids those that belong to no entry, and how many other entries may own one of them: they went to
   * the same address, and nobody has learnt what became of them.
   */
  async findUnclaimed(
    { id, channel, address, createdAt }: NotificationRow,
    providerIds: readonly string[],
  ): Promise<{ unclaimed: string[]; othersUncertain: number }> {
    const unclaimed = await this.#session.sql.rows<{ providerId: string }>(
      `select p as "providerId" from unnest($1::text[]) p
       where not exists (select 1 from notifications n where n.provider_id = p)`,
      [providerIds],
    );
    const others = await this.#session.sql.row<{ count: number }>(
      `select count(*)::int as count from notifications
       where channel = $2 and address = $3 and id <> $1 and provider_id is null and digest_id is null
         and (status = 'sending' or (reason in ($4, $5) and updated_at >= $6))`,
      [id, channel, address, UNCERTAIN, UNCONFIRMED, createdAt.toString()],
    );
    return { unclaimed: unclaimed.map(({ providerId }) => providerId), othersUncertain: others?.count ?? 0 };
  }

  /** Puts the message back, and what it stands for; pages of incidents that are settled meanwhile are cancelled. */
  async markForRetry(
    notificationId: Id<'notification'>,
    reason: string,
    dueAt: Temporal.Instant,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.#session.sql.run(
      `update notifications set status = 'queued', reason = $2, lease_until = null, updated_at = $4,
         due_at = case when id = $1 then $3::timestamptz end
       where (id = $1 or digest_id = $1) and status = 'sending'`,
      [notificationId, reason, dueAt.toString(), now.toString()],
    );
    await this.#session.sql.run(
      `update notifications n set status = 'cancelled', reason = i.status, due_at = null from incidents i
       where (n.id = $1 or n.digest_id = $1) and n.status = 'queued' and n.kind = 'page'
         and i.id = n.incident_id and i.status <> 'triggered'`,
      [notificationId],
    );
  }

  /**
   * Moves a delivery, and what it stands for, forward to its end; those that had already come as far are left out. Why
   * an earlier try failed is forgotten once one has succeeded.
   */
  async advance(
    notificationId: Id<'notification'>,
    status: 'sent' | 'delivered' | 'failed',
    reason: string | null,
    now: Temporal.Instant,
  ): Promise<NotificationRow[]> {
    const behind = Object.entries(RANK).filter(([, rank]) => rank < RANK[status]);
    return await this.#session.sql.rows(
      `update notifications n set status = $2, reason = coalesce($3, ${DIGEST_REASON}), due_at = null,
         lease_until = null, updated_at = $4
       where (n.id = $1 or n.digest_id = $1) and n.status = any($5) returning ${COLUMNS}`,
      [notificationId, status, reason, now.toString(), behind.map(([name]) => name)],
    );
  }

  /** Gives up a message that nothing is left to say by. */
  async cancel(notificationId: Id<'notification'>, reason: string, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      `update notifications set status = 'cancelled', reason = $2, due_at = null, lease_until = null, updated_at = $3
       where id = $1 and status in ('queued', 'sending')`,
      [notificationId, reason, now.toString()],
    );
  }

  /** Cancels what has not left, one row after another in the order of their ids; resolves to the cancelled ones. */
  async cancelQueued(incidentId: Id<'incident'>, reason: string, now: Temporal.Instant): Promise<NotificationRow[]> {
    return await this.#session.sql.rows(
      `update notifications n set status = 'cancelled', reason = $2, due_at = null, updated_at = $3
       from (select id from notifications where incident_id = $1 and status = 'queued' and kind = 'page'
             order by id for update) waiting
       where n.id = waiting.id returning ${COLUMNS}`,
      [incidentId, reason, now.toString()],
    );
  }

  /** Pages that an answer has cancelled wait again, as if they had not been tried yet; resolves to which. */
  async requeueCancelled(incidentId: Id<'incident'>, now: Temporal.Instant): Promise<Id<'notification'>[]> {
    const rows = await this.#session.sql.rows<{ id: Id<'notification'> }>(
      `update notifications n set status = 'queued', reason = null, digest_id = null, attempts = 0, released_at = null,
         due_at = $2, updated_at = $2
       from (select id from notifications where incident_id = $1 and kind = 'page' and status = 'cancelled'
               and reason in ('acknowledged', 'resolved') order by id for update) waiting
       where n.id = waiting.id returning n.id`,
      [incidentId, now.toString()],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Cancels news of an answer that have not left; resolves to the numbers for which they are the last that has, each
   * once with its person.
   */
  async takeBackNews(
    incidentId: Id<'incident'>,
    news: NewsEvent,
    now: Temporal.Instant,
  ): Promise<{ userId: Id<'user'>; address: string }[]> {
    await this.#session.sql.run(
      `update notifications n set status = 'cancelled', reason = 'taken_back', due_at = null, updated_at = $3
       from (select id from notifications where incident_id = $1 and kind = 'update' and news = $2
               and status = 'queued' order by id for update) waiting
       where n.id = waiting.id`,
      [incidentId, news, now.toString()],
    );
    return await this.#session.sql.rows(
      `select "userId", address from (
         select distinct on (user_id, address) user_id as "userId", address, news from notifications
         where incident_id = $1 and kind = 'update' and status in ('sending', 'sent', 'delivered')
         order by user_id, address, created_at desc, id desc) last where news = $2`,
      [incidentId, news],
    );
  }

  /** The states of all pages to the person of each of these pages, in its step. */
  async listStatuses(pages: readonly NotificationRow[]): Promise<PageStatus[]> {
    return await this.#session.sql.rows(
      `select n.incident_id as "incidentId", n.step_index as "stepIndex", n.user_id as "userId",
         case when n.status = 'sending' then 'queued' else n.status end as status
       from (select distinct incident_id, step_index, user_id from notifications where id = any($1)) page
       join notifications n using (incident_id, step_index, user_id) where n.kind = 'page'`,
      [pages.map(({ id }) => id)],
    );
  }

  /** Messages that were due at `before` and have not left: their job was lost or is late, or their sender died. Organizations have equal turns. */
  async listDue(before: Temporal.Instant, limit: number): Promise<DueMessage[]> {
    return await this.#session.sql.rows(
      `select n.id, n.org_id as "orgId" from notifications n where n.status in ('queued', 'sending') and ${isDueAt('$1')}
       order by row_number() over (partition by n.org_id order by n.due_at), n.due_at limit $2`,
      [before.toString(), limit],
    );
  }

  /** How many messages of this kind the person has asked for on the channel between the two. */
  async countAskedFor(
    kind: 'test' | 'code',
    userId: Id<'user'>,
    channel: Channel,
    { since, now }: { readonly since: Temporal.Instant; readonly now: Temporal.Instant },
  ): Promise<number> {
    const row = await this.#session.sql.row<{ count: number }>(
      `select count(*)::int as count from notifications
       where incident_id is null and created_at > $4 and created_at <= $5 and kind = $1 and user_id = $2 and channel = $3`,
      [kind, userId, channel, since.toString(), now.toString()],
    );
    return row?.count ?? 0;
  }

  /** Removes digests and tests from before then. */
  async pruneWithoutIncident(before: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('delete from notifications where incident_id is null and created_at < $1', [
      before.toString(),
    ]);
  }

  /** Numbers that were sent a page of this incident by SMS, each once with its person. */
  async listSmsRecipients(incidentId: Id<'incident'>): Promise<{ userId: Id<'user'>; address: string }[]> {
    return await this.#session.sql.rows(
      `select distinct user_id as "userId", address from notifications
       where incident_id = $1 and channel = 'sms' and kind = 'page' and status in ('sending', 'sent', 'delivered')`,
      [incidentId],
    );
  }
}
