import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { listAlertSources } from '#modules/alerts/operations/alert_sources.ts';
import { axeViolations } from '#test/browser/axe.ts';
import { DESK, inBrowser, PHONE } from '#test/browser/chromium.ts';
import { type ConsoleWorld, openConsole } from '#test/browser/console_world.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';

/** A service, a policy that pages somebody by mail, and the page of the service's sources. */
async function openSources(viewport: { readonly width: number; readonly height: number }) {
  const h = await openConsole();
  const { serviceId } = await h.given.service({ name: 'checkout' });
  const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
  const { userId, page, email } = await h.visitor({ viewport, hasTouch: viewport.width < 500 });
  await h.expectOk('add_team_member', { teamId, userId });
  const steps = [{ afterMinutes: 0, channels: ['email'], targetUserIds: [userId] }];
  await h.expectOk('create_escalation_policy', { teamId, name: 'Wake somebody', steps });
  await page.goto(`${h.baseUrl}/services/${serviceId}`);
  await page.getByRole('link', { name: 'Sources and routes' }).click();
  await page.getByRole('heading', { name: 'Sources and routes' }).waitFor();
  return { h, page, serviceId, email };
}

async function sourcesOf(h: ConsoleWorld, serviceId: string) {
  const owner = memberCaller(h.orgId, h.owner.userId, 'owner');
  return await runOperation(h, listAlertSources, owner, { serviceId });
}

/** The key, as it stands in the lines for the tool. */
async function shownKey(page: Page): Promise<string> {
  const lines = page.getByLabel('Lines for Alertmanager');
  await expect.poll(() => lines.textContent()).toMatch(/credentials: [a-z0-9]{32}/);
  return /[a-z0-9]{32}/.exec((await lines.textContent()) ?? '')?.[0] ?? '';
}

