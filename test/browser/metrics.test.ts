import { expect, test } from 'vitest';

import { axeViolations } from '#test/browser/axe.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { plotOf } from '#test/browser/input.ts';
import { givenCheckout, givenMetrics } from '#test/kit/metrics/given_metrics.ts';

inBrowser('metrics', () => {
  test('a metric is found, split, filtered, compared, read by the arrow keys, and added to a dashboard', async () => {
    const h = await openConsole();
    // The first by name has sent nothing: Metrics open where data is.
    await h.given.service({ name: 'api' });
    const serviceId = await givenCheckout(h);
    await h.incident(serviceId, 'Checkout is slow');
    const { page } = await h.visitor({ path: '/' });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'Metrics', exact: true }).waitFor();
    await page.getByText('2 metrics').waitFor();
    await page.getByLabel('Search metrics').fill('htpp_requests_total');
    await page.getByText('No metric matches these words.').waitFor();
    await page.getByRole('button', { name: 'http_requests_total' }).waitFor();
    await page.getByLabel('Search metrics').fill('duration');
    await page.getByText('2 series, gauge').waitFor();
    await page.getByLabel('Search metrics').press('Enter');
    const plot = plotOf(page, 'http_request_duration_seconds');
    await plot.waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('metric')).toBe('http_request_duration_seconds');

    await page.getByRole('button', { name: 'Split by route' }).click();
    await page.getByRole('button', { name: /\/pay 400 ms/ }).waitFor();
    await plot.focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => plot.getAttribute('aria-valuetext')).toMatch(/\/pay 400 ms, \/cart 100 ms/);
    await page.keyboard.press('-');
    await expect.poll(() => new URL(page.url()).searchParams.has('from')).toBe(true);
    await page.goBack();
    await page.getByRole('button', { name: 'Last hour', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Only route /pay' }).click();
    await page.getByText('route = /pay').waitFor();
    await expect.poll(() => page.getByRole('button', { name: /\/cart 100 ms/ }).count()).toBe(0);
    await page.getByLabel('Compare with').selectOption('day');
    await page.getByLabel('Compare with').selectOption('');
    const rule = await page.getByRole('link', { name: 'Create a rule' }).getAttribute('href');
    expect(new URL(rule!, h.baseUrl).searchParams.get('metric')).toBe('http_request_duration_seconds{route="/pay"}');

    // What the address says is what is shown, also to somebody else.
    const address = page.url();
    await page.reload();
    await page.getByText('route = /pay').waitFor();
    expect(page.url()).toBe(address);
    await page.getByRole('button', { name: 'Add to a dashboard' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('Choose a dashboard, or a new one.').waitFor();
    await dialog.getByRole('combobox', { name: 'Dashboard' }).click();
    await page.getByRole('option', { name: 'A new dashboard' }).click();
    await dialog.getByLabel('Name of the dashboard').fill('Payments');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: 'Payments' }).waitFor();
    await plotOf(page, 'http_request_duration_seconds').waitFor();
    const { dashboards } = await h.expectOk('list_dashboards');
    const { layout } = await h.expectOk('get_dashboard', { dashboardId: dashboards[0].dashboardId });
    expect(layout).toMatchObject([
      {
        type: 'series',
        query: { serviceId, metricName: 'http_request_duration_seconds{route="/pay"}', splitBy: 'route' },
      },
    ]);
  });

  test('a histogram is shown as a heatmap, read by the arrow keys and as a table, and becomes a widget', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const bucket = (le: string, perMinute: number) => ({
      name: 'wait_seconds_bucket',
      labels: { le },
      kind: 'counter' as const,
      minutes: 90,
      everySeconds: 60,
      value: (step: number) => Math.round(step * perMinute * (1 + Math.sin(step / 12) / 4)),
    });
    await givenMetrics(h, serviceId, bucket('0.1', 40), bucket('0.25', 300), bucket('1', 380), bucket('+Inf', 384));
    const { page } = await h.visitor({ path: `/explore?service=${serviceId}` });
    await page.getByRole('button', { name: 'wait_seconds' }).click();
    await page.getByLabel('Drawn as').selectOption('Heatmap');
    const legend = page.getByRole('list', { name: 'Observations in a cell' });
    await legend.getByRole('listitem').first().waitFor();
    const plot = plotOf(page, 'wait_seconds');
    await plot.focus();
    await page.keyboard.press('PageUp');
    await expect.poll(() => plot.getAttribute('aria-valuetext')).toMatch(/100 ms to 250 ms \d+/);
    const shots = process.env['SCREENSHOTS'];
    if (shots !== undefined) await page.screenshot({ path: `${shots}/heatmap.png` });
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show as a table' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('columnheader', { name: 'more than 1 s' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Add to a dashboard' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Dashboard' }).click();
    await page.getByRole('option', { name: 'A new dashboard' }).click();
    await dialog.getByLabel('Name of the dashboard').fill('Waits');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: 'Waits' }).waitFor();
    await legend.getByRole('listitem').first().waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    if (shots !== undefined) await page.screenshot({ path: `${shots}/heatmap_dark.png` });
    expect(await axeViolations(page)).toEqual([]);
  });
});
