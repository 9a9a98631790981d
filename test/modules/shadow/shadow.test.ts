import { expect, test } from 'vitest';

import { setAlertRoutes } from '#modules/alerts/operations/set_alert_routes.ts';
import { escalateIncident } from '#modules/incidents/operations/escalate_incident.ts';
import { reassignIncident } from '#modules/incidents/operations/reassignment.ts';
import { reopenIncident } from '#modules/incidents/operations/resolve_incident.ts';
import { unacknowledgeIncident } from '#modules/incidents/operations/acknowledge_incident.ts';
import { endShadowIncidents } from '#modules/shadow/end_shadow_incidents.ts';
import {
  compareWithTool,
  getShadowMode,
  setOrganizationShadow,
  setServiceShadow,
} from '#modules/shadow/operations/shadow_mode.ts';
import { expireAcknowledgements } from '#modules/incidents/paging/acknowledgement_timeout.ts';
import { alertedService } from '#test/kit/alert_senders.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';

async function shadowedService() {
  const alerted = await alertedService();
  const { w, serviceId } = alerted;
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  return {
    ...alerted,
    owner,
    setShadow: (enabled: boolean) => runOperation(w, setServiceShadow, owner, { serviceId, enabled }),
    endShadow: () => endShadowIncidents({ db: w.context.db, clock: w.clock, log: w.context.log, onOutbox: () => {} }),
    pages: () => w.phone.messages.map(({ body }) => body),
    async texts(incidentId: string): Promise<string[]> {
      const { timeline } = await w.expectOk('get_incident', { incidentId });
      return timeline.map(({ text }: { text: string }) => text);
    },
  };
}

test('in shadow mode an incident says who would have been paged when and how, and pages nobody', async () => {
  const { w, send, setShadow, texts, pages, anna } = await shadowedService();
  expect(await setShadow(true)).toMatchObject({ shadowSince: expect.any(String), openIncidents: 0 });
  const { incidentId } = (await send('/events', { dedupKey: 'disk', title: 'Disk full' })).body;
  await w.runUntilIdle();
  await w.advance({ minutes: 20 });
  expect(pages()).toEqual([]);
  expect(await texts(incidentId)).toEqual([
    'Triggered by an alert from JSON events: Disk full.',
    expect.stringContaining('shadow mode'),
    'Step 1 would have paged Anna by SMS. Nobody was paged: shadow mode.',
    'Step 2 would have paged Anna by SMS. Nobody was paged: shadow mode.',
  ]);
  const shown = await w.expectOk('get_incident', { incidentId });
  expect(shown).toMatchObject({ isShadow: true, notifications: [] });
  await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
  await send('/events', { dedupKey: 'disk', action: 'resolve' });
  await w.runUntilIdle();
  expect(pages()).toEqual([]);
  const audit = await w.context.db.sql.rows<{ after: object }>(
    "select after from audit_log where action = 'set_service_shadow'",
    [],
  );
  expect(audit).toMatchObject([{ after: { shadowSince: expect.any(String) } }]);
});

test('an incident of shadow mode never pages later, whatever happens to it', async () => {
  const { w, send, pages, texts, policyId, serviceId, owner } = await shadowedService();
  await runOperation(w, setOrganizationShadow, owner, { enabled: true });
  const route = { conditions: [], outcome: 'page', policyId, pagesOnRise: true };
  await runOperation(w, setAlertRoutes, owner, { serviceId, routes: [route] });
  const first = (await send('/events', { dedupKey: 'a', title: 'A', severity: 'warning' })).body.incidentId;
  await w.runUntilIdle();
  const steps = async () => (await w.expectOk('get_incident', { incidentId: first })).escalation.stepCount;
  for (const change of [
    () => runOperation(w, escalateIncident, owner, { incidentId: first, stepIndex: 1 }),
    async () =>
      runOperation(w, reassignIncident, owner, {
        incidentId: first,
        to: { policyId },
        seen: { status: 'triggered', stepCount: await steps() },
      }),
    () => w.expectOk('acknowledge_incident', { incidentId: first }),
    () => runOperation(w, unacknowledgeIncident, owner, { incidentId: first }),
    () => w.expectOk('resolve_incident', { incidentId: first }),
    () => runOperation(w, reopenIncident, owner, { incidentId: first }),
    () => send('/events', { dedupKey: 'a', title: 'A', severity: 'critical' }),
    () => expireAcknowledgements({ db: w.context.db, clock: w.clock, log: w.context.log, onOutbox: () => {} }),
  ]) {
    await change();
    await w.advance({ minutes: 16 });
  }
  // Out of shadow mode its timers still page nobody.
  await runOperation(w, setOrganizationShadow, owner, { enabled: false });
  await w.advance({ minutes: 16 });
  expect(pages()).toEqual([]);
  expect((await texts(first)).filter((text) => text.includes('would have paged')).length).toBeGreaterThan(4);
});

