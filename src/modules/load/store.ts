import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { isChannel, declarationOf } from '#modules/contacts/decide/channel.ts';
import type { LoadIncident, LoadPage } from '#modules/load/decide/load_on_people.ts';
import { anyOf, PostgresStore } from '#storage/postgres/store.ts';

/** Reads the pages of a team's incidents, and what became of these. */
export class LoadReader extends PostgresStore {
  /**
   * Lists at most `limit` pages of incidents of the team that left within `[from, to)`, oldest first. Those that the phone
   * simulator took, with ids that match `simulatedIds`, were a load on nobody.
   */
  async listPages(
    {
      orgId,
      teamId,
      simulatedIds,
    }: { readonly orgId: Id<'org'>; readonly teamId: Id<'team'>; readonly simulatedIds: string },
    { from, to }: { readonly from: Temporal.Instant; readonly to: Temporal.Instant },
    limit: number,
  ): Promise<(LoadPage & { readonly incidentId: Id<'incident'> })[]> {
    const pages = await this.selectFrom('incidents as i')
      .innerJoin('notifications as n', 'n.incident_id', 'i.id')
      .select(['i.id as incidentId', 'n.user_id as userId', 'n.channel', 'n.created_at as at'])
      .where('i.org_id', '=', orgId)
      .where('i.team_id', '=', teamId)
      .where('n.kind', '=', 'page')
      .where('n.status', 'in', ['sent', 'delivered'])
      .where((n) => n.or([n('n.provider_id', 'is', null), n('n.provider_id', 'not like', simulatedIds)]))
      .where('n.created_at', '>=', from)
      .where('n.created_at', '<', to)
      .orderBy('n.created_at')
      .orderBy('n.id')
      .limit(limit)
      .execute();
    return pages.map(({ incidentId, userId, channel, at }) => {
      return {
        incidentId,
        userId,
        atMs: at.epochMilliseconds,
        wakes: isChannel(channel) && declarationOf(channel).wakes,
      };
    });
  }

  /** Returns these incidents as the load counts them, with the names of their rules. */
  async listIncidents(
    ids: readonly Id<'incident'>[],
  ): Promise<(LoadIncident & { readonly ruleName: string | null })[]> {
    const incidents = await this.selectFrom('incidents as i')
      .leftJoin('alert_rules as r', 'r.id', 'i.rule_id')
      .select(['i.id', 'i.rule_id', 'r.name', 'i.triggered_at', 'i.acknowledged_at', 'i.acknowledged_by'])
      .select(['i.resolved_at', 'i.resolved_by'])
      .where('i.id', '=', anyOf(ids))
      .execute();
    return incidents.map((row) => ({
      id: row.id,
      ruleId: row.rule_id,
      ruleName: row.name,
      triggeredMs: row.triggered_at.epochMilliseconds,
      acknowledgedMs: row.acknowledged_at?.epochMilliseconds ?? null,
      acknowledgedBy: personOf(row.acknowledged_by),
      resolvedMs: row.resolved_at?.epochMilliseconds ?? null,
      resolvedBy: personOf(row.resolved_by),
    }));
  }
}

/** Returns the person who did it, or the key with which somebody did; null when it was no person. */
function personOf(by: object | null): string | null {
  if (by === null) return null;
  if ('userId' in by && typeof by.userId === 'string') return by.userId;
  return 'apiKeyId' in by && typeof by.apiKeyId === 'string' ? by.apiKeyId : null;
}