inBrowser('sources of alerts', () => {
  test.each([
    ['desk', DESK],
    ['phone', PHONE],
  ])('somebody new leads an Alertmanager to a page, at a %s', async (_, viewport) => {
    const { h, page, serviceId, email } = await openSources(viewport);
    await expect.poll(() => page.getByLabel('Escalation policy').inputValue()).toContain('Wake somebody');
    await page.getByRole('button', { name: 'Page by this policy' }).click();
    await page.getByText('Unless a route below says otherwise').waitFor();
    await page.getByRole('button', { name: 'Make and fill in the key' }).click();
    await shownKey(page);
    await page.getByRole('button', { name: 'Send a test alert' }).click();
    await page.getByText('It has opened an incident').waitFor();
    await page.getByText(/It paged .* by mail\./i).waitFor();
    await expect.poll(() => h.post.mails.some(({ recipients }) => recipients.includes(email))).toBe(true);
    await page.getByText('Last alert').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Take the test back' }).click();
    await page.getByText('It was taken back').waitFor();
    const { incidents } = await h.expectOk('list_incidents', { serviceId });
    expect(incidents).toMatchObject([{ status: 'resolved', kind: 'alert' }]);

    await page.getByRole('button', { name: 'Settings of Alertmanager' }).click();
    await page.getByText('Each alert', { exact: true }).click();
    await page.getByLabel('No word after').fill('30');
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The settings of Alertmanager are saved').waitFor();
    const { sources } = await sourcesOf(h, serviceId);
    expect(sources[0]?.settings).toMatchObject({ incidentsPer: 'alert', leaseMinutes: 30, onSilence: 'keep' });

    await page.getByRole('button', { name: 'Lines and test of Alertmanager' }).click();
    await page.getByLabel('Lines for Alertmanager').waitFor();
    await page.getByRole('button', { name: 'Last bodies of Alertmanager' }).click();
    await page.getByLabel('Text of body 1').getByText('"receiver": "test"').first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const looks = await h.context.db.sql.rows(`select 1 from audit_log where action = 'list_alert_bodies'`);
    expect(looks).toHaveLength(1);
  });

  test('where there is no policy paging is set up on the page itself, and a test alert pages', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const { page, email } = await h.visitor({ viewport: PHONE, hasTouch: true });
    await page.goto(`${h.baseUrl}/services/${serviceId}`);
    await page.getByRole('link', { name: 'Sources and routes' }).click();
    await page.getByRole('button', { name: 'Set up paging' }).click();
    const dialog = page.getByRole('dialog', { name: 'Set up paging' });
    await dialog.getByLabel('Team').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Set up' }).click();
    await page.getByText('Unless a route below says otherwise').waitFor();
    await page.getByRole('button', { name: 'Send a test alert' }).click();
    await page.getByText('It has opened an incident').waitFor();
    await expect.poll(() => h.post.mails.some(({ recipients }) => recipients.includes(email))).toBe(true);
  });

  test('routes are put in order by the keyboard, and their faults stand at their fields', async () => {
    const { h, page, serviceId } = await openSources(DESK);
    await page.getByRole('button', { name: 'Edit the routes' }).press('Enter');
    const dialog = page.getByRole('dialog');
    // The dialog takes the focus when it has opened.
    await expect.poll(() => page.evaluate(`document.activeElement?.closest('[role=dialog]') !== null`)).toBe(true);
    // A second Enter at once, without another key, would count as a double tap.
    const enter = async (name: string) => {
      await page.keyboard.press('Tab');
      await dialog.getByRole('button', { name }).press('Enter');
    };
    await enter('Add a route');
    await dialog.getByLabel('Condition 1 of route 1: what it is about').selectOption('Detail');
    await dialog.getByLabel('What route 1 does').selectOption('Only count it');
    await dialog.getByLabel('What the last route does').selectOption('Open an incident that pages nobody');
    await enter('Save');
    await dialog.getByText('Name a detail, such as labels.team').waitFor();
    await expect
      .poll(() => page.evaluate(`document.activeElement?.getAttribute('aria-label')`))
      .toBe('Condition 1 of route 1: name of the detail');
    await page.keyboard.type('labels.team');
    await dialog.getByLabel('Condition 1 of route 1: value').fill('shop');
    await enter('Add a route');
    await dialog.getByLabel('What route 2 does').selectOption('Open an incident that pages nobody');
    await enter('Move route 2 up');
    expect(await axeViolations(page)).toEqual([]);
    await enter('Save');
    await page.getByText('The routes are saved').waitFor();
    await page.getByText('labels.team is “shop”').waitFor();
    const { routes } = await sourcesOf(h, serviceId);
    expect(routes).toEqual([
      { conditions: [{ kind: 'severity', atLeast: 'error' }], outcome: 'open', policyId: null, pagesOnRise: false },
      {
        conditions: [{ kind: 'detail', path: 'labels.team', equals: 'shop' }],
        outcome: 'drop',
        policyId: null,
        pagesOnRise: false,
      },
      { conditions: [], outcome: 'open', policyId: null, pagesOnRise: false },
    ]);
  });

  test('a body of any JSON is refused, mapped by pointing at its fields, and then opens an incident', async () => {
    const { h, page, serviceId } = await openSources(DESK);
    await page.getByRole('button', { name: 'Make and fill in the key' }).click();
    const key = await shownKey(page);
    const send = async (state: string): Promise<number> => {
      const body = { job: { label: 'nightly backup', number: 7, state } };
      const url = `${h.baseUrl}/api/alerts/webhook/${key}/backup`;
      return (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).status;
    };
    expect(await send('broken')).toBe(400);
    await page.getByText('1 request refused').waitFor();
    await page.getByRole('button', { name: 'Mapping of Webhook backup' }).click();
    const dialog = page.getByRole('dialog');
    const pointAt = async (part: string, field: string): Promise<void> => {
      await dialog.getByText(part, { exact: true }).first().click();
      await dialog.getByRole('button', { name: `job.${field}` }).click();
    };
    await pointAt('Title', 'label');
    await pointAt('Key', 'number');
    await pointAt('Status', 'state');
    await dialog.getByLabel('It is over if the status is').fill('fine, green');
    await dialog.getByText('The last body opens or repeats an alert').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The mapping of Webhook backup is saved').waitFor();
    expect(await send('broken')).toBe(202);
    expect(await send('Fine')).toBe(202);
    const { incidents } = await h.expectOk('list_incidents', { serviceId });
    expect(incidents).toMatchObject([{ title: 'nightly backup', status: 'resolved', details: { alertKey: '7' } }]);
  });

  test('a form stays open while loading the sources again fails', async () => {
    const { page } = await openSources(DESK);
    await page.getByRole('button', { name: 'Edit the routes' }).click();
    await page.getByRole('dialog').getByLabel('By', { exact: true }).waitFor();
    let refused = 0;
    await page.route('**/list_alert_sources', async (route) => {
      refused += 1;
      await route.fulfill({ status: 503, json: { code: 'unavailable', detail: 'busy' } });
    });
    // An outage is retried twice; the fourth time is the next refresh, after the page was told of the failure.
    await expect.poll(() => refused).toBeGreaterThan(3);
    await page.getByRole('dialog').getByLabel('By', { exact: true }).waitFor({ timeout: 5_000 });
  });
});
