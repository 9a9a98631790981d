import { expect, test } from 'vitest';

import { operatorIn } from '#actions/operator.ts';
import { getConsoleOperation } from '#actions/registry.ts';
import { showAlertKey } from '#modules/alerts/operations/alert_keys.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { deleteHolidayCalendar, updateHolidayCalendar } from '#modules/schedules/operations/holiday_calendars.ts';
import { storesOf } from '#modules/stores.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

const FILE = `
version: 1
calendars:
  - { key: holidays, name: Holidays, dates: ['2031-12-25'] }
`;

test('refuses changes of a calendar by hand where the organization has chosen so', async () => {
  const w = await shared.forOrganization();
  const person = operatorIn(w.orgId);
  const request = { text: FILE, fileName: 'tocsin.yaml', prune: false };
  const origin = { requestId: 'req_test', address: null };
  await applyConfiguration(w.context.actions, person, origin, request);
  const calendars = async () => await storesOf(w.context.db.session()).holidayCalendars.list(w.orgId);
  const [calendar] = await calendars();
  const named = { calendarId: calendar?.id };
  await w.context.db.sql.run("update organizations set managed_changes = 'refused' where id = $1", [w.orgId]);
  const refused = { code: 'conflict', message: expect.stringContaining('tocsin.yaml') };
  const without = { ...named, name: 'Holidays', dates: [] };
  await expect(runOperation(w, updateHolidayCalendar, person, without)).rejects.toMatchObject(refused);
  await expect(runOperation(w, deleteHolidayCalendar, person, named)).rejects.toMatchObject(refused);
  expect(await calendars()).toMatchObject([{ dates: ['2031-12-25'] }]);
});

const WITH_ROUTES = `
version: 1
people: [{ key: anna, name: Anna, email: anna@example.com }]
teams: [{ key: payments, name: Payments, members: [{ person: anna }] }]
policies:
  - { key: wake, team: payments, name: Wake, steps: [{ afterMinutes: 0, channels: [call], people: [anna] }] }
  - { key: mail, team: payments, name: Mail, steps: [{ afterMinutes: 0, channels: [email], people: [anna] }] }
services: [{ key: checkout, name: checkout, policy: wake, capabilities: [oncall] }]
`;

test('refuses another policy of the last route with a key of alerts, and shows the key without one', async () => {
  const w = await shared.forOrganization();
  const person = operatorIn(w.orgId);
  const request = { text: WITH_ROUTES, fileName: 'tocsin.yaml', prune: false };
  const origin = { requestId: 'req_test', address: null };
  await applyConfiguration(w.context.actions, person, origin, request);
  await w.context.db.sql.run("update organizations set managed_changes = 'refused' where id = $1", [w.orgId]);
  const [service] = (await w.expectOk('list_services', {})).services;
  const mail = await w.context.db.sql.row<{ id: string }>(
    "select id from escalation_policies where org_id = $1 and name = 'Mail'",
    [w.orgId],
  );
  const { serviceId } = service;
  await expect(runOperation(w, showAlertKey, person, { serviceId, policyId: mail?.id })).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(await runOperation(w, showAlertKey, person, { serviceId })).toMatchObject({ serviceId });
});

test('lets nobody record by hand what a file has made, which its next prune would delete', async () => {
  const w = await shared.forOrganization();
  const { userId } = await w.given.user({ role: 'responder' });
  const { serviceId } = await w.expectOk('create_service', { name: 'by hand' });
  const record = [{ kind: 'service', key: 'gone', id: serviceId, isMade: true }];
  const claim = { file: 'tocsin.yaml', record, forget: [] };
  const responder = memberCaller(w.orgId, userId, 'responder');
  await expect(runOperation(w, getConsoleOperation('record_keys'), responder, claim)).rejects.toMatchObject({
    code: 'forbidden',
  });
  const request = { text: 'version: 1', fileName: 'tocsin.yaml', prune: true };
  const origin = { requestId: 'req_test', address: null };
  await applyConfiguration(w.context.actions, operatorIn(w.orgId), origin, request);
  expect(await w.expectOk('get_service', { serviceId })).toMatchObject({ name: 'by hand' });
});
