import { expect, test } from 'vitest';

import { setAgentLimits } from '#modules/agents/operations/agents.ts';
import { listMaintenance, updateMaintenance } from '#modules/maintenance/operations/maintenance.ts';
import { ExemplarStore } from '#modules/metrics/store/exemplar_store.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { inBrowser, PHONE } from '#test/browser/chromium.ts';
import { logIn, openConsole } from '#test/browser/console_world.ts';
import { loaded, thumbOf } from '#test/browser/input.ts';
import { openPath } from '#test/browser/open_path.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';

inBrowser('what people have entered', () => {
  test('a maintenance and the limits of agents survive a reload and the end of the session, and of two changes none is lost', async () => {
    const h = await openConsole();
    const { serviceId: checkoutId } = await h.given.service({ name: 'checkout' });
    await h.incident(checkoutId, 'Checkout is slow');
    const { page, email } = await h.visitor({ path: '/rules', timezoneId: 'Europe/Amsterdam' });
    const dialog = page.getByRole('dialog');
    const openNew = async () => {
      await loaded(page, 'Rules');
      await page.getByRole('button', { name: 'Maintenance' }).click();
      await dialog.getByRole('button', { name: 'New maintenance' }).click();
    };
    await openNew();
    await dialog.getByLabel('What for').fill('Database upgrade');
    await dialog.getByText('Every week').click();
    await dialog.getByLabel('Sat').check();
    await page.reload();
    await openNew();
    await dialog.getByText(/^This continues what you entered/).waitFor();
    expect(await dialog.getByLabel('What for').inputValue()).toBe('Database upgrade');
    expect(await dialog.getByLabel('Sat').isChecked()).toBe(true);
    await dialog.getByRole('combobox', { name: 'Service' }).click();
    await page.getByRole('option', { name: 'checkout' }).click();
    await dialog.getByRole('button', { name: 'Create' }).click();

    await dialog.getByRole('listitem').getByRole('button', { name: 'Edit' }).click();
    await expect.poll(() => dialog.getByLabel('What for').inputValue()).toBe('Database upgrade');
    await dialog.getByLabel('What for').fill('My upgrade');
    const other = memberCaller(h.orgId, h.owner.userId, 'owner');
    const [window] = (await runOperation(h, listMaintenance, other, {})).windows;
    const { maintenanceId, updatedAt: basedOn, serviceId, timezone, recurrence, startsAt } = window;
    const theirs = { name: 'Their upgrade', target: { serviceId }, timezone, startsAt };
    const recurring = { recurrence: { ...recurrence, minutes: 90 } };
    await runOperation(h, updateMaintenance, other, { maintenanceId, basedOn, ...theirs, ...recurring });
    const conflict = dialog.getByRole('alert', { name: 'Somebody else changed this' });
    const save = dialog.getByRole('button', { name: 'Save' });
    const isShown = async () => {
      if (await save.isEnabled()) await save.click();
      return await conflict.count();
    };
    await expect.poll(isShown).toBe(1);
    await conflict.getByText('Their upgrade').waitFor();
    await conflict.getByRole('button', { name: 'What for: keep yours' }).click();
    await save.click();
    await dialog.getByRole('listitem').filter({ hasText: 'My upgrade' }).getByText('for 90 min').waitFor();

    await openPath(page, h.baseUrl, 'settings/agents');
    await loaded(page, 'AI agents');
    const writes = page.getByLabel('Changes of one agent within an hour');
    await writes.fill('30');
    await h.context.db.sql.run('delete from sessions');
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByLabel('Mail address').waitFor();
    await logIn(page, email);
    await page.getByText(/^This continues what you entered/).waitFor();
    expect(await writes.inputValue()).toBe('30');
    await runOperation(h, setAgentLimits, other, { writesAnHour: 12, holdMinutes: 0 });
    const saveLimits = page.getByRole('button', { name: 'Save limits' });
    const limits = page.getByRole('alert', { name: 'Somebody else changed this' });
    const isLimitShown = async () => {
      if (await saveLimits.isEnabled()) await saveLimits.click();
      return await limits.count();
    };
    await expect.poll(isLimitShown).toBe(1);
    await limits.getByText('12').waitFor();
    await limits.getByRole('button', { name: /keep yours$/ }).click();
    await saveLimits.click();
    await page.getByText('The limits are saved.').waitFor();
    expect(await h.context.db.sql.rows('select writes_an_hour from agent_settings')).toEqual([{ writes_an_hour: 30 }]);
  });

  test('a role and a name that were changed meanwhile are shown beside what was chosen, and nothing is overwritten', async () => {
    const h = await openConsole();
    const eva = await givenPerson(h, { role: 'editor', name: 'Eva' });
    const otto = await signedIn(h, (await givenPerson(h, { role: 'owner', name: 'Otto' })).email);
    const { page, email } = await h.visitor({ path: '/settings/members' });
    await page.getByLabel('Role of Eva').selectOption('viewer');
    const asked = page.getByRole('dialog', { name: /^Change the role of Eva/ });
    await asked.getByText('Eva is now editor').waitFor();
    await otto.invoke(h.orgId, 'change_role', { userId: eva.userId, role: 'responder' });
    await asked.getByRole('button', { name: 'Make viewer' }).click();
    await asked.getByText('Otto has made this member responder since you opened this.').waitFor();
    await asked.getByText('Eva is now responder').waitFor();
    const roles = () => h.context.db.sql.rows('select role from memberships where user_id = $1', [eva.userId]);
    expect(await roles()).toEqual([{ role: 'responder' }]);
    await asked.getByRole('button', { name: 'Make viewer' }).click();
    await page.getByText('Eva is now viewer.').waitFor();
    expect(await roles()).toEqual([{ role: 'viewer' }]);

    await openPath(page, h.baseUrl, 'me');
    await page.getByRole('region', { name: 'Account' }).getByLabel('Name').fill('Olga at the desk');
    await (await signedIn(h, email)).patch('/me', { name: 'Olga on the phone' });
    const save = page.getByRole('region', { name: 'Account' }).getByRole('button', { name: 'Save' });
    await save.click();
    const conflict = page.getByRole('alert', { name: 'Somebody else changed this' });
    await conflict.getByText('Olga on the phone').waitFor();
    await conflict.getByRole('button', { name: 'Name: keep yours' }).click();
    await save.click();
    await page.getByText('Your name was changed.').waitFor();
  });

  test('a schedule of a job and the way to traces are said, and a phone merges exceptions', async () => {
    const h = await openConsole();
    const { serviceId, dsn } = await h.given.service({ name: 'checkout' });
    const { username, pathname } = new URL(dsn);
    const config = { schedule: { type: 'crontab', value: '0 4 * * *' }, timezone: 'UTC' };
    await fetch(`${h.baseUrl}/api${pathname}/cron/backup/${username}/?status=ok`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ monitor_config: config }),
    });
    await groupAndStore(h, serviceId, [eventAt(h), eventAt(h, { fingerprint: ['other'] })]);
    await givenMetrics(h, serviceId, { name: 'wait_ms', minutes: 30, everySeconds: 60, value: () => 20 });
    const at = h.clock.now().epochMilliseconds - 300_000;
    const exemplar = { name: 'wait_ms', labels: [], at, value: 25, traceId: 'a'.repeat(32), spanId: '' };
    await new ExemplarStore(h.context.clickhouse).insert([{ serviceId, exemplar }], 'edits');

    const touch = { viewport: PHONE, isMobile: true, hasTouch: true, serviceWorkers: 'block' } as const;
    const { page } = await h.visitor({ ...touch, path: `/services/${serviceId}` });
    const press = await thumbOf(page);
    const button = (name: string) => page.getByRole('button', { name, exact: true }).first();
    const dialog = page.getByRole('dialog');
    await press(button('Edit backup'));
    await dialog.getByRole('textbox', { name: 'Crontab' }).fill('30 5 * * 1');
    await dialog.getByText(/^Next runs: Mon/).waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('production, 30 5 * * 1 (UTC), edited here').waitFor();

    await page.goto(`${h.baseUrl}/services/${serviceId}/settings`);
    await press(button('Edit'));
    await dialog.getByLabel('Environment').fill('mine');
    // Nothing has told the page of it.
    await h.context.db.sql.run("update services set environment = 'theirs', scm_owner = 'acme'");
    await press(dialog.getByRole('button', { name: 'Save' }));
    await dialog.getByText('The service was not saved').waitFor();
    await press(dialog.getByRole('button', { name: 'Environment: keep yours' }));
    expect(await dialog.getByLabel('Repository owner').inputValue()).toBe('acme');
    await press(dialog.getByRole('button', { name: 'Save' }));
    await dialog.waitFor({ state: 'detached' });
    expect(await h.expectOk('get_service', { serviceId })).toMatchObject({ environment: 'mine', scmOwner: 'acme' });

    await openPath(page, h.baseUrl, 'settings/integrations');
    await page.getByLabel('Address of a trace').fill('ftp://traces/{traceId}');
    const traces = page.getByRole('region', { name: 'Traces' });
    await press(traces.getByRole('button', { name: 'Save' }));
    await page.getByText(/begins with https/).waitFor();
    await page.getByLabel('Address of a trace').fill('https://traces.example.com/trace/{traceId}');
    await press(traces.getByRole('button', { name: 'Save' }));
    await page.getByText('Trace ids are links now.').waitFor();
    await openPath(page, h.baseUrl, `explore?service=${serviceId}&metric=wait_ms`);
    await page.getByText('Traces of single observations').click();
    const link = page.getByRole('link', { name: 'Open the trace' });
    expect(await link.getAttribute('href')).toBe(`https://traces.example.com/trace/${'a'.repeat(32)}`);

    await openPath(page, h.baseUrl, 'exceptions');
    await loaded(page, 'Exceptions');
    // Notices lie over what is at the top of a phone for some seconds.
    await expect.poll(() => page.locator('.mantine-Notification-root').count()).toBe(0);
    await press(button('Select'));
    const rows = page.locator('li[data-row]');
    await press(rows.nth(0));
    await press(rows.nth(1));
    await page.getByText('2 selected').waitFor();
    await press(button('Merge'));
    await press(dialog.getByRole('button', { name: 'Merge' }));
    await page.getByText('2 exceptions merged into one.').waitFor();
    await expect.poll(() => rows.count()).toBe(1);
  });
});
