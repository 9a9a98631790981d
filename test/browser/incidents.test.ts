import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { inBrowser, PHONE } from '#test/browser/chromium.ts';
import { touchScreen, centerOf } from '#test/browser/touch.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { storesOf } from '#modules/stores.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';
import { givenIncidents } from '#test/kit/many_incidents.ts';

/** Waits for the row of an incident to show this status. */
const row = (page: Page, title: string, status: string) =>
  page.locator('li[data-row]').filter({ hasText: title }).filter({ hasText: status }).waitFor();

/** Counts what the page receives from now on, in bytes on the wire with headers. */
async function countBytes(page: Page): Promise<() => number> {
  const cdp = await page.context().newCDPSession(page);
  const finished = new Map<string, number>();
  const received = new Map<string, number>();
  cdp.on('Network.dataReceived', ({ requestId, dataLength }) => {
    received.set(requestId, (received.get(requestId) ?? 0) + dataLength);
  });
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    finished.set(requestId, encodedDataLength);
  });
  await cdp.send('Network.enable');
  return () => {
    const streamed = [...received].filter(([requestId]) => !finished.has(requestId));
    return [...finished, ...streamed].reduce((sum, [, bytes]) => sum + bytes, 0);
  };
}

/** Whether `j` has focused a row. */
async function isOnRow(page: Page, keys: (key: string) => Promise<void>): Promise<boolean> {
  await keys('j');
  return (await page.locator('li[data-row]:focus, li[data-row]:focus-within').count()) === 1;
}

