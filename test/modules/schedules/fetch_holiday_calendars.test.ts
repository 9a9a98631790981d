import { expect, test } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { fetchHolidayCalendars } from '#modules/schedules/fetch_holiday_calendars.ts';
import {
  createHolidayCalendar,
  listHolidayCalendars,
  refreshHolidayCalendar,
} from '#modules/schedules/operations/holiday_calendars.ts';
import { givenTeam } from '#test/modules/schedules/given_team.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

const CALENDAR = ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'DTSTART;VALUE=DATE:20260305', 'END:VEVENT', 'END:VCALENDAR'].join(
  '\r\n',
);

test('an address is read once a day, and the last good answer counts while it cannot be read', async () => {
  const { w, cleo } = await givenTeam(shared);
  const run = (operation: AnyOperation, input: object) =>
    runOperation(w, operation, memberCaller(w.orgId, cleo.userId, 'responder'), input);
  const { calendarId } = await run(createHolidayCalendar, { name: 'Holidays', url: 'https://holidays.example/a.ics' });
  let answer: () => Promise<Response> = () => Promise.resolve(new Response(CALENDAR));
  let asked = 0;
  const fetchCalendar = () => {
    asked += 1;
    return answer();
  };
  const fetchAll = () => fetchHolidayCalendars({ db: w.context.db, clock: w.clock, log: w.context.log, fetchCalendar });
  const shown = async () => (await run(listHolidayCalendars, {})).calendars[0];

  await fetchAll();
  await fetchAll();
  expect(asked).toBe(1);
  expect(await shown()).toMatchObject({ dates: ['2026-03-05'], fault: null, fetchedAt: '2026-03-04T12:00:00.000Z' });

  w.clock.advance({ hours: 25 });
  answer = () => Promise.reject(new Error('https://holidays.example/a.ics is gone'));
  await fetchAll();
  expect(await shown()).toMatchObject({
    dates: ['2026-03-05'],
    fault: expect.stringContaining('does not answer'),
    fetchedAt: '2026-03-04T12:00:00.000Z',
  });

  answer = () => Promise.resolve(new Response('<html>'));
  await run(refreshHolidayCalendar, { calendarId });
  await fetchAll();
  expect(await shown()).toMatchObject({ dates: ['2026-03-05'], fault: 'the answer is not an iCalendar file' });
});
