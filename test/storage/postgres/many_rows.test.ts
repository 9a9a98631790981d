import { describe, expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import { createPlace } from '#modules/places/operations/places.ts';
import { storesOf } from '#modules/stores.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';

/** A statement of PostgreSQL takes 65,535 parameters: one insert of so many rows has more. */
describe('more rows than one statement has parameters for are all stored', () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, nth) => nth);

  async function worldWithIncident() {
    const w = await staffedWorld();
    const [teamId, anna] = await w.staff.teamOf('Anna');
    const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
    const incidentId = await alert.trigger();
    const stores = storesOf(w.context.db.session());
    return { w, stores, now: w.clock.now(), incidentId, userId: anna.userId };
  }

  test('when a step pages a thousand people by four channels', async () => {
    const { w, stores, now, incidentId, userId } = await worldWithIncident();
    const pages = numbers(4_100).map((stepIndex) => {
      const page = { orgId: w.orgId, incidentId, stepIndex, kind: 'page', userId, channel: 'sms' } as const;
      return { ...page, address: '+31612345678', status: 'queued', reason: null } as const;
    });
    expect(new Set(await stores.notifications.insert(pages, now)).size).toBe(4_100);
    expect(await stores.notifications.insert(pages, now)).toEqual([]);
  });

  test('when one change is followed by thousands of jobs', async () => {
    const { stores, now } = await worldWithIncident();
    const jobs = numbers(16_400).map((nth) => ({ jobName: 'nothing', payload: { nth }, runAt: null }));
    expect(new Set(await stores.outbox.insert(jobs, now)).size).toBe(16_400);
  });

  test('when many changes of incidents are announced in many places', async () => {
    const { w, stores, now, incidentId } = await worldWithIncident();
    const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
    const settings = { address: 'https://hooks.example.com/tocsin' };
    const routes = [{ serviceId: null, teamId: null, atLeast: null }];
    const input = { kind: 'webhook', name: 'Operations', settings, routes } as const;
    const { placeId } = (await runOperation(w, createPlace, owner, input)).place as { placeId: Id<'place'> };
    const of = { orgId: w.orgId, placeId, incidentId, noteId: null, event: 'triggered' } as const;
    const deliveries = numbers(6_000).map((nth) => ({ ...of, source: `timeline ${nth}` }));
    expect(await stores.placeDeliveries.insert(deliveries, now)).toBe(6_000);
    expect(await stores.placeDeliveries.insert(deliveries, now)).toBe(0);
  });
});
