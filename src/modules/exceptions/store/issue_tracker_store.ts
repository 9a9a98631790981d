import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { TRACKERS_MAX } from '#modules/exceptions/decide/issue_tracker.ts';
import { columns, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import {
  ExceptionSettingsEntity,
  GroupIssueEntity,
  IssueTrackerEntity,
} from '#storage/postgres/entities/exceptions.ts';

export type IssueTrackerRow = Row<typeof IssueTrackerEntity>;
type GroupIssueRow = Row<typeof GroupIssueEntity>;

/** Stores the issue trackers of organizations, and the issues that were created in them. */
export class IssueTrackerStore extends PostgresStore {
  /** Lists the trackers of an organization, oldest first. */
  async list(orgId: Id<'org'>): Promise<IssueTrackerRow[]> {
    return await this.#trackers(orgId).orderBy('t.id').limit(TRACKERS_MAX).execute();
  }

  /** Throws `not_found`. */
  async get(orgId: Id<'org'>, trackerId: string): Promise<IssueTrackerRow> {
    return await this.#trackers(orgId)
      .where('t.id', '=', asId('tracker', trackerId))
      .executeTakeFirstOrThrow(() => notFound('trackerId', 'issue tracker'));
  }

  /** Throws `not_found`. Locked until the transaction ends. */
  async lock(orgId: Id<'org'>, trackerId: string): Promise<IssueTrackerRow> {
    const id = asId('tracker', trackerId);
    return await this.#trackers(orgId)
      .where('t.id', '=', id)
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('trackerId', 'issue tracker'));
  }

  /**
   * Finds the tracker for the issues of a service, with its project there: the tracker that the service names, else the
   * oldest of the organization unless the service has an address for new issues; null for none.
   */
  async findOfService(orgId: Id<'org'>, serviceId: Id<'service'>): Promise<IssueTrackerRow | null> {
    const settings = await this.selectFrom('exception_settings as x')
      .select(columns(ExceptionSettingsEntity, 'x', ['trackerId', 'trackerProject', 'issueLink']))
      .where('x.service_id', '=', serviceId)
      .executeTakeFirst();
    const { trackerId = null, trackerProject = null, issueLink = null } = settings ?? {};
    if (trackerId === null && issueLink !== null) return null;
    const [first] = await this.list(orgId);
    const tracker = trackerId === null ? first : await this.get(orgId, trackerId);
    return tracker === undefined ? null : { ...tracker, project: trackerProject ?? tracker.project };
  }

  async insert(tracker: Omit<IssueTrackerRow, 'id'>): Promise<IssueTrackerRow> {
    const row = { id: newId('tracker'), ...tracker };
    await this.insertInto('issue_trackers').values(toColumns(IssueTrackerEntity, row)).execute();
    return row;
  }

  async save(id: Id<'tracker'>, changed: Partial<Omit<IssueTrackerRow, 'id' | 'orgId' | 'kind'>>): Promise<void> {
    await this.updateTable('issue_trackers').set(toColumns(IssueTrackerEntity, changed)).where('id', '=', id).execute();
  }

  async delete(id: Id<'tracker'>): Promise<void> {
    await this.deleteFrom('issue_trackers').where('id', '=', id).execute();
  }

  /** Claims the creation of a group's issue until then. False while somebody else creates it, or once it has one. */
  async claim(
    issue: { readonly groupId: Id<'group'>; readonly trackerId: Id<'tracker'>; readonly project: string },
    now: Temporal.Instant,
    claimedUntil: Temporal.Instant,
  ): Promise<boolean> {
    const values = { ...issue, number: null, claimedUntil };
    const claimed = await this.insertInto('group_issues')
      .values(toColumns(GroupIssueEntity, values))
      .onConflict((conflict) =>
        conflict
          .column('group_id')
          .doUpdateSet(toColumns(GroupIssueEntity, values))
          .where('group_issues.number', 'is', null)
          .where('group_issues.claimed_until', '<=', now),
      )
      .returning('group_id')
      .executeTakeFirst();
    return claimed !== undefined;
  }

  async saveIssue(
    issue: Pick<GroupIssueRow, 'groupId' | 'trackerId' | 'project' | 'number' | 'claimedUntil'>,
  ): Promise<void> {
    const values = toColumns(GroupIssueEntity, issue);
    await this.insertInto('group_issues')
      .values(values)
      .onConflict((conflict) => conflict.column('group_id').doUpdateSet(values))
      .execute();
  }

  async findIssue(groupId: Id<'group'>): Promise<GroupIssueRow | null> {
    const issue = await this.selectFrom('group_issues as i')
      .select(columns(GroupIssueEntity, 'i'))
      .where('i.group_id', '=', groupId)
      .where('i.number', 'is not', null)
      .executeTakeFirst();
    return issue ?? null;
  }

  /** Claims asking for the state of a group's issue. False if it was asked for since then. */
  async claimState(groupId: Id<'group'>, now: Temporal.Instant, since: Temporal.Instant): Promise<boolean> {
    const claimed = await this.updateTable('group_issues')
      .set({ asked_at: now })
      .where('group_id', '=', groupId)
      .where(({ eb, or }) => or([eb('asked_at', 'is', null), eb('asked_at', '<=', since)]))
      .returning('group_id')
      .executeTakeFirst();
    return claimed !== undefined;
  }

  async saveState(groupId: Id<'group'>, state: Pick<GroupIssueRow, 'state' | 'isDone' | 'stateAt'>): Promise<void> {
    await this.updateTable('group_issues')
      .set(toColumns(GroupIssueEntity, state))
      .where('group_id', '=', groupId)
      .execute();
  }

  /** Forgets the issue of a group, or the claim to create it. */
  async forgetIssue(groupId: Id<'group'>): Promise<void> {
    await this.deleteFrom('group_issues').where('group_id', '=', groupId).execute();
  }

  #trackers(orgId: Id<'org'>) {
    return this.selectFrom('issue_trackers as t')
      .select(columns(IssueTrackerEntity, 't'))
      .where('t.org_id', '=', orgId);
  }
}
