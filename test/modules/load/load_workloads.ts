import { loadOnPeople } from '#modules/load/decide/load_on_people.ts';
import { asId } from '#kernel/ids.ts';
import { nightFinder } from '#modules/schedules/decide/layered_shifts.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

const userId = asId('user', 'user_1');
const HOUR_MS = 3_600_000;

export default {
  'incidents that one person acknowledges, each paged four times': (count) => {
    const pages = Array.from({ length: 4 * count }, (_, index) => {
      return { userId, incidentId: `incident_${index >> 2}`, atMs: index, wakes: true };
    });
    const incidents = Array.from({ length: count }, (_, index) => {
      const by = { acknowledgedBy: userId, resolvedBy: userId, acknowledgedMs: 1e6, resolvedMs: 1e6 };
      return { id: `incident_${index}`, ruleId: asId('rule', 'rule_1'), triggeredMs: 0, ...by };
    });
    return () => loadOnPeople({ pages, incidents, shifts: [], memberIds: [userId], zoneOf: () => 'UTC' });
  },
  'nights of hours': (count) => {
    const nightOf = nightFinder();
    return () => Array.from({ length: count }, (_, index) => nightOf(index * HOUR_MS, 'Europe/Amsterdam'));
  },
} satisfies Workloads;
