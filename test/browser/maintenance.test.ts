import { expect, test } from 'vitest';

import { inUnitOfWork, storesOf } from '#modules/stores.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { rulesSetting } from '#test/browser/rules_world.ts';
import { openIncident } from '#modules/incidents/open_incidents.ts';

inBrowser('maintenance', () => {
  test('a maintenance is planned, changed and seen on the pages of its service and its incidents', async () => {
    const h = await openConsole();
    const anna = await h.visitor({ role: 'editor', name: 'Anna', timezoneId: 'Europe/Amsterdam' });
    const { serviceId, policyId } = await rulesSetting(h, anna, 1);
    const config = { metricName: 'queue_depth', comparator: '>', threshold: 50_000 };
    const rule = { serviceId, kind: 'metric_threshold', config, escalationPolicyId: policyId };
    const { ruleId } = await h.expectOk('create_alert_rule', { ...rule, name: 'Queue' });
    await h.expectOk('create_alert_rule', { ...rule, name: 'Latency', config: { ...config, metricName: 'latency' } });
    const { page } = anna;
    await page.goto(`${h.baseUrl}/rules`);
    await page.getByRole('button', { name: 'Maintenance' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'New maintenance' }).click();
    await dialog.getByLabel('What for').fill('Database upgrade');
    await dialog.getByRole('combobox', { name: 'Service' }).click();
    await page.getByRole('option', { name: 'checkout' }).click();
    await dialog.getByRole('button', { name: '2 h' }).click();
    await dialog.getByText('It keeps 2 rules quiet.').waitFor();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('On until').waitFor();

    // A second one for a rule of it, every week, overlaps.
    await dialog.getByRole('button', { name: 'New maintenance' }).click();
    await dialog.getByLabel('What for').fill('Nightly batch');
    await dialog.getByLabel('Keeps quiet').selectOption('A rule');
    await dialog.getByRole('combobox', { name: 'Rule' }).click();
    await page.getByRole('option', { name: /Queue/ }).click();
    await dialog.getByText('Every week').click();
    for (const day of ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']) await dialog.getByLabel(day).check();
    const wall = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'Europe/Amsterdam' });
    await dialog.getByLabel('At', { exact: true }).fill(wall.format(new Date()));
    await dialog.getByText('Overlaps with').waitFor();
    await dialog.getByRole('button', { name: 'Create' }).click();
    const row = dialog.getByRole('listitem').filter({ hasText: 'Nightly batch' });
    await row.getByText('Rule Queue').waitFor();

    // It is changed.
    await row.getByRole('button', { name: 'Edit' }).click();
    await expect.poll(() => dialog.getByLabel('What for').inputValue()).toBe('Nightly batch');
    await dialog.getByLabel('What for').fill('Batch of the night');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('listitem').filter({ hasText: 'Batch of the night' }).waitFor();

    await page.goto(`${h.baseUrl}/services/${serviceId}`);
    await page.getByRole('region', { name: 'In maintenance' }).getByText('Database upgrade').waitFor();
    const incidentId = await inUnitOfWork({ db: h.context.db, clock: h.clock, onOutbox: () => {} }, async (unit) => {
      const rules = await storesOf(h.context.db.session()).activeRules.list('metric_threshold', { ruleId });
      const cause = {
        kind: 'metric_threshold',
        exceptionGroupId: null,
        title: 'Queue is long',
        severity: 'error',
      } as const;
      return await openIncident(unit, rules[0]!, { ...cause, details: {}, sentence: 'it was' });
    });
    await page.goto(`${h.baseUrl}/incidents/${incidentId}`);
    await page
      .getByRole('region', { name: 'In maintenance' })
      .getByText(/this incident pages at/)
      .first()
      .waitFor();
    await page.getByText(/^until it pages .*, after the maintenance$/).waitFor();
    await page.getByText('The maintenance ends at').waitFor();
    expect(await page.getByText('Handed over at').count()).toBe(0);
  });
});
