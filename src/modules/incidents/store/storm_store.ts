import type { CauseKind } from '#modules/incidents/decide/incident_limit.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  anyOf,
  columns,
  holdLocks,
  insertSlices,
  PostgresStore,
  type Row,
  rowsOf,
  toColumns,
} from '#storage/postgres/store.ts';
import { IncidentEntity, IncidentMemberEntity } from '#storage/postgres/entities/incidents.ts';

/** Member that would have opened an incident of its own. */
export type NewMember = Pick<
  Row<typeof IncidentMemberEntity>,
  'dedupKey' | 'exceptionGroupId' | 'title' | 'severity'
> & { readonly ruleId: Id<'rule'> | null };

const SHOWN = ['ruleId', 'exceptionGroupId', 'title', 'severity', 'occurrences', 'joinedAt', 'endedAt'] as const;

export type StormMember = Pick<Row<typeof IncidentMemberEntity>, (typeof SHOWN)[number]>;

/** Filter of members; all of them if empty. */
export interface MembersOf {
  readonly groupId?: Id<'group'>;
  readonly ruleId?: Id<'rule'>;
  /** Prefix of the members' keys. */
  readonly keyStart?: string;
  /** Deduplication keys to look for. */
  readonly keys?: readonly string[];
}

interface Source {
  readonly serviceId: Id<'service'>;
  readonly kind: CauseKind;
}

/** Incidents that stand for others, which would have been too many. Incidents of a service are opened under its lock. */
export class StormStore extends PostgresStore {
  /** Locks opening: until the transaction ends nobody else opens incidents of these services and kinds. */
  async holdOpening(sources: readonly Source[]): Promise<void> {
    await holdLocks(
      this.session,
      sources.map(({ serviceId, kind }) => `open ${serviceId}${kind}`),
    );
  }

  /** Incidents opened and members joined since then, of each source in the order given; counts no further than `most`. */
  async countRecent(sources: readonly Source[], since: Temporal.Instant, most: number): Promise<number[]> {
    const wanted = rowsOf('w', {
      place: ['integer', sources.map((_, index) => index)],
      service_id: ['text', sources.map(({ serviceId }) => serviceId)],
      kind: ['text', sources.map(({ kind }) => kind)],
    });
    const counted = await this.selectFrom(wanted)
      .select(({ selectFrom }) => {
        const opened = selectFrom('incidents as i')
          .select('i.id')
          .whereRef('i.service_id', '=', 'w.service_id')
          .whereRef('i.kind', '=', 'w.kind')
          .where('i.triggered_at', '>', since)
          .where('i.storm_until', 'is', null)
          .limit(most);
        const joined = selectFrom('incident_members as m')
          .select('m.incident_id as id')
          .whereRef('m.service_id', '=', 'w.service_id')
          .whereRef('m.kind', '=', 'w.kind')
          .where('m.joined_at', '>', since)
          .limit(most);
        const both = selectFrom(opened.as('o'))
          .select('o.id')
          .unionAll(selectFrom(joined.as('j')).select('j.id'));
        return selectFrom(both.as('r'))
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .$asScalar()
          .$notNull()
          .as('count');
      })
      .orderBy('w.place')
      .execute();
    return counted.map(({ count }) => count);
  }

  /** Returns the keys under which something is open, and adds one occurrence to each. */
  async countOpen(dedupKeys: readonly string[], now: Temporal.Instant): Promise<Set<string>> {
    const open = await this.db
      .with('own', (db) =>
        db
          .updateTable('incidents')
          .set(({ eb }) => ({
            occurrences: eb('occurrences', '+', 1),
            counted_at: now,
            clear_since: null,
            updated_at: now,
          }))
          .where('id', 'in', ({ selectFrom }) =>
            // Everybody locks several incidents in this order.
            selectFrom('incidents as open')
              .select('open.id')
              .where('open.dedup_key', '=', anyOf(dedupKeys))
              .where('open.status', '<>', 'resolved')
              .orderBy('open.id')
              .forUpdate(),
          )
          .returning('dedup_key'),
      )
      .with('joined', (db) =>
        db
          .updateTable('incident_members')
          .set(({ eb }) => ({ occurrences: eb('occurrences', '+', 1), counted_at: now, clear_since: null }))
          .where('dedup_key', '=', anyOf(dedupKeys))
          .where('ended_at', 'is', null)
          .returning('dedup_key'),
      )
      .selectFrom('own')
      .select('dedup_key')
      .unionAll((eb) => eb.selectFrom('joined').select('dedup_key'))
      .execute();
    return new Set(open.map(({ dedup_key }) => dedup_key));
  }