test('when shadow mode ends its incidents are resolved, and what goes on opens one that pages', async () => {
  const { w, send, setShadow, endShadow, pages, incidents, owner } = await shadowedService();
  await setShadow(true);
  const { incidentId } = (await send('/events', { dedupKey: 'disk', title: 'Disk full' })).body;
  await endShadow();
  expect((await incidents()).map(({ status }) => status)).toEqual(['triggered']);
  expect(await setShadow(false)).toMatchObject({ shadowSince: null, openIncidents: 1 });
  await endShadow();
  expect(await incidents()).toMatchObject([
    { incidentId, status: 'resolved', resolvedBy: { because: 'shadow_ended' } },
  ]);
  await w.runUntilIdle();
  w.clock.advance({ minutes: 1 });
  const again = await send('/events', { dedupKey: 'disk', title: 'Disk full' });
  expect(again.body).toMatchObject({ effect: 'open' });
  expect(again.body.incidentId).not.toBe(incidentId);
  await w.runUntilIdle();
  expect(pages()).toEqual([expect.stringContaining('Disk full')]);
  await expect(runOperation(w, reopenIncident, owner, { incidentId })).rejects.toThrow('shadow mode');
});

test('a storm of shadow mode takes nothing that pages', async () => {
  const { w, send, setShadow, pages } = await shadowedService();
  await setShadow(true);
  const flood = (name: string) =>
    Array.from({ length: 30 }, (_, n) => ({ dedupKey: `${name}${n}`, title: `${name} ${n}` }));
  await send('/events', flood('shadow'));
  await setShadow(false);
  const loud = (await send('/events', flood('loud'))).body.events.map(
    ({ incidentId }: { incidentId: string }) => incidentId,
  );
  await w.runUntilIdle();
  const [storm] = loud;
  expect(await w.expectOk('get_incident', { incidentId: storm })).toMatchObject({ isShadow: false });
  expect(pages().length).toBeGreaterThan(0);
});

test('the export of another tool stands beside what would have happened here', async () => {
  const { w, send, setShadow, owner } = await shadowedService();
  await setShadow(true);
  await send('/events', { dedupKey: 'disk', title: 'Disk of db-1 is full' });
  await w.runUntilIdle();
  const at = w.clock.now();
  w.clock.advance({ minutes: 40 });
  await send('/events', { dedupKey: 'cpu', title: 'CPU of web-3 is high' });
  await w.runUntilIdle();
  const csv = [
    'incident_number,description,created_on,resolved_on',
    `1,"Disk full, db-1",${at.add({ minutes: 2 }).toString()},`,
    `2,Certificate expired,${at.add({ minutes: 60 }).toString()},`,
  ].join('\r\n');
  const compared = await runOperation(w, compareWithTool, owner, {
    export: csv,
    from: at.subtract({ minutes: 5 }).toString(),
  });
  expect(compared).toMatchObject({
    counts: { both: 1, onlyOther: 1, onlyHere: 1, paged: 2 },
    rows: [
      {
        other: { title: 'Disk full, db-1' },
        here: {
          title: 'Disk of db-1 is full',
          steps: [{ step: 0, isShadow: true, people: [{ name: 'Anna', channels: ['sms'] }] }, { step: 1 }],
        },
      },
      { other: null, here: { title: 'CPU of web-3 is high' } },
      { other: { title: 'Certificate expired' }, here: null },
    ],
  });
  expect(await runOperation(w, getShadowMode, owner, {})).toMatchObject({
    organizationSince: null,
    services: [{ name: 'shop' }],
    openIncidents: 2,
  });
  await expect(runOperation(w, compareWithTool, owner, { export: 'nothing' })).rejects.toThrow('holds no incidents');
});
