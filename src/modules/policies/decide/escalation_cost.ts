import type { Id } from '#kernel/ids.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';

import { declarationOf } from '#modules/contacts/decide/channel.ts';
import { nightFinder } from '#modules/schedules/decide/layered_shifts.ts';
import { type EscalationSetting, simulateEscalation } from './simulate_escalation.ts';

/** The life of an incident, in epoch milliseconds; `closedAt` is null for one that is open still. */
interface IncidentLife {
  readonly openedAt: number;
  readonly closedAt: number | null;
}

interface PersonCost {
  readonly userId: Id<'user'>;
  readonly pages: number;
  /** Nights, from 23:00 to 07:00 in their zone, in which something woke them. */
  readonly nights: number;
}

export interface EscalationCost {
  readonly pages: number;
  readonly nights: number;
  /** People, those with the most pages first. */
  readonly people: readonly PersonCost[];
}

/**
 * Computes whom these incidents would have paged while they were open and nobody answered: the decisions of the engine,
 * with the policy and the contacts of today, and the people who were on call then. Works in steps, one for each
 * incident.
 */
export function* escalationCost(
  setting: EscalationSetting,
  incidents: readonly IncidentLife[],
  zoneOf: (userId: Id<'user'>) => string,
  nowMs: number,
): Steps<EscalationCost> {
  const nightOf = nightFinder();
  const turns = new Map(setting.lastTurns);
  const costs = new Map<Id<'user'>, { pages: number; nights: Set<string> }>();
  for (const { openedAt, closedAt } of incidents) {
    const end = fromEpochMilliseconds(closedAt ?? nowMs);
    for (const { firesAt, pages } of simulateEscalation(setting, fromEpochMilliseconds(openedAt), end, turns)) {
      if (firesAt === null) continue;
      for (const { kind, userId, channel } of pages) {
        if (kind !== 'notify') continue;
        const cost = costs.get(userId) ?? { pages: 0, nights: new Set<string>() };
        costs.set(userId, cost);
        cost.pages += 1;
        const night = declarationOf(channel).wakes ? nightOf(firesAt.epochMilliseconds, zoneOf(userId)) : null;
        if (night !== null) cost.nights.add(night);
      }
    }
    yield;
  }
  const people = [...costs].map(([userId, { pages, nights }]) => ({ userId, pages, nights: nights.size }));
  return {
    pages: people.reduce((sum, { pages }) => sum + pages, 0),
    nights: people.reduce((sum, { nights }) => sum + nights, 0),
    people: people.toSorted((a, b) => b.pages - a.pages),
  };
}
