import { type Expression, sql } from 'kysely';

import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import type { Row } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import type { IncidentEntity } from '#storage/postgres/entities/incidents.ts';

/** An incident that a rule has opened and that is not resolved. */
export type OpenIncident = Pick<Row<typeof IncidentEntity>, 'countedAt' | 'clearSince'> & {
  readonly incidentId: Id<'incident'>;
  readonly ruleId: Id<'rule'>;
  readonly openedAt: Temporal.Instant;
  /** Id of the rule, and for a part of a rule by label a dot and the part. */
  readonly dedupKey: string;
  /** True when the incident is a storm that stands for this rule among others. */
  readonly isMember: boolean;
};

/** Builds the query for the open incidents of rules of a kind: their own, and storms that stand for them. */
export function openIncidents(db: Session['db'], kind: RuleKind | Expression<RuleKind>) {
  const incidents = db
    .selectFrom('incidents as i')
    .select((eb) => [
      'i.id as incidentId',
      eb.ref('i.rule_id').$notNull().as('ruleId'),
      'i.triggered_at as openedAt',
      'i.counted_at as countedAt',
      'i.clear_since as clearSince',
      'i.dedup_key as dedupKey',
      sql<boolean>`false`.as('isMember'),
    ])
    .where('i.status', '<>', 'resolved')
    .where('i.storm_until', 'is', null)
    .where('i.kind', '=', kind)
    .where('i.rule_id', 'is not', null);
  const members = db
    .selectFrom('incident_members as m')
    .select((eb) => [
      'm.incident_id as incidentId',
      eb.ref('m.rule_id').$notNull().as('ruleId'),
      'm.joined_at as openedAt',
      'm.counted_at as countedAt',
      'm.clear_since as clearSince',
      'm.dedup_key as dedupKey',
      sql<boolean>`true`.as('isMember'),
    ])
    .where('m.ended_at', 'is', null)
    .where('m.kind', '=', kind)
    .where('m.rule_id', 'is not', null);
  return db.selectFrom(incidents.unionAll(members).as('open')).selectAll('open');
}
