import { expect, test } from 'vitest';

import { axeViolations } from '#test/browser/axe.ts';
import { inBrowser, PHONE } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { choose, plotOf, requestsOf } from '#test/browser/input.ts';
import { boxOf } from '#test/browser/touch.ts';
import { givenCheckout, givenMetrics } from '#test/kit/metrics/given_metrics.ts';

inBrowser('dashboards', () => {
  test('a dashboard is made of what a service sends, changed by keyboard alone, and nothing is lost', async () => {
    const h = await openConsole();
    const serviceId = await givenCheckout(h);
    const { page } = await h.visitor({ path: '/dashboards' });
    await page.getByText('No dashboard yet').waitFor();
    await page.getByRole('button', { name: 'Create a dashboard' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Checkout');
    await page.getByRole('dialog').getByRole('combobox', { name: 'Service' }).click();
    await page.getByRole('option', { name: 'checkout' }).click();
    const asked = requestsOf(page, 'query_metrics');
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'Checkout' }).waitFor();
    await plotOf(page, 'http_requests_total').waitFor();
    await page
      .getByText('0.5/s', { exact: true })
      .or(page.getByText('2/s', { exact: true }))
      .first()
      .waitFor();
    // All that is in view, in one request.
    expect(asked).toHaveLength(1);
    const { dashboards } = await h.expectOk('list_dashboards');
    const { dashboardId } = dashboards[0];
    const read = () => h.expectOk('get_dashboard', { dashboardId });
    expect((await read()).serviceId).toBe(serviceId);

    await page.getByRole('button', { name: 'Edit', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Name of the dashboard').fill('Checkout at a glance');
    const grip = page.getByRole('button', { name: /^Move or resize On call/ });
    await grip.focus();
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Shift+ArrowDown');
    // Taken back: it is a cell larger each way, not more.
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Control+z');
    await choose(page.getByRole('button', { name: 'Change Incidents' }));
    await choose(page.getByRole('menuitem', { name: 'Remove' }));
    await page.getByText('Incidents is removed').waitFor();
    const removed = page.getByRole('alert').filter({ hasText: 'Incidents is removed' });
    await choose(removed.getByRole('button', { name: 'Undo' }));
    await page.getByRole('region', { name: 'Incidents', exact: true }).waitFor();
    await choose(page.getByRole('button', { name: 'Add a widget' }));
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Kind').selectOption('text');
    await choose(dialog.getByRole('button', { name: 'Add', exact: true }));
    await dialog.getByText('Write something.').waitFor();
    await dialog.getByLabel('Text', { exact: true }).fill('# Read me\n- Call Anna first');
    await choose(dialog.getByRole('button', { name: 'Add', exact: true }));
    await page.getByText('Call Anna first').waitFor();

    // A reload loses nothing.
    await page.reload();
    await page.getByText('Call Anna first').waitFor();
    expect(await page.getByLabel('Name of the dashboard').inputValue()).toBe('Checkout at a glance');

    // Somebody else saves meanwhile: both are shown, and both are kept.
    const before = await read();
    const others = [...before.layout, { type: 'text', title: 'From Bram', options: { text: 'Restart the queue' } }];
    await h.expectOk('update_dashboard', { dashboardId, layout: others });
    await page.getByText('Somebody else has saved this dashboard in the meantime').waitFor();
    await choose(page.getByRole('button', { name: 'Save', exact: true }));
    await page.getByText('Renamed to Checkout at a glance').waitFor();
    await page.getByText('Added From Bram').waitFor();
    await choose(page.getByRole('button', { name: 'Keep both' }));
    await page.getByText('The dashboard is saved').waitFor();
    await page.getByText('Restart the queue').waitFor();
    const after = await read();
    expect(after.name).toBe('Checkout at a glance');
    const titlesOf = (layout: readonly { title: string }[]): string[] => layout.map(({ title }) => title);
    expect(titlesOf(after.layout).sort()).toEqual([...titlesOf(before.layout), 'From Bram', 'Text'].sort());
    const sizeOf = (layout: readonly { title: string; grid: { w: number; h: number } }[]) => {
      const { w, h: height } = layout.find(({ title }) => title === 'On call')!.grid;
      return [w, height];
    };
    expect(sizeOf(after.layout)).toEqual(sizeOf(before.layout).map((cells) => cells + 1));
  });

  test('a number with a threshold is a gauge, which says whether it is beyond, in the unit that was chosen', async () => {
    const h = await openConsole();
    const serviceId = await givenCheckout(h);
    const query = { metricName: 'http_requests_total', aggregation: 'max' };
    const grid = { x: 0, y: 0, w: 4, h: 5 };
    const layout = [{ type: 'number', title: 'Requests', query, grid, options: { threshold: 1 } }];
    const { dashboardId } = await h.expectOk('create_dashboard', { name: 'Checkout', serviceId, layout });
    const { page } = await h.visitor({ path: `/dashboards/${dashboardId}` });
    await page.getByRole('meter', { name: 'Requests' }).waitFor();
    await page.getByText('at or above 1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Change Requests' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Threshold').fill('100000000');
    await dialog.getByLabel('Unit').selectOption('bytes');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('below 100 MB', { exact: true }).waitFor();
    const shots = process.env['SCREENSHOTS'];
    if (shots !== undefined) await page.screenshot({ path: `${shots}/gauge.png` });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The dashboard is saved').waitFor();
    const { layout: saved } = await h.expectOk('get_dashboard', { dashboardId });
    expect(saved[0].options).toMatchObject({ threshold: 100_000_000, unit: 'bytes' });
  });

  test('a dashboard without a service asks for one, and for the values of its variables, and the address holds both', async () => {
    const h = await openConsole();
    // The first by name sends nothing: the dashboard begins where data is.
    await h.given.service({ name: 'api' });
    const serviceId = await givenCheckout(h);
    const query = { metricName: 'http_request_duration_seconds{route="$route"}', aggregation: 'max' };
    const grid = { x: 0, y: 0, w: 4, h: 5 };
    const layout = [{ type: 'number', title: 'Requests', query, grid }];
    const { dashboardId } = await h.expectOk('create_dashboard', { name: 'Any service', layout });
    const { page } = await h.visitor({ path: `/dashboards/${dashboardId}` });
    const variables = page.getByRole('group', { name: 'Variables' });
    await expect.poll(() => variables.getByLabel('Service').inputValue()).toBe('checkout');
    const route = variables.getByLabel('route');
    await route.fill('ca');
    await page.getByRole('option', { name: '/pay' }).waitFor({ state: 'detached' });
    const value = '/cart';
    await page.getByRole('option', { name: value }).click();
    await expect.poll(() => decodeURIComponent(page.url())).toContain(`"route":"${value}"`);
    expect(page.url()).toContain(`service=${serviceId}`);
    await page.reload();
    await expect.poll(() => route.inputValue()).toBe(value);
    const shots = process.env['SCREENSHOTS'];
    if (shots !== undefined) await page.screenshot({ path: `${shots}/variables.png` });
    expect(await axeViolations(page)).toEqual([]);

    // Another dashboard leads here, with its service and with the value of a row.
    const split = { metricName: 'http_request_duration_seconds', aggregation: 'max', splitBy: 'route' };
    const table = { type: 'table', title: 'Routes', query: split, grid: { x: 0, y: 0, w: 6, h: 6 } };
    const all = await h.expectOk('create_dashboard', { name: 'All routes', serviceId, layout: [table] });
    await page.goto(`${h.baseUrl}/dashboards/${all.dashboardId}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Change Routes' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByRole('combobox', { name: 'Leads to' }).click();
    await page.getByRole('option', { name: 'Any service' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('link', { name: '/pay' }).click();
    await page.getByRole('heading', { name: 'Any service' }).waitFor();
    await expect.poll(() => route.inputValue()).toBe('/pay');
    expect(page.url()).toContain(`service=${serviceId}`);
    // Opens with what was chosen last, as its address says nothing.
    await page.goto(`${h.baseUrl}/dashboards/${dashboardId}`);
    await expect.poll(() => route.inputValue()).toBe('/pay');
    await expect.poll(() => page.url()).toContain(`service=${serviceId}`);
    await page.goto(`${h.baseUrl}/dashboards/${all.dashboardId}`);
    await page.getByRole('link', { name: 'Routes' }).click();
    await page.getByRole('heading', { name: 'Any service' }).waitFor();
    await expect.poll(() => route.inputValue()).toBe('');
    // Dashboards open with the one that somebody looked at, until they go to the list.
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { name: 'Any service' }).waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.getByRole('heading', { name: 'Any service' }).waitFor();
    await page.getByRole('link', { name: 'Dashboards' }).first().click();
    await page.getByRole('link', { name: 'All routes' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'All routes' }).waitFor();
  });

  test('a dashboard is dragged by the mouse, renamed, duplicated and deleted, and a viewer only looks', async () => {
    const h = await openConsole();
    const serviceId = await givenCheckout(h);
    const query = { metricName: 'http_requests_total', aggregation: 'sum' };
    const layout = [
      { type: 'timeseries', title: 'Left', query, grid: { x: 0, y: 0, w: 6, h: 6 }, colours: ['#fff'] },
      { type: 'stat', title: 'Right', query, grid: { x: 6, y: 0, w: 6, h: 6 } },
      { type: 'flame', title: 'Odd', query: { anything: true } },
    ];
    const { dashboardId } = await h.expectOk('create_dashboard', { name: 'Checkout', serviceId, layout });
    const { page } = await h.visitor({ path: `/dashboards/${dashboardId}` });
    await plotOf(page, 'Left').waitFor();
    await page.getByText('A widget of the type flame cannot be shown here.').waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const box = await boxOf(page.getByRole('button', { name: /^Move or resize Left/ }));
    await page.mouse.move(box.x + 8, box.y + 8);
    await page.mouse.down();
    for (const share of [0.25, 0.5, 0.75, 1]) await page.mouse.move(box.x + 8 + share * 640, box.y + 8, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The dashboard is saved').waitFor();
    const saved = await h.expectOk('get_dashboard', { dashboardId });
    const left = saved.layout.find(({ title }: { title: string }) => title === 'Left');
    // Moved, and otherwise as it was given.
    expect(left).toMatchObject({ type: 'timeseries', query, colours: ['#fff'], grid: { x: 6, w: 6, h: 6 } });
    expect(saved.layout.find(({ title }: { title: string }) => title === 'Odd')).toMatchObject(layout[2]!);

    await page.getByRole('button', { name: 'Show Right in full' }).click();
    await page.getByRole('dialog', { name: 'Right' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Dashboards' }).first().click();
    await page.getByRole('heading', { name: 'Dashboards', exact: true }).waitFor();
    await page.getByRole('button', { name: 'What to do with Checkout' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: 'Checkout (copy)' }).waitFor();
    await page.getByRole('link', { name: 'Dashboards' }).first().click();
    await page.getByRole('heading', { name: 'Dashboards', exact: true }).waitFor();
    await page.getByRole('button', { name: 'What to do with Checkout (copy)' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    const renaming = page.getByRole('dialog', { name: 'Rename the dashboard' });
    await renaming.getByLabel('Name').fill('Second');
    const { dashboards } = await h.expectOk('list_dashboards');
    const copy = dashboards.find(({ name }: { name: string }) => name === 'Checkout (copy)');
    await h.expectOk('update_dashboard', { dashboardId: copy.dashboardId, name: 'Renamed by Bram' });
    await renaming.getByRole('alert', { name: 'Somebody else changed this' }).getByText('Renamed by Bram').waitFor();
    await expect.poll(() => renaming.getByRole('button', { name: 'Rename' }).isDisabled()).toBe(true);
    await renaming.getByRole('button', { name: 'Name: keep yours' }).click();
    await renaming.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('link', { name: 'Second' }).waitFor();
    await page.getByRole('button', { name: 'What to do with Second' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => page.getByRole('link', { name: 'Second' }).count()).toBe(0);
    expect((await h.expectOk('list_dashboards')).dashboards).toHaveLength(1);

    const viewer = await h.visitor({
      role: 'viewer',
      name: 'Vera',
      path: `/dashboards/${dashboardId}`,
      viewport: PHONE,
      isMobile: true,
      hasTouch: true,
    });
    const plot = plotOf(viewer.page, 'Left');
    await plot.waitFor();
    expect(await viewer.page.getByRole('button', { name: 'Edit', exact: true }).count()).toBe(0);
    const told = async () => {
      await plot.scrollIntoViewIfNeeded();
      // What is above it may still load, and move it.
      const area = (await plot.boundingBox())!;
      await viewer.page.touchscreen.tap(area.x + area.width - 40, area.y + area.height / 2);
      return await plot.getAttribute('aria-valuetext');
    };
    await expect.poll(told).toMatch(/http_requests_total 30/);
  });

  test('a widget is made for any service: people choose the service, and the value of a label', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const bucket = (le: string, host: string) => ({
      name: 'wait_seconds_bucket',
      labels: { le, host },
      kind: 'counter' as const,
      minutes: 90,
      everySeconds: 60,
      value: (step: number) => step * (le === '+Inf' ? 100 : 40),
    });
    await givenMetrics(
      h,
      serviceId,
      ...['web-1', 'web-2'].flatMap((host) => [bucket('1', host), bucket('+Inf', host)]),
    );
    const { dashboardId } = await h.expectOk('create_dashboard', { name: 'Any service' });
    const { page } = await h.visitor({ path: `/dashboards/${dashboardId}` });
    await page.getByRole('button', { name: 'Add a widget' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Kind').selectOption('number');
    expect(await dialog.getByRole('combobox', { name: 'Service' }).inputValue()).toBe('Chosen on the dashboard');
    await dialog.getByRole('combobox', { name: 'Metric', exact: true }).fill('wait');
    await page.getByRole('option', { name: 'wait_seconds', exact: true }).click();
    await dialog.getByLabel('Quantile').selectOption('0.5');
    await dialog.getByRole('button', { name: 'Add a label' }).click();
    await dialog.getByRole('combobox', { name: 'Label 1', exact: true }).click();
    await page.getByRole('option', { name: 'host' }).click();
    await dialog.getByRole('combobox', { name: 'Value of label 1' }).click();
    await page.getByRole('option', { name: '$host' }).click();
    // What it will look like, with the service that sends something as the example.
    await dialog.getByRole('region', { name: 'Preview' }).getByText('more than 1 s').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The dashboard is saved').waitFor();
    const { layout } = await h.expectOk('get_dashboard', { dashboardId });
    const metricName = 'wait_seconds{quantile="0.5",host="$host"}';
    expect(layout).toMatchObject([{ type: 'number', title: 'wait_seconds, 50%', query: { metricName } }]);
    expect(layout[0].query).not.toHaveProperty('serviceId');
    const variables = page.getByRole('group', { name: 'Variables' });
    await expect.poll(() => variables.getByLabel('Service').inputValue()).toBe('checkout');
    await variables.getByLabel('host').click();
    await page.getByRole('option', { name: 'web-2' }).click();
    await page.getByText('more than 1 s').first().waitFor();
  });
});