  /** The storm that accepts members now, of those whose key begins so; locked until the transaction ends. */
  async lockCurrent(
    { serviceId, kind }: Source,
    keyStart: string,
    now: Temporal.Instant,
  ): Promise<Pick<Row<typeof IncidentEntity>, 'id' | 'severity' | 'details'> | null> {
    const storm = await this.selectFrom('incidents as i')
      .select(columns(IncidentEntity, 'i', ['id', 'severity', 'details']))
      .where('i.service_id', '=', serviceId)
      .where('i.kind', '=', kind)
      .where(({ fn, val }) => fn<boolean>('starts_with', ['i.dedup_key', val(keyStart)]))
      .where('i.status', '<>', 'resolved')
      .where('i.storm_until', '>', now)
      .orderBy('i.triggered_at', 'desc')
      .limit(1)
      .forUpdate()
      .executeTakeFirst();
    return storm ?? null;
  }

  async addMembers(
    incidentId: Id<'incident'>,
    { serviceId, kind }: Source,
    members: readonly NewMember[],
    now: Temporal.Instant,
  ): Promise<void> {
    const rows = members.map(({ dedupKey, ruleId, exceptionGroupId, title, severity }) => {
      const member = { dedupKey, ruleId, exceptionGroupId, title, severity };
      return toColumns(IncidentMemberEntity, { incidentId, serviceId, kind, ...member, joinedAt: now, countedAt: now });
    });
    for (const slice of insertSlices(rows)) {
      await this.insertInto('incident_members')
        .values(slice)
        .onConflict((conflict) =>
          conflict
            .columns(['incident_id', 'dedup_key'])
            .doUpdateSet(({ eb }) => ({
              ended_at: null,
              clear_since: null,
              counted_at: now,
              joined_at: now,
              occurrences: eb('incident_members.occurrences', '+', 1),
            })),
        )
        .execute();
    }
  }

  async count(incidentId: Id<'incident'>): Promise<number> {
    const { count } = await this.selectFrom('incident_members')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('incident_id', '=', incidentId)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Says what the storm stands for now, and until when it accepts members. */
  async describe(
    incidentId: Id<'incident'>,
    storm: Pick<Row<typeof IncidentEntity>, 'title' | 'severity' | 'details'> & { readonly members: number },
    until: Temporal.Instant,
    now: Temporal.Instant,
  ): Promise<void> {
    const { title, severity, details, members } = storm;
    const changed = {
      title,
      severity,
      details,
      occurrences: members,
      stormUntil: until,
      countedAt: now,
      updatedAt: now,
    };
    await this.updateTable('incidents').set(toColumns(IncidentEntity, changed)).where('id', '=', incidentId).execute();
  }

  /** Newest first. */
  async listMembers(incidentId: Id<'incident'>, limit: number): Promise<StormMember[]> {
    return await this.selectFrom('incident_members as m')
      .select(columns(IncidentMemberEntity, 'm', SHOWN))
      .where('m.incident_id', '=', incidentId)
      .orderBy('m.joined_at', 'desc')
      .orderBy('m.dedup_key')
      .limit(limit)
      .execute();
  }

  /** The storms that stand for the exception group. */
  async listOfGroup(groupId: Id<'group'>): Promise<Id<'incident'>[]> {
    const storms = await this.selectFrom('incident_members')
      .select('incident_id')
      .where('exception_group_id', '=', groupId)
      .where('ended_at', 'is', null)
      .orderBy('incident_id')
      .execute();
    return storms.map(({ incident_id }) => incident_id);
  }

  /** The storms that stand for something of the service under a key which begins so. */
  async listWithKey(serviceId: Id<'service'>, keyStart: string): Promise<Id<'incident'>[]> {
    const storms = await this.selectFrom('incident_members')
      .select('incident_id')
      .distinct()
      .where('service_id', '=', serviceId)
      .where('ended_at', 'is', null)
      .where(({ fn, val }) => fn<boolean>('starts_with', ['dedup_key', val(keyStart)]))
      .orderBy('incident_id')
      .execute();
    return storms.map(({ incident_id }) => incident_id);
  }

  /** Ends what the storm, whose row is locked, stands for: all of it, or what is of the group, of the rule, or under such a key. */
  async endMembers(
    incidentId: Id<'incident'>,
    { groupId, ruleId, keyStart, keys }: MembersOf,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.updateTable('incident_members')
      .set({ ended_at: now })
      .where('incident_id', '=', incidentId)
      .where('ended_at', 'is', null)
      .$if(groupId !== undefined, (query) => query.where('exception_group_id', '=', groupId ?? null))
      .$if(ruleId !== undefined, (query) => query.where('rule_id', '=', ruleId ?? null))
      .$if(keyStart !== undefined, (query) =>
        query.where(({ fn, val }) => fn<boolean>('starts_with', ['dedup_key', val(keyStart ?? '')])),
      )
      .$if(keys !== undefined, (query) => query.where('dedup_key', '=', anyOf(keys ?? [])))
      .execute();
  }

  async hasOpenMembers(incidentId: Id<'incident'>): Promise<boolean> {
    const member = await this.selectFrom('incident_members')
      .select('dedup_key')
      .where('incident_id', '=', incidentId)
      .where('ended_at', 'is', null)
      .limit(1)
      .executeTakeFirst();
    return member !== undefined;
  }
}
