import { expect, test } from 'vitest';

import { inBrowser, PHONE } from '#test/browser/chromium.ts';
import { touchScreen, centerOf } from '#test/browser/touch.ts';
import { openConsole } from '#test/browser/console_world.ts';

/** Options with animations, so that a control pressed by mistake may still be moving. */
const ANIMATED = { reducedMotion: 'no-preference' } as const;

inBrowser('mistakes', () => {
  test('letters typed into the palette, or while it loads, never act on the incident behind it; it closes in every way', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const incidentId = await h.incident(serviceId, 'Checkout is slow');
    const { page } = await h.visitor({ ...ANIMATED, path: '/incidents' });
    await page.getByRole('link', { name: 'Checkout is slow' }).click();
    await page.getByRole('button', { name: 'Acknowledge' }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (/actions\/(?:acknowledge|resolve)/.test(request.url())) asked.push(request.url());
    });
    const search = page.getByLabel('Search people, services, incidents and everything else');
    const isGone = () => search.waitFor({ state: 'detached' });

    let letLoad = (): void => {};
    const typed = new Promise<void>((resolve) => (letLoad = resolve));
    await page.route('**/assets/palette-*.js', async (route) => {
      await typed;
      await route.continue();
    });
    for (const key of ['Control+k', 'a', 'r']) await page.keyboard.press(key);
    letLoad();
    await search.waitFor();
    expect(asked).toEqual([]);
    await page.keyboard.type('ar');
    await page.keyboard.press('Escape');
    await isGone();

    await page.keyboard.press('Control+k');
    await search.waitFor();
    await page.mouse.click(5, 5);
    await isGone();
    await page.keyboard.press('Control+k');
    await search.waitFor();
    await page.keyboard.press('Control+k');
    await isGone();
    await page.keyboard.press('Control+k');
    await search.waitFor();
    await page.evaluate('history.back()');
    await isGone();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/incidents/${incidentId}`);

    await page.getByRole('button', { name: /account/ }).click();
    await page.getByRole('menu').waitFor();
    for (const key of ['a', 'r']) await page.keyboard.press(key);
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });

    // A letter after g that names no page does nothing.
    for (const key of ['g', 'r', 'g', 'a']) await page.keyboard.press(key);
    await page.keyboard.press('Control+k');
    await search.fill('billing');
    await page.getByRole('button', { name: /^Billing/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/settings\/billing/);
    await isGone();
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
    expect(asked).toEqual([]);
  });

  test('a second tap within 600 ms never reaches what took the place of the first target', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const incidentId = await h.incident(serviceId, 'Checkout is slow');
    const other = await h.incident(serviceId, 'Disk is full');
    const statusOf = async (id: string) => (await h.expectOk('get_incident', { incidentId: id })).status;
    const { page } = await h.visitor({
      ...ANIMATED,
      path: `/incidents/${incidentId}`,
      viewport: PHONE,
      hasTouch: true,
    });
    const touch = await touchScreen(page);
    const acknowledge = page.getByRole('button', { name: 'Acknowledge', exact: true });
    const place = await centerOf(acknowledge);
    await touch.tap(place, 0);
    await acknowledge.waitFor({ state: 'detached' });
    // No other act takes its place, however late the next tap is.
    for (const afterMs of [120, 300, 450, 590, 610]) await touch.tap(place, afterMs);
    await expect.poll(() => statusOf(incidentId)).toBe('acknowledged');
    await page.getByRole('button', { name: 'Resolve', exact: true }).tap();
    await expect.poll(() => statusOf(incidentId)).toBe('resolved');

    // In a list, the row below moves up.
    await h.incident(serviceId, 'Queue is long');
    await page.goto(`${h.baseUrl}/incidents?status=triggered`);
    const rows = page.locator('li[data-row]');
    await rows.nth(1).waitFor();
    const first = rows.first().getByRole('button');
    const inList = await centerOf(first);
    await touch.tap(inList, 5_000);
    await rows.nth(1).waitFor({ state: 'detached' });
    await touch.tap(inList, 200);
    await page.getByRole('link', { name: 'Disk is full' }).waitFor();
    expect(await statusOf(other)).toBe('triggered');
  });

  test('an answer and a takeover are undone by one tap or key, and an override can be removed later', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const incidentId = await h.incident(serviceId, 'Checkout is slow');
    const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
    const rotationConfig = { userIds: [h.owner.userId] };
    await h.expectOk('create_schedule', { teamId, name: 'Primary', rotationConfig });
    const statusIs = async (status: string) =>
      await expect.poll(async () => (await h.expectOk('get_incident', { incidentId })).status).toBe(status);
    const sourceIs = async (source: string) =>
      await expect.poll(async () => (await h.expectOk('who_is_on_call', { teamId })).schedules[0].source).toBe(source);
    const { page } = await h.visitor({
      ...ANIMATED,
      role: 'responder',
      name: 'Anna',
      path: `/incidents/${incidentId}`,
    });
    const undo = page.getByRole('button', { name: 'Undo' });

    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText('#1 is acknowledged.').waitFor();
    await undo.click();
    await page.getByRole('button', { name: 'Acknowledge' }).waitFor();
    await statusIs('triggered');
    await page.locator('body').press('r');
    await page.getByText('#1 is resolved.').waitFor();
    await statusIs('resolved');
    await page.keyboard.press('u');
    await statusIs('triggered');
    await page.getByText('Reopened by Anna by the console').waitFor();
    await h.expectOk('resolve_incident', { incidentId });
    await page.getByRole('button', { name: 'Reopen' }).click();
    await statusIs('triggered');

    await page.goto(h.baseUrl);
    const takeOver = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Take over Primary' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Take over' }).click();
      await page.getByText('You are on call in Primary until').waitFor();
      await sourceIs('override');
    };
    await takeOver();
    await undo.click();
    await sourceIs('rotation');
    await takeOver();
    await page.getByRole('button', { name: 'Remove override of Primary' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await sourceIs('rotation');
  });

  test('a notice on a phone covers no button of the header, nor the bar at the bottom', async () => {
    const h = await openConsole();
    const { page } = await h.visitor({ ...ANIMATED, path: '/me', viewport: PHONE, isMobile: true, hasTouch: true });
    await page.getByLabel('Name', { exact: true }).fill('Olga Nova');
    await page.getByRole('region', { name: 'Account' }).getByRole('button', { name: 'Save' }).tap();
    await page.getByText('Your name was changed.').waitFor();
    const bar = page.getByRole('navigation', { name: 'Main navigation, on a phone' });
    const notice = page.locator('.mantine-Notification-root');
    const spaceBelow = async (): Promise<number> => {
      const { y, height } = (await notice.boundingBox())!;
      return (await bar.boundingBox())!.y - y - height;
    };
    // It slides in from below.
    await expect.poll(spaceBelow).toBeGreaterThanOrEqual(0);
    const covered = await page.evaluate<
      string[]
    >(`[...document.querySelectorAll('header button, nav a, nav button')].flatMap((button) => {
      const { x, y, width, height } = button.getBoundingClientRect();
      const above = document.elementFromPoint(x + width / 2, y + height / 2);
      return button.checkVisibility() && !button.contains(above) ? [button.outerHTML.slice(0, 100)] : [];
    })`);
    expect(covered).toEqual([]);
  });

  test('a notice on a phone covers no button of a dialog that is as high as the screen', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    await h.incident(serviceId, 'Checkout is slow');
    const { page } = await h.visitor({ path: '/rules', viewport: PHONE, isMobile: true, hasTouch: true });
    // A notice that stays, however long the rest takes.
    await page.addInitScript(`{
      const own = setTimeout;
      globalThis.setTimeout = (run, ms, ...rest) => (ms === 12_000 ? 0 : own(run, ms, ...rest));
    }`);
    await page.reload();
    await page.route('**/actions/update_alert_rule', (route) => route.abort());
    await page.getByRole('switch', { name: 'Checkout is slow enabled' }).tap({ force: true });
    const notice = page.locator('.mantine-Notification-root');
    await notice.getByText('Checkout is slow was not disabled').waitFor();
    await page.getByRole('button', { name: 'Maintenance' }).tap();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'New maintenance' }).tap();
    const last = dialog.getByRole('button', { name: 'Create' });
    await last.scrollIntoViewIfNeeded();
    const gap = async (): Promise<number> => {
      const { y, height } = (await last.boundingBox())!;
      return (await notice.boundingBox())!.y - y - height;
    };
    await expect.poll(gap).toBeGreaterThanOrEqual(0);
    expect((await dialog.boundingBox())!.height).toBeGreaterThan(PHONE.height / 2);
  });

  test('the palette acknowledges, silences and begins what people often do, by keys alone', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const incidentId = await h.incident(serviceId, 'Checkout is down');
    const { page } = await h.visitor({ role: 'responder' });
    const keys = (key: string) => page.keyboard.press(key);
    await page.getByText('Your open incidents').waitFor();
    const search = page.getByLabel('Search people, services, incidents and everything else');
    await keys('Control+k');
    await search.fill('acknowledge down');
    await page.getByRole('button', { name: /^Acknowledge #\d+ Checkout is down/ }).waitFor();
    await keys('Enter');
    await page.getByText('#1 is acknowledged.').waitFor();
    await expect.poll(async () => (await h.expectOk('get_incident', { incidentId })).status).toBe('acknowledged');
    await keys('Control+k');
    await search.fill('silence checkout');
    await page.getByRole('button', { name: /^New maintenance of checkout/ }).waitFor();
    await keys('Enter');
    await page.getByRole('dialog', { name: 'New maintenance' }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await keys('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await keys('Control+k');
    await search.fill('new incident');
    await page.getByRole('button', { name: 'Declare an incident' }).last().waitFor();
    await keys('Enter');
    await page.getByRole('dialog', { name: 'Declare an incident' }).waitFor();
  });

  test('the rows of the palette are as wide as it is on a phone, however long they are', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    await h.incident(serviceId, 'Checkout answers more slowly than anybody who buys something waits for');
    const { page } = await h.visitor({ role: 'responder', viewport: PHONE });
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByLabel('Search people, services, incidents and everything else').fill('checkout answers');
    const label = page.getByRole('dialog').getByText('Checkout answers more slowly').last();
    const edges = await Promise.all([label, page.getByRole('dialog')].map((part) => part.boundingBox()));
    const [end, edge] = edges.map((box) => box!.x + box!.width);
    expect(end).toBeLessThan(edge!);
  });
});
