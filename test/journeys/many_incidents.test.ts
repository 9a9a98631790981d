import { expect, test } from 'vitest';

import { pace } from '#test/kit/pace.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { openMany } from '#test/kit/many_incidents.ts';

const INCIDENTS = 1_000;
const CHANNELS = ['sms', 'call'] as const;
/** Processor time: the work that an answer waits for, whatever else the machine does. */
const RESPONSIVE_MS = 5_000;
const ASKED_EVERY_MS = 50;

test(
  'a thousand incidents at once lead to a handful of messages, every log is complete, and the API answers',
  { timeout: 400_000 },
  async () => {
    const w = await staffedWorld();
    const [teamId, anna] = await w.staff.teamOf('Anna');
    const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: CHANNELS, targetUserIds: [anna.userId] }]);
    const watch = watchApi(w);

    await openMany(w, alert, INCIDENTS);
    await w.runUntilIdle();
    expect([w.phone.messages.length, w.phone.calls.length]).toEqual([3, 3]);
    await w.advance({ minutes: 1 });
    const answersMs = await watch.stop();

    expect([w.phone.messages.length, w.phone.calls.length]).toEqual([4, 4]);
    expect(w.phone.messages[3]?.body).toContain('997 more incidents');
    // Calls ring by the real clock: on a busy machine some have ended by now, and nobody has answered.
    const unlogged = await w.context.db.sql.rows(
      `select id from incidents where (select count(*) from notifications n where n.incident_id = incidents.id
       and n.channel = any($1) and n.status <> 'queued' and n.provider_id is not null) <> $2`,
      [[...CHANNELS], CHANNELS.length],
    );
    expect(unlogged).toEqual([]);
    const untold = await w.context.db.sql.rows(
      `select id from incidents where (select count(*) from incident_timeline t
       where t.incident_id = incidents.id and t.event = 'page_sent') <> $1`,
      [CHANNELS.length],
    );
    expect(untold).toEqual([]);
    expect(quantile(answersMs, 0.99)).toBeLessThan(RESPONSIVE_MS);

    await w.phone.reply({ from: anna.phone, body: 'ACK ALL' });
    expect((await w.expectOk('list_incidents', { status: 'acknowledged' })).total).toBe(INCIDENTS);
  },
);

/** Asks for incidents again and again, as people do who want to know what is going on. */
function watchApi(w: StaffedWorld): { stop(): Promise<number[]> } {
  const answersMs: number[] = [];
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    for await (const _ of pace(ASKED_EVERY_MS)) {
      if (over.signal.aborted) return;
      const before = process.threadCpuUsage();
      await w.expectOk('list_incidents', { status: 'acknowledged' });
      const { user, system } = process.threadCpuUsage(before);
      answersMs.push((user + system) / 1_000);
    }
  };
  const watching = watch();
  return {
    async stop() {
      over.abort();
      await watching;
      return answersMs.toSorted((a, b) => a - b);
    },
  };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
