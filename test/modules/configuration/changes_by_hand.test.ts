import { expect, test } from 'vitest';

import { operatorIn } from '#actions/operator.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { deleteHolidayCalendar, updateHolidayCalendar } from '#modules/schedules/operations/holiday_calendars.ts';
import { storesOf } from '#modules/stores.ts';
import { runOperation } from '#test/kit/run_operation.ts';
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
