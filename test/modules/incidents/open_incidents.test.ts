import { expect, test } from 'vitest';

import type { Firing } from '#modules/incidents/paging/firing.ts';
import { openIncidents } from '#modules/incidents/open_incidents.ts';
import { storesOf } from '#modules/stores.ts';
import { watchedSession } from '#test/kit/watched_session.ts';
import { world } from '#test/kit/world.ts';

const LIMIT = { incidents: 3, minutes: 60 };

test('incidents of many services open in as many statements as one, and each has its number, timers, timeline and audit row', async () => {
  const w = await world();
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  const steps = [0, 10].map((afterMinutes) => ({ afterMinutes, channels: ['sms'], targetUserIds: [w.owner.userId] }));
  const policy = await w.expectOk('create_escalation_policy', { teamId, name: 'Wake somebody', steps });
  for (let index = 0; index < 6; index += 1) {
    const { serviceId } = await w.given.service();
    const config = { metricName: 'latency', comparator: '>', threshold: 1 };
    const rule = { serviceId, name: `Rule ${index}`, kind: 'metric_threshold', config };
    await w.expectOk('create_alert_rule', { ...rule, escalationPolicyId: policy.policyId });
  }
  const { db, clock } = w.context;
  const rules = await storesOf(db.session()).activeRules.list('metric_threshold');
  const firings = rules.map((rule): Firing => {
    const cause = { kind: 'metric_threshold', exceptionGroupId: null, severity: 'error', details: {} } as const;
    return { rule, cause: { ...cause, title: rule.name, sentence: 'it is slow' } };
  });
  const open = async (some: readonly Firing[]): Promise<number> => {
    let statements = 0;
    await db.transaction(async (session) => {
      const stores = storesOf(watchedSession(session, async () => void (statements += 1)));
      await openIncidents({ now: clock.now(), stores, enqueue: () => {}, limitReached: () => {} }, some, LIMIT);
    });
    return statements;
  };

  const [first, ...others] = firings;
  expect(await open(others)).toBe(await open([first!]));

  const opened = await db.sql.rows(
    `select i.number, i.title, count(distinct s.step_index)::int as steps, count(distinct t.event)::int as events,
       count(distinct a.id)::int as audited
     from incidents i join incident_steps s on s.incident_id = i.id join incident_timeline t on t.incident_id = i.id
       join audit_log a on a.target = i.id group by i.id order by i.number`,
  );
  const ofEach = { steps: 2, events: 1, audited: 1 };
  expect(opened).toEqual(
    [...others, first!].map(({ rule }, index) => ({ number: index + 1, title: rule.name, ...ofEach })),
  );

  expect(await open(firings)).toBeLessThan(5);
  expect(await db.sql.rows('select distinct occurrences from incidents')).toEqual([{ occurrences: 2 }]);
});
