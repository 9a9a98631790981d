import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { DESK, inBrowser, PHONE } from '#test/browser/chromium.ts';
import { type ConsoleWorld, logIn, openConsole } from '#test/browser/console_world.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';

/** Adds up how far anything moved that was not moved by the person (CLS). */
const WATCH_SHIFTS = `
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      globalThis.shifts.push(entry.value + ' ' + entry.sources.map(({ node }) => node?.outerHTML?.slice(0, 160)).join(' | '));
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

const shiftsOf = (page: Page) => page.evaluate<string[]>('globalThis.shifts');

/** Nothing is on its way any more. */
async function isAtRest(page: Page): Promise<void> {
  await page.locator('main .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  await page.evaluate('document.fonts.ready.then(() => new Promise(requestAnimationFrame))');
}

async function createTeam(h: ConsoleWorld, userId: string) {
  const bram = await givenPerson(h, { role: 'responder', name: 'Bram' });
  const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
  await h.expectOk('add_team_member', { teamId, userId, phone: '+31612345678' });
  await h.expectOk('add_team_member', { teamId, userId: bram.userId });
  const rotationConfig = { userIds: [userId, bram.userId] };
  const startAt = h.clock.now().subtract({ hours: 30 }).toString();
  const rotation = { rotationType: 'daily', rotationConfig, startAt };
  const { scheduleId } = await h.expectOk('create_schedule', { teamId, name: 'Primary', ...rotation });
  return { teamId, scheduleId, bram };
}

inBrowser('home', () => {
  test.each([
    { where: 'a desktop', screen: { viewport: DESK } },
    { where: 'a phone', screen: { viewport: PHONE, isMobile: true, hasTouch: true } },
  ])('nothing moves while it loads on $where, in a new organization or a busy one', async ({ screen }) => {
    const h = await openConsole();
    const { page, userId } = await h.visitor({ ...screen });
    await page.addInitScript(WATCH_SHIFTS);
    await page.reload();
    await page.getByText('0 of 6 done.').waitFor();
    await isAtRest(page);
    expect(await shiftsOf(page)).toEqual([]);

    await createTeam(h, userId);
    const { serviceId } = await h.given.service({ name: 'checkout' });
    await h.incident(serviceId, 'Checkout is slow');
    await page.reload();
    await page.getByText('Checkout is slow').waitFor();
    await page.getByText('You are not on call').waitFor();
    await page.getByRole('img', { name: /^Next 24 hours: Bram until .*, then You until/ }).waitFor();
    await isAtRest(page);
    expect(await shiftsOf(page)).toEqual([]);
  });

  test('shows whose turn it is and when mine comes, and lets me take over and give back', async () => {
    const h = await openConsole();
    const { page, userId } = await h.visitor({ path: '/' });
    await createTeam(h, userId);
    await page.getByText('Your next shifts').waitFor();
    await page.getByRole('button', { name: 'Take over Primary' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take over' }).click();
    await page.getByText('You are on call', { exact: true }).waitFor();
    await page.keyboard.press('u');
    await page.getByText('You are not on call').waitFor();
    await page.getByText('The override of Primary is removed.').waitFor();
    expect(await h.context.db.sql.rows('select 1 from schedule_overrides')).toEqual([]);
  });
});

inBrowser('a long name', () => {
  test('makes no page of a phone wider than it is', async () => {
    const h = await openConsole();
    const bram = await givenPerson(h, { role: 'responder', name: 'Bram' });
    const long = 'Payments reconciliation and settlement for the European region';
    const { teamId } = await h.expectOk('create_team', { name: `${long}, responders` });
    const { page, userId } = await h.visitor({ path: '/me', viewport: PHONE, isMobile: true, hasTouch: true });
    const startAt = h.clock.now().subtract({ hours: 1 }).toString();
    const rotation = { rotationType: 'daily', rotationConfig: { userIds: [bram.userId, userId] }, startAt };
    await h.expectOk('create_schedule', { teamId, name: long, ...rotation });
    // No provider of SMS is set up here, of which the page of all schedules warns.
    const steps = [{ afterMinutes: 0, channels: ['sms'], useSchedule: true }];
    await h.expectOk('create_escalation_policy', { teamId, name: long, steps });
    const { serviceId } = await h.given.service();
    const incidentId = await h.incident(serviceId, `${long} is slow`);
    await h.expectOk('resolve_incident', { incidentId });
    const widths = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    for (const [path, shows] of [
      ['', 'Your next shifts'],
      ['incidents', 'Last resolved'],
      ['oncall', 'would reach nobody now'],
    ] as const) {
      await page.goto(`${h.baseUrl}/${path}`);
      await page.getByText(shows).locator('visible=true').first().waitFor();
      expect(await page.evaluate(widths), `/${path}`).toBe(0);
    }
  });
});

inBrowser('the way around', () => {
  test('shows an incident that was opened after the page was read and before it listens', async () => {
    const h = await openConsole();
    const { page } = await h.visitor({ path: '/me' });
    const { serviceId } = await h.given.service();
    const [opened, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/events?*', async (route) => {
      asked.resolve();
      await opened.promise;
      await route.continue();
    });
    await page.goto(`${h.baseUrl}/`);
    await page.getByText('All quiet').waitFor();
    await asked.promise;
    await h.incident(serviceId, 'Checkout is slow');
    opened.resolve();
    await page.getByText('Checkout is slow').waitFor();
    expect(await page.getByText('All quiet').count()).toBe(0);
  });

  test('goes by g and a letter, and a letter that means nothing does nothing', async () => {
    const h = await openConsole();
    const { page } = await h.visitor({ path: '/' });
    const { serviceId } = await h.given.service();
    await h.incident(serviceId, 'Checkout is slow');
    await page.getByText('Checkout is slow').waitFor();
    for (const [key, title] of [
      ['s', 'Services'],
      ['m', 'Olga'],
      ['i', 'Incidents'],
    ] as const) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    }
    await page.getByText('Checkout is slow').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { name: /, Olga$/ }).waitFor();
    expect((await h.expectOk('list_incidents', { status: 'triggered' })).incidents).toHaveLength(1);
  });

  test('has the pages needed most in the bar of a phone, and all others one tap further', async () => {
    const h = await openConsole();
    const { page } = await h.visitor({ path: '/', viewport: PHONE, isMobile: true, hasTouch: true });
    const bar = page.getByRole('navigation', { name: 'Main navigation, on a phone' });
    await bar.getByRole('button', { name: 'More' }).tap();
    const sheet = page.getByRole('dialog', { name: 'More' });
    await sheet.getByRole('link', { name: 'Settings' }).tap();
    await page.getByRole('heading', { name: 'Members' }).waitFor();
    await sheet.waitFor({ state: 'detached' });
    await bar.getByRole('button', { name: 'More' }).tap();
    await sheet.waitFor();
    await page.goBack();
    await sheet.waitFor({ state: 'detached' });
    // The browser has gone back already; the router takes it forward again.
    await page.waitForURL('**/settings/members');
    await bar.getByRole('link', { name: 'Services' }).tap();
    await page.getByText('No service yet').waitFor();
    expect(new URL(page.url()).pathname).toBe('/services');
  });
});

inBrowser('a form', () => {
  test('keeps what was entered through a reload, a server that is away and a session that has ended', async () => {
    const h = await openConsole();
    const { page, email } = await h.visitor({ path: '/services?create=true' });
    const dialog = page.getByRole('dialog', { name: 'Create a service' });
    await dialog.getByLabel('Name').fill('checkout');
    await dialog.getByLabel('Environment').fill('production');
    await page.reload();
    await dialog.getByText(/^This continues what you entered/).waitFor();
    await page.route('**/create_service', (route) => route.abort());
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('The service was not created').waitFor();
    await page.unroute('**/create_service');

    await page.context().clearCookies();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    await logIn(page, email);
    await dialog.getByText(/^This continues what you entered/).waitFor();
    expect(await dialog.getByLabel('Environment').inputValue()).toBe('production');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'checkout' }).waitFor();
    await expect
      .poll(() => page.evaluate(`Object.keys(localStorage).filter((key) => key.includes('draft'))`))
      .toEqual([]);
  });

  test('shows both versions when somebody else changed the same field, and takes over what touches nothing of mine', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const { page } = await h.visitor({ path: `/services/${serviceId}/settings` });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit the service' });
    await dialog.getByLabel('Name').fill('payments');
    await h.expectOk('update_service', { serviceId, name: 'billing', environment: 'production' });
    const conflict = dialog.getByRole('alert', { name: 'Somebody else changed this' });
    await conflict.getByText('billing').waitFor();
    expect(await dialog.getByLabel('Environment').inputValue()).toBe('production');
    await expect.poll(() => dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await conflict.getByRole('button', { name: 'Name: keep yours' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('payments', { exact: true }).first().waitFor();
    expect((await h.expectOk('get_service', { serviceId })).environment).toBe('production');
  });
});
