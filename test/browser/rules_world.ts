import type { Page } from 'playwright-core';

import { newId } from '#kernel/ids.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import type { ConsoleWorld, Visitor } from '#test/browser/console_world.ts';
import { type PointInput, toBatch } from '#test/kit/ingest_jobs.ts';
import { columnsOf } from '#test/kit/metrics/points.ts';

export interface RulesSetting {
  readonly serviceId: string;
  readonly policyId: string;
}

/** A service whose latency was above 800 ms for 20 minutes of each of the last days, and a policy that mails somebody. */
export async function rulesSetting(h: ConsoleWorld, { userId }: Visitor, days = 2): Promise<RulesSetting> {
  const { serviceId } = await h.given.service({ name: 'checkout' });
  const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
  await h.expectOk('add_team_member', { teamId, userId, phone: '+31612345678' });
  const startAt = h.clock
    .now()
    .subtract({ hours: 24 * 40 })
    .toString();
  await h.expectOk('create_schedule', { teamId, name: 'Primary', startAt, rotationConfig: { userIds: [userId] } });
  const steps = [{ afterMinutes: 0, channels: ['email'], useSchedule: true }];
  const { policyId } = await h.expectOk('create_escalation_policy', { teamId, name: 'Wake somebody', steps });
  const now = h.clock.now();
  const points = Array.from({ length: days * 1_440 }, (_, minute): PointInput[] => {
    const at = now.subtract({ minutes: minute + 1 });
    const isSlow = minute % 1_440 >= 600 && minute % 1_440 < 620;
    const value = (isSlow ? 1_200 : 300) + 80 * Math.sin(minute / 90);
    return [
      { name: 'http_request_duration_ms', at, value, labels: { route: minute % 2 === 0 ? '/pay' : '/cart' } },
      { name: 'queue_depth', at, value: 40 + 30 * Math.sin(minute / 200) },
    ];
  }).flat();
  const writer = new MetricWriter(h.context.clickhouse);
  await writer.insert([{ serviceId, points: columnsOf(toBatch(points)) }], newId('service'));
  return { serviceId, policyId };
}

/** Presses keys one after the other. */
export async function pressKeys(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}
