import { expect, test } from 'vitest';

import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';

test('incidents of a metric rule have its severity', async () => {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  await setOfRule(w, alert.ruleId, { severity: 'warning', runbookUrl: 'https://r.example.com/7' });
  await runStorePoints(w.runtime, alert.serviceId, [{ name: 'latency', at: w.clock.now(), value: 250, labels: {} }]);
  await w.evaluate();
  const [incident] = (await w.expectOk('list_incidents', {})).incidents;
  expect(incident).toMatchObject({ ruleId: alert.ruleId, severity: 'warning' });
  expect(w.phone.messages).toHaveLength(1);
});
