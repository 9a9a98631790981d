import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import type { ConsoleWorld } from '#test/browser/console_world.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import type { Smoke } from '#test/smoke/flows.ts';

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
const plotOf = (page: Page, name: string) => page.getByRole('slider', { name: `Time in ${name}` });

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
  test('a dashboard is made of what a service sends', async () => {
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
    expect((await h.expectOk('list_dashboards')).dashboards).toMatchObject([{ name: 'Payments' }]);
  });

  test('the first exception shows by itself, is read, and resolved', async () => {
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
    await page.getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('Exception resolved.').waitFor();
    expect((await h.expectOk('list_exception_groups')).groups).toMatchObject([{ status: 'resolved' }]);
  });
}