inBrowser('incidents', () => {
  test('an incident that one person acknowledges and resolves on a phone changes for another immediately', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const anna = await h.visitor({
      role: 'responder',
      name: 'Anna',
      path: '/incidents',
      viewport: PHONE,
      hasTouch: true,
    });
    const bram = await h.visitor({ role: 'viewer', name: 'Bram', path: '/incidents?status=all' });
    await bram.page.getByText('All quiet').waitFor();
    await h.incident(serviceId, 'Checkout is slow');
    await row(bram.page, 'Checkout is slow', 'Triggered');

    await anna.page.getByRole('link', { name: 'Checkout is slow' }).tap();
    await anna.page.getByRole('heading', { name: 'Checkout is slow' }).waitFor();
    const acknowledge = anna.page.getByRole('button', { name: 'Acknowledge' });
    expect((await acknowledge.boundingBox())!.height).toBeGreaterThanOrEqual(56);
    const finger = await touchScreen(anna.page);
    await finger.tap(await centerOf(acknowledge), 0);
    await row(bram.page, 'Checkout is slow', 'Acknowledged');
    await bram.page.getByText('by Anna').locator('visible=true').waitFor();
    await finger.tap(await centerOf(anna.page.getByRole('button', { name: 'Resolve' })), 2_000);
    await row(bram.page, 'Checkout is slow', 'Resolved');
    await anna.page.getByText(/^Resolved by Anna/).waitFor();
    await expect.poll(() => bram.page.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0);
  });

  test('several incidents are answered together, and the address keeps the filter', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const other = await h.given.service({ name: 'search' });
    await h.incident(serviceId, 'First');
    await h.incident(serviceId, 'Second');
    await h.incident(other.serviceId, 'Third');
    const { page } = await h.visitor({ path: '/incidents' });
    await page.getByRole('combobox', { name: 'Service' }).click();
    await page.getByRole('option', { name: 'checkout' }).click();
    await page.waitForURL(/service=service_/);
    await page.reload();
    await row(page, 'First', 'Triggered');
    expect(await page.getByText('Third').count()).toBe(0);
    await page.getByLabel(/^Select incident \d+: First/).check();
    await page.getByLabel(/^Select incident \d+: Second/).check();
    const selection = page.getByRole('region', { name: 'Selected incidents' });
    await selection.getByText('2 selected').waitFor();
    await selection.getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('2 incidents resolved').waitFor();
    const { incidents } = await h.expectOk('list_incidents', { status: 'resolved' });
    expect(incidents.map(({ title }: { title: string }) => title).toSorted()).toEqual(['First', 'Second']);
  });

  test('no incident is hidden in a list of 1,279, and a change by others loads only its row', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout', capabilities: [] });
    await givenIncidents(h, serviceId, { count: 1_200 });
    const waiting = await givenIncidents(h, serviceId, { count: 70, status: 'triggered', minutesAgo: 20_000 });
    const old = { count: 9, status: 'acknowledged', minutesAgo: 30_000, title: 'Long known' } as const;
    await givenIncidents(h, serviceId, old);
    const { page } = await h.visitor({ path: '/incidents' });
    const tabs = page.getByRole('navigation', { name: 'Incidents by status' });
    await tabs.getByRole('link', { name: 'Acknowledged 9' }).waitFor();
    expect(await tabs.getByRole('link').allInnerTexts()).toEqual(
      ['Open 79', 'Triggered 70', 'Acknowledged 9', 'Resolved 1,200', 'All'].map((text) => text.replace(' ', '\n')),
    );
    await page.getByRole('link', { name: /^Incidents 70 waiting/ }).waitFor();
    await page.locator('li[data-row]').first().waitFor();
    const goDown = async () => {
      await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
      return await page.locator('li[aria-posinset="79"]').count();
    };
    await expect.poll(goDown).toBe(1);
    // Only rows in sight are in the document.
    await expect.poll(() => page.locator('li[data-row]').count()).toBeLessThan(60);
    await page.evaluate('window.scrollTo(0, 0)');

    const bytes = await countBytes(page);
    for (const [index, incidentId] of waiting.slice(0, 10).entries()) {
      await h.expectOk('acknowledge_incident', { incidentId });
      await tabs.getByRole('link', { name: `Acknowledged ${10 + index}` }).waitFor();
      // It is behind the triggered ones now, and out of sight.
      await page.locator(`li[data-row="${incidentId}"]`).waitFor({ state: 'detached' });
    }
    console.log(`ten changes by others cost an open list of 1,279 incidents ${bytes()} bytes`);
    expect(bytes()).toBeLessThan(10 * 5_000);

    await page.getByLabel('Search incidents').fill('long known 9');
    await row(page, 'Long known 9', 'Acknowledged');
    await page.locator('li[data-row]').nth(1).waitFor({ state: 'detached' });
    await page.goto(`${h.baseUrl}/services`);
    await page.getByText('60 triggered').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search people, services, incidents and everything else').fill('long known 9');
    await page.getByRole('button', { name: /^Long known 9/ }).waitFor();
  });

  test('everything works without a mouse', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    await h.incident(serviceId, 'Checkout is slow');
    const { page } = await h.visitor({ role: 'responder' });
    const keys = async (...pressed: string[]): Promise<void> => {
      for (const key of pressed) await page.keyboard.press(key);
    };
    await page.getByText('Your open incidents').waitFor();
    await keys('g', 'i');
    await page.waitForURL(/\/incidents/);
    await page.getByRole('heading', { level: 1, name: 'Incidents' }).waitFor();
    await row(page, 'Checkout is slow', 'Triggered');
    await expect.poll(() => isOnRow(page, keys)).toBe(true);
    await keys('a');
    await row(page, 'Checkout is slow', 'Acknowledged');
    await keys('Enter');
    await page.getByRole('heading', { name: 'Checkout is slow' }).waitFor();
    await keys('r');
    await page.getByText('Resolved. Nobody else will be paged.').waitFor();
    await keys('?');
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await shortcuts.waitFor();
    await keys('Escape');
    await shortcuts.waitFor({ state: 'detached' });
    await keys('Control+k');
    // Not for responders.
    await page.getByLabel('Search people, services, incidents and everything else').fill('audit');
    await page.getByText('No results').waitFor();
    await page.getByLabel('Search people, services, incidents and everything else').fill('checkout');
    await page.getByRole('button', { name: 'checkout', exact: true }).waitFor();
    // The service of that very name comes before the incident in whose title it is, and is what Enter opens.
    await page.getByRole('button', { name: 'Checkout is slow' }).first().waitFor();
    await keys('Enter');
    await page.waitForURL(/\/services\/service_/);
    await expect.poll(() => page.getByRole('heading', { level: 1 }).innerText()).toBe('checkout');
  });

  test('the escalation card shows the steps as they were when the incident opened, with their outcomes', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const { page, userId } = await h.visitor({ path: '/me' });
    const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
    const byMail = (afterMinutes: number) => ({ afterMinutes, channels: ['email'], targetUserIds: [userId] });
    const steps = [{ afterMinutes: 0, channels: ['sms'], useSchedule: true }, byMail(30), byMail(60)];
    const { policyId } = await h.expectOk('create_escalation_policy', { teamId, name: 'Wake somebody', steps });
    await h.incident(serviceId, 'Checkout is slow', { escalationPolicyId: policyId });
    await h.expectOk('update_escalation_policy', { policyId, steps: [byMail(0)] });
    await page.goto(`${h.baseUrl}/incidents`);
    await page.getByText('step 3 of 3').locator('visible=true').waitFor();
    await page.getByRole('link', { name: 'Checkout is slow' }).click();
    const card = page.getByRole('region', { name: 'Escalation' }).getByRole('listitem');
    const shown = async () => (await card.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
    await expect
      .poll(shown)
      .toEqual([
        expect.stringMatching(/^Step 1: Immediately the people on call in Platform Skipped at .+: nobody is on call$/i),
        expect.stringMatching(/^Step 2: After 30 min you \((?:sent|on its way)\) Fired at .+, early$/),
        expect.stringMatching(/^3 Step 3: After 1 h you$/),
      ]);
    await page.getByRole('button', { name: 'Resolve' }).click();
    await card.nth(2).getByText('Did not fire: the incident was resolved first').waitFor();
    expect((await shown())[1]).toContain('Fired at');
  });

  test('a link from a message opens in the organization of its incident', async () => {
    const h = await openConsole();
    const other = await h.given.organization('Umbrella');
    const service = await h.given.service({ name: 'search', key: other.orgKey });
    const { page, userId } = await h.visitor({ role: 'responder' });
    const people = storesOf(h.context.db.session()).people;
    await people.setMembership(other.orgId, userId, 'viewer', h.clock.now());
    const incidentId = await h.incident(service.serviceId, 'Far away', { key: other.orgKey });
    await page.goto(`${h.baseUrl}/incidents/${incidentId}`);
    await page.getByRole('heading', { name: 'Far away' }).waitFor();
    const menu = page.getByRole('button', { name: /^Organization: / }).first();
    await expect.poll(() => menu.innerText()).toBe('Umbrella');
  });

  test('a storm lists the alerts that it replaces', async () => {
    const h = await openConsole({ settings: { incidentsPerService: 1 } });
    const { serviceId, dsn } = await h.given.service({ name: 'checkout' });
    await h.expectOk('create_alert_rule', {
      serviceId,
      name: 'any',
      kind: 'exception',
      config: { minSeverity: 'error' },
    });
    const { username, origin, pathname } = new URL(dsn.replace('tocsin.test', new URL(h.baseUrl).host));
    for (const type of ['FirstError', 'SecondError', 'ThirdError']) {
      const answer = await fetch(`${origin}/api${pathname}/store/?sentry_key=${username}&sentry_version=7`, {
        method: 'POST',
        body: JSON.stringify({ exception: { values: [{ type, value: 'broken' }] } }),
      });
      expect(answer.status).toBe(200);
      // The first opens an incident of its own.
      await expect.poll(async () => (await h.expectOk('list_incidents')).total).toBeGreaterThan(0);
    }
    const olga = await h.visitor({ path: '/incidents', viewport: PHONE });
    await olga.page.getByRole('link', { name: /2 more/ }).click();
    const members = olga.page.getByRole('region', { name: 'Grouped here (2)' });
    await members.getByText('SecondError').waitFor();
    await members.getByText('ThirdError').waitFor();
    await expect.poll(() => members.getByText('open', { exact: true }).count()).toBe(2);
    expect(await olga.page.getByText('no longer stored').count()).toBe(0);
  });

  test('a person declares an incident, escalates, hands over and writes a note by keys alone', async () => {
    const h = await openConsole();
    await h.given.service({ name: 'checkout' });
    const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
    const { page, userId } = await h.visitor({ role: 'responder', path: '/incidents' });
    const bram = await givenPerson(h, { role: 'responder', name: 'Bram' });
    const byMail = (afterMinutes: number) => ({ afterMinutes, channels: ['email'], targetUserIds: [userId] });
    await h.expectOk('create_escalation_policy', {
      teamId,
      name: 'Wake me',
      steps: [byMail(0), byMail(30), byMail(60)],
    });
    const keys = async (...pressed: string[]): Promise<void> => {
      for (const key of pressed) await page.keyboard.press(key);
    };
    await page.getByText('All quiet').waitFor();
    await keys('c');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What is wrong').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Nobody can pay');
    await keys('Enter');
    await dialog.getByText('Choose who is paged, or nobody').waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Incidents' }).waitFor();
    await keys('c');
    await dialog.getByText('This continues what you entered').waitFor();
    await expect.poll(() => dialog.getByLabel('What is wrong').inputValue()).toBe('Nobody can pay');
    await dialog.getByRole('combobox', { name: 'Service' }).focus();
    await page.keyboard.type('check');
    await page.getByRole('option', { name: 'checkout' }).waitFor();
    await keys('ArrowDown', 'Enter', 'Tab', 'Tab');
    await page.keyboard.type('Wake');
    await page.getByRole('option', { name: 'Wake me' }).waitFor();
    // "Nobody" stands before it until the server has answered for what was typed.
    const wakeMe = page.locator('[role=option][data-active]').filter({ hasText: 'Wake me' });
    const isAtWakeMe = async () => {
      await keys('ArrowDown');
      return await wakeMe.count();
    };
    await expect.poll(isAtWakeMe).toBe(1);
    await keys('Enter');
    await dialog.getByRole('button', { name: 'Declare and page' }).waitFor();
    await dialog.getByRole('button', { name: 'Declare and page' }).focus();
    await keys('Enter');
    await page.getByRole('heading', { name: 'Nobody can pay' }).waitFor();
    await page.getByText('Declared by Olga by the console.').waitFor();

    await page.getByText(/^until it pages /).waitFor();
    await keys('e');
    await dialog.getByRole('button', { name: 'Escalate now' }).focus();
    await keys('Enter');
    await page.getByText(/escalated it: step 2 fires at once/).waitFor();
    await dialog.waitFor({ state: 'detached' });
    await keys('s');
    await dialog.getByRole('combobox', { name: 'Person' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('option', { name: 'Bram' }).waitFor();
    await page.keyboard.type('Bram');
    await keys('ArrowDown', 'Enter');
    await dialog.getByText('Bram is paged now, by mail').waitFor();
    await dialog.getByRole('button', { name: 'Hand over and page' }).focus();
    await keys('Enter');
    await page.getByText('Handed over to Bram by Olga').waitFor();
    await expect.poll(() => h.post.mails.filter(({ recipients }) => recipients.includes(bram.email)).length).toBe(1);

    await dialog.waitFor({ state: 'detached' });
    await keys('n');
    await page.keyboard.type('The replica lags.');
    await keys('Control+Enter');
    const note = page.getByRole('listitem').filter({ hasText: 'The replica lags.' });
    await note.getByRole('button', { name: 'Change this note' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.getByLabel('Note', { exact: true }).fill('The primary lags.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('listitem').filter({ hasText: 'The primary lags.' }).getByText('edited').waitFor();
  });

  test('a person declares an incident, escalates and hands it over with a thumb', async () => {
    const h = await openConsole();
    await h.given.service({ name: 'checkout' });
    const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
    const touch = { viewport: PHONE, isMobile: true, hasTouch: true, serviceWorkers: 'block' } as const;
    const { page, userId } = await h.visitor({ ...touch, role: 'responder', path: '/incidents' });
    await givenPerson(h, { role: 'responder', name: 'Bram' });
    const byMail = (afterMinutes: number) => ({ afterMinutes, channels: ['email'], targetUserIds: [userId] });
    const steps = [byMail(0), byMail(30)];
    await h.expectOk('create_escalation_policy', { teamId, name: 'Wake me', steps });
    await page.getByText('All quiet').waitFor();
    const finger = await touchScreen(page);
    const tap = async (name: string, within: Page | Locator = page): Promise<void> => {
      const button = within.getByRole('button', { name, exact: true });
      // Away from the bar at the bottom, as somebody scrolls who wants to press it.
      const { y, height } = (await button.boundingBox())!;
      expect(height).toBeGreaterThanOrEqual(44);
      await page.evaluate(`scrollBy(0, ${y - PHONE.height / 2})`);
      await finger.tap(await centerOf(button), 2_000);
    };
    await tap('Declare an incident');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What is wrong').fill('Nobody can pay');
    await dialog.getByRole('combobox', { name: 'Service' }).tap();
    await page.getByRole('option', { name: 'checkout' }).tap();
    await dialog.getByRole('combobox', { name: 'Who is paged' }).tap();
    await page.getByRole('option', { name: 'Wake me' }).tap();
    await tap('Declare and page', dialog);
    await page.getByRole('heading', { name: 'Nobody can pay' }).waitFor();
    await page.getByText(/^until it pages /).waitFor();
    await tap('Escalate now');
    await tap('Escalate now', dialog);
    await dialog.waitFor({ state: 'detached' });
    // What the page says then has another height.
    await page.getByText(/^until it pages /).waitFor({ state: 'detached' });
    await page.getByText(/escalated it: step 2 fires at once/).waitFor();
    await tap('Hand over');
    await dialog.getByRole('combobox', { name: 'Person' }).tap();
    await page.getByRole('option', { name: 'Bram' }).tap();
    await tap('Hand over and page', dialog);
    await page.getByText('Handed over to Bram by Olga').waitFor();
  });

  test('all of 10,000 incidents can be reached and answered, and keys stay quick', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout', capabilities: [] });
    await givenIncidents(h, serviceId, { count: 9_800, minutesAgo: 60 });
    await givenIncidents(h, serviceId, { count: 200, status: 'triggered', minutesAgo: 5 });
    const { page } = await h.visitor({ path: '/me' });
    await page.getByRole('heading', { level: 1 }).waitFor();
    const startedAt = performance.now();
    await page
      .getByRole('link', { name: /^Incidents/ })
      .first()
      .click();
    await page.locator('li[data-row]').first().waitFor();
    console.log(`a list of 10,000 incidents opened in ${Math.round(performance.now() - startedAt)} ms`);
    await page.evaluate(`window.paints = []; addEventListener('keydown', ({ timeStamp }) => requestAnimationFrame(() =>
      requestAnimationFrame(() => paints.push(performance.now() - timeStamp))), true)`);
    for (let row = 0; row < 60; row += 1) await page.keyboard.press('j');
    await expect.poll(() => page.evaluate('paints.length')).toBe(60);
    await page.locator('li[aria-posinset="60"]:focus-within').waitFor();
    const paints = (await page.evaluate<number[]>('paints')).toSorted((a, b) => a - b);
    console.log(`60 times j → paint: median ${Math.round(paints[30]!)} ms, longest ${Math.round(paints[59]!)} ms`);

    await page.keyboard.press('Shift+A');
    const bar = page.getByRole('region', { name: 'Selected incidents' });
    await bar.getByText('All 200 selected').waitFor();
    await bar.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText('200 incidents acknowledged.').waitFor();
    await page.getByRole('link', { name: 'Acknowledged 200' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone for 200 incidents.').waitFor();
    await page.getByRole('link', { name: 'Triggered 200' }).waitFor();
  });
});
