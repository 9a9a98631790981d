import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { getIngestStatus } from '#modules/services/operations/get_ingest_status.ts';
import type { ConsoleWorld } from '#test/browser/console_world.ts';
import { openPath } from '#test/browser/open_path.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Smoke, TOUCH } from '#test/smoke/flows.ts';

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
const plotOf = (page: Page, name: string) => page.getByRole('slider', { name: `Time in ${name}` });

/** Limit on how long a point is on its way on a busy machine. */
const ARRIVES_MS_MAX = 20_000;

/** A service with a metric of two routes. */
async function givenService(h: ConsoleWorld): Promise<string> {
  const { serviceId } = await h.given.service({ name: 'checkout' });
  const routes = [
    ['/pay', 0.4],
    ['/cart', 0.1],
  ] as const;
  const series = routes.map(([route, seconds]) => ({
    name: 'http_request_duration_seconds',
    labels: { route },
    minutes: 90,
    everySeconds: 60,
    value: () => seconds,
  }));
  await givenMetrics(h, serviceId, ...series);
  return serviceId;
}

export function dataFlows({ newOrganization }: Smoke): void {
  test('a service is created, shows its keys, and says what arrives', async () => {
    const h = await newOrganization();
    const { page } = await h.visitor({ path: '/services' });
    await page.getByText('No service yet').waitFor();
    // The page asks again every some seconds, which need not pass.
    await page.clock.install();
    await page.getByRole('button', { name: 'Create a service' }).click();
    await page.getByLabel('Name').fill('checkout');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await heading(page, 'checkout');
    await page.getByText('Nothing has arrived yet.').first().waitFor();
    const { serviceId } = (await h.expectOk('list_services')).services[0];
    const { ingestionKey, dsn } = await h.expectOk('get_service', { serviceId });
    await page.getByRole('button', { name: 'Show keys' }).click();
    await page.getByText(dsn, { exact: true }).waitFor();
    const answer = await fetch(`${h.baseUrl}/api/ingest/metrics`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ingestionKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ points: [{ name: 'latency', value: 3 }] }),
    });
    expect(answer.ok).toBe(true);
    // Before the page asks again: each time it asks in vain keeps this machine from taking the point.
    const owner = memberCaller(h.orgId, h.owner.userId, 'owner');
    const points = async () => (await runOperation(h, getIngestStatus, owner, { serviceId })).metrics.pointsLastHour;
    await expect.poll(points, { timeout: ARRIVES_MS_MAX }).toBe(1);
    await page.clock.fastForward(20_000);
    await page.getByText('1 point in the last hour').waitFor();
    await openPath(page, h.baseUrl, 'services');
    await page.getByRole('link', { name: 'checkout' }).waitFor();
  });

  test('a metric is found, drawn, split by a label and read at a time', async () => {
    const h = await newOrganization();
    await givenService(h);
    const { page } = await h.visitor({ path: '/explore', role: 'viewer', name: 'Vera' });
    await page.getByText('2 series, gauge').waitFor();
    await page.getByLabel('Search metrics').fill('duration');
    // Before the list is that of the words.
    await page.getByLabel('Search metrics').press('Enter');
    const plot = plotOf(page, 'http_request_duration_seconds');
    await plot.waitFor();
    await page.getByRole('button', { name: 'Split by route' }).click();
    await page.getByRole('button', { name: /\/pay 400 ms/ }).waitFor();
    await plot.focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => plot.getAttribute('aria-valuetext')).toMatch(/\/pay 400 ms, \/cart 100 ms/);
    expect(new URL(page.url()).searchParams.get('metric')).toBe('http_request_duration_seconds');
  });

  test('a dashboard is made of what a service sends, changed, and seen on a phone', async () => {
    const h = await newOrganization();
    await givenService(h);
    const { page } = await h.visitor({ path: '/dashboards' });
    await page.getByText('No dashboard yet').waitFor();
    await page.getByRole('button', { name: 'Create a dashboard' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Payments');
    await dialog.getByRole('combobox', { name: 'Service' }).click();
    await page.getByRole('option', { name: 'checkout' }).click();
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await heading(page, 'Payments');
    await plotOf(page, 'http_request_duration_seconds').waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Add a widget' }).click();
    await dialog.getByLabel('Kind').selectOption('text');
    await dialog.getByLabel('Text', { exact: true }).fill('Call Anna first');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Call Anna first').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The dashboard is saved').waitFor();
    expect((await h.expectOk('list_dashboards')).dashboards).toMatchObject([{ name: 'Payments' }]);

    const { pathname } = new URL(page.url());
    const viewer = await h.visitor({ role: 'viewer', name: 'Vera', path: pathname, ...TOUCH });
    await plotOf(viewer.page, 'http_request_duration_seconds').waitFor();
    await viewer.page.getByText('Call Anna first').waitFor();
  });

  test('the first exception shows by itself, is read, resolved, and taken back', async () => {
    const h = await newOrganization();
    const { dsn } = await h.given.service({ name: 'checkout' });
    const { page } = await h.visitor({ path: '/exceptions' });
    await page.getByText('No exception yet').waitFor();
    const { username, pathname } = new URL(dsn);
    const frame = { function: 'charge', filename: 'shop/payments.py', lineno: 42, in_app: true };
    const exception = { type: 'CardDeclined', value: 'no money', stacktrace: { frames: [frame] } };
    const answer = await fetch(`${h.baseUrl}/api${pathname}/store/?sentry_key=${username}&sentry_version=7`, {
      method: 'POST',
      body: JSON.stringify({ exception: { values: [exception] } }),
    });
    expect(answer.ok).toBe(true);
    await page.getByRole('link', { name: /^CardDeclined/ }).click();
    await heading(page, /^CardDeclined/);
    await page.getByRole('region', { name: 'Event', exact: true }).getByText('shop/payments.py').first().waitFor();
    const statusOf = async () => (await h.expectOk('list_exception_groups')).groups[0].status;
    await page.getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('Exception resolved.').waitFor();
    expect(await statusOf()).toBe('resolved');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.').waitFor();
    expect(await statusOf()).toBe('unresolved');
  });
}
