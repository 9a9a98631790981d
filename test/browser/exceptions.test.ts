import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { DESK, inBrowser, PHONE } from '#test/browser/chromium.ts';
import { type ConsoleWorld, openConsole } from '#test/browser/console_world.ts';
import { centerOf, touchScreen } from '#test/browser/touch.ts';

const rows = (page: Page) => page.locator('li[data-row]');
const row = (page: Page, title: string) => rows(page).filter({ hasText: title });
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();

async function send(h: ConsoleWorld, dsn: string, event: object): Promise<void> {
  const { username, pathname } = new URL(dsn);
  const answer = await fetch(`${h.baseUrl}/api${pathname}/store/?sentry_key=${username}&sentry_version=7`, {
    method: 'POST',
    body: JSON.stringify(event),
  });
  expect(answer.status).toBe(200);
}

const failure = (type: string) => ({ exception: { values: [{ type, value: 'broken' }] } });

/** Sends a file and what a user wrote about the newest event of the group, as clients do. */
async function sendExtras(h: ConsoleWorld, dsn: string, eventId: string): Promise<void> {
  const items = [
    { event_id: eventId, dsn },
    { type: 'attachment', filename: 'screen.txt', content_type: 'text/plain' },
    'what was on the screen',
    { type: 'user_report' },
    { event_id: eventId, name: 'Ann', email: 'ann@example.com', comments: 'I cannot pay.' },
  ];
  const body = items.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join('\n');
  const answer = await fetch(`${h.baseUrl}/api/ingest/envelope`, { method: 'POST', body });
  expect(answer.status).toBe(200);
}

/** Groups with as many events as said, one hour after the other, by their types. */
async function given(
  h: ConsoleWorld,
  serviceId: Id<'service'>,
  counts: Readonly<Record<string, number>>,
): Promise<Map<string, Id<'group'>>> {
  const groupIds = new Map<string, Id<'group'>>();
  for (const [type, count] of Object.entries(counts)) {
    const events = Array.from({ length: count }, (_, index) => {
      const [exception] = eventAt(h).exceptions;
      return eventAt(h, {
        ago: { hours: 24 * index, minutes: 1 },
        release: `shop@1.${index}.0`,
        exceptions: [{ ...exception!, type, value: `event ${index + 1} of ${type}` }],
      });
    });
    const [group] = await groupAndStore(h, serviceId, events);
    groupIds.set(type, group!.groupId);
  }
  const { exceptionCounts } = storesOf(h.context.db.session());
  const all = [...groupIds.values()];
  await exceptionCounts.markDue(all, h.clock.now());
  await expect.poll(async () => (await exceptionCounts.find(all)).size).toBe(all.length);
  return groupIds;
}

async function statusOf(h: ConsoleWorld, groupId: Id<'group'>): Promise<string> {
  return (await h.expectOk('get_exception_group', { groupId })).status;
}

inBrowser('exceptions', () => {
  test('the first error shows by itself; it is found, read day by day, resolved, and taken back', async () => {
    const h = await openConsole();
    const { serviceId, dsn } = await h.given.service({ name: 'checkout' });
    const { page } = await h.visitor({ path: '/exceptions', viewport: DESK });
    await page.getByText('No exception yet').waitFor();
    await page.getByRole('region', { name: 'No exception yet' }).getByText('sentry/node').waitFor();
    await send(h, dsn.replace('tocsin.test', new URL(h.baseUrl).host), failure('FirstError'));
    await row(page, 'FirstError').getByText('new', { exact: true }).waitFor();

    const groups = await given(h, serviceId, { Quiet: 1, CardDeclined: 4, Middle: 2 });
    await h.expectOk('create_alert_rule', { serviceId, name: 'any', kind: 'exception', config: {} });
    await page.reload();
    await rows(page).nth(3).waitFor();
    await page.getByRole('button', { name: 'Events: sort by number of events' }).click();
    await page.waitForURL(/sort=events/);
    await expect.poll(() => rows(page).first().innerText()).toContain('CardDeclined');
    await page.getByLabel('Search exceptions').fill('payments.py');
    await expect.poll(() => rows(page).count()).toBe(3);
    await page.getByRole('link', { name: /^CardDeclined/ }).click();
    await heading(page, /^CardDeclined/);

    const event = page.getByRole('region', { name: 'Event', exact: true });
    await event.getByText('event 1 of CardDeclined').waitFor();
    const bars = page.getByRole('region', { name: 'Events by day' }).getByRole('button', { name: /: 1 event$/ });
    await expect.poll(() => bars.count()).toBe(4);
    await bars.first().click();
    await page.waitForURL(/day=\d{4}-\d\d-\d\d/);
    await event.getByText('event 4 of CardDeclined').waitFor();
    await expect.poll(() => event.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'The next day with events' }).click();
    await event.getByText('event 3 of CardDeclined').waitFor();
    await page.getByRole('button', { name: 'Show all days' }).click();
    await event.getByText('event 1 of CardDeclined').waitFor();
    await event.getByRole('button', { name: 'Older' }).click();
    await event.getByText('event 2 of CardDeclined').waitFor();
    await page.reload();
    await event.getByText('event 2 of CardDeclined').waitFor();

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      'CardDeclined: event 2 of CardDeclined\n    at charge (shop/payments.py:42)',
    );
    const rule = page.getByRole('link', { name: 'Create a rule' });
    expect(await rule.getAttribute('href')).toContain(`/rules/new?service=${serviceId}&kind=exception`);
    await page
      .getByRole('region', { name: 'Similar exceptions' })
      .getByRole('link', { name: /^Middle/ })
      .waitFor();
    await page.getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('Exception resolved.').waitFor();
    await expect.poll(() => statusOf(h, groups.get('CardDeclined')!)).toBe('resolved');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.').waitFor();
    expect(await statusOf(h, groups.get('CardDeclined')!)).toBe('unresolved');
    await page.goto(`${h.baseUrl}/exceptions/group_01kdwm3y8pfqa9b6t2x0c4v7zs`);
    await page.getByText('Exception not found').waitFor();
  });

  test('several become one and are split off again, what is fixed waits for its release, and deploys are marked', async () => {
    const h = await openConsole();
    const { serviceId, dsn, ingestionKey } = await h.given.service({ name: 'checkout' });
    const groups = await given(h, serviceId, { Quiet: 1, Middle: 2, CardDeclined: 4 });
    const deployed = await fetch(`${h.baseUrl}/api/ingest/deploys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ingestionKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ release: 'shop@1.3.0', environment: 'staging' }),
    });
    expect(deployed.status).toBe(201);
    const { page } = await h.visitor({ path: '/exceptions', viewport: DESK });
    const dialog = page.getByRole('dialog');
    const choose = async (...titles: string[]): Promise<void> => {
      for (const title of titles) await row(page, title).getByRole('checkbox').check();
      await page.keyboard.press('m');
    };
    await row(page, 'Quiet')
      .getByRole('img', { name: /^1 events in 14 days, [01] today, 1 deploy$/ })
      .waitFor();
    await choose('Quiet', 'Middle');
    await dialog.getByText('Which exception should they become part of?').waitFor();
    await dialog.getByLabel(/^Middle/).check();
    await dialog.getByText('the status is unresolved for all').waitFor();
    await dialog.getByRole('button', { name: 'Merge' }).click();
    await page.getByText('2 exceptions merged into one.').waitFor();
    await row(page, 'Quiet').waitFor({ state: 'detached' });
    await page.keyboard.press('u');
    await page.getByText('Undone.').waitFor();
    await row(page, 'Quiet').waitFor();

    await row(page, 'Quiet').getByRole('link').click();
    await heading(page, /^Quiet/);
    await page.getByRole('button', { name: 'Merge into …' }).click();
    await dialog.getByRole('combobox').fill('midd');
    await page.getByRole('option', { name: /^Middle/ }).click();
    await dialog.getByRole('button', { name: 'Merge' }).click();
    await heading(page, /^Middle/);
    const parts = page.getByRole('region', { name: 'Merged into this one' });
    await parts.getByRole('button', { name: /^Separate Quiet/ }).waitFor();
    await page.goto(`${h.baseUrl}/exceptions/${groups.get('Quiet')!}`);
    await page.getByText('Part of another exception').waitFor();
    expect(await page.getByRole('button', { name: 'Resolve' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Separate' }).click();
    await page.getByText('Separated: an exception of its own again.').waitFor();
    await page.getByRole('button', { name: 'Resolve' }).waitFor();
    await page.getByText('Part of another exception').waitFor({ state: 'detached' });

    const [newest] = (await h.expectOk('get_exception_group', { groupId: groups.get('CardDeclined')! })).recentEvents;
    await sendExtras(h, dsn, newest.eventId);
    await page.goto(`${h.baseUrl}/exceptions/${groups.get('CardDeclined')!}`);
    await heading(page, /^CardDeclined/);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download screen.txt' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('screen.txt');
    await page.getByRole('region', { name: 'What users said' }).getByText('I cannot pay.').waitFor();
    const bars = page.getByRole('region', { name: 'Events by day' });
    await bars.getByRole('button', { name: /: shop@1\.3\.0 deployed, 1 event$/ }).waitFor();

    await page.getByRole('button', { name: 'Fixed in a release' }).click();
    await page.getByRole('menuitem', { name: 'Fixed in a release …' }).click();
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    await dialog.getByText('Name the release.').waitFor();
    await dialog.getByRole('combobox').fill('shop@9');
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('Exception resolved in release shop@9.').waitFor();
    await page.getByText('fixed in release shop@9').first().waitFor();
    await page.getByRole('button', { name: 'Reopen' }).click();
    await page.getByText('Exception reopened.').waitFor();
    await page.getByRole('button', { name: 'Resolve', exact: true }).waitFor();
    await page.keyboard.press('R');
    await page.getByText('fixed in the next release after shop@1.3.0').first().waitFor();
    expect(await statusOf(h, groups.get('CardDeclined')!)).toBe('resolved');

    for (const user of ['ann', 'root']) {
      await send(h, dsn.replace('tocsin.test', new URL(h.baseUrl).host), { message: `login of user ${user} failed` });
    }
    const titled = async (title: string) => {
      const listed = await h.expectOk('list_exception_groups', { serviceId });
      return listed.groups.find((group: { title: string }) => group.title === title)?.groupId;
    };
    await expect.poll(() => titled('login of user <*> failed')).toBeDefined();
    await page.goto(`${h.baseUrl}/exceptions/${await titled('login of user <*> failed')}`);
    await heading(page, 'login of user <*> failed');
    await page.getByRole('button', { name: 'Grouped wrongly? Separate this message' }).click();
    await heading(page, /^login of user (?:ann|root) failed$/);
    await page.getByText('no event has come since').waitFor();
    await page.keyboard.press('u');
    await page.getByText('Undone: it is part of the exception again.').waitFor();
    await page.getByText('Part of another exception').waitFor();
  });

  test('everything works without a mouse, and undoing a resolution reopens its incidents', async () => {
    const h = await openConsole();
    const { serviceId, dsn } = await h.given.service({ name: 'checkout' });
    await h.expectOk('create_alert_rule', {
      serviceId,
      name: 'any',
      kind: 'exception',
      config: { minSeverity: 'error' },
    });
    await send(h, dsn.replace('tocsin.test', new URL(h.baseUrl).host), failure('PagedError'));
    const groups = await given(h, serviceId, { Second: 3, Third: 1 });
    const { page } = await h.visitor({ role: 'editor' });
    const keys = async (...pressed: string[]): Promise<void> => {
      for (const key of pressed) await page.keyboard.press(key);
    };
    const isOn = async (title: string) =>
      await expect
        .poll(() => page.locator('li[data-row]:focus-within').allInnerTexts())
        .toEqual([expect.stringContaining(title)]);
    await page.getByText('Your open incidents').waitFor();
    await keys('g', 'e');
    await heading(page, 'Exceptions');
    await row(page, 'PagedError').waitFor();
    await row(page, 'Third').waitFor();

    await keys('j');
    await isOn('PagedError');
    await keys('r');
    await page.getByText('Exception resolved, and its incident resolved.').waitFor();
    await row(page, 'PagedError').waitFor({ state: 'detached' });
    const open = async (): Promise<number> => (await h.expectOk('list_incidents', { status: 'triggered' })).total;
    expect(await open()).toBe(0);
    await keys('u');
    await page.getByText('Undone.').waitFor();
    await row(page, 'PagedError').waitFor();
    expect(await open()).toBe(1);

    await row(page, 'Third').getByRole('link').focus();
    await keys('x', 'j', 'x');
    await page.getByRole('region', { name: 'Selected exceptions' }).getByText('2 selected').waitFor();
    await keys('i');
    await page.getByText('2 exceptions ignored.').waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
    const tabs = page.getByRole('navigation', { name: 'Exceptions by status' });
    await expect.poll(() => tabs.innerText()).toMatch(/Unresolved\s*1\s*Resolved\s*0\s*Ignored\s*2\s*All\s*3/);
    await page.goto(`${h.baseUrl}/exceptions?status=all`);
    await row(page, 'Second').getByText('Ignored').waitFor();
    expect(await tabs.locator('[aria-current]').allInnerTexts()).toEqual([expect.stringMatching(/^All/)]);
    await keys('/');
    await page.keyboard.type('second');
    await expect.poll(() => rows(page).count()).toBe(1);
    await keys('Tab');
    await row(page, 'Second').getByRole('link').focus();
    await keys('Enter');
    await heading(page, /^Second/);
    const event = page.getByRole('region', { name: 'Event', exact: true });
    await event.getByText('event 1 of Second').waitFor();
    await keys('j');
    await event.getByText('event 2 of Second').waitFor();
    await keys('j');
    await event.getByText('event 3 of Second').waitFor();
    await keys('j', 'k');
    await event.getByText('event 2 of Second').waitFor();
    await keys('v');
    await page.getByLabel('The stack as plain text').getByText('at charge (shop/payments.py:42)').waitFor();
    await keys('o');
    await page.getByText('Exception reopened.').waitFor();
    expect(await statusOf(h, groups.get('Second')!)).toBe('unresolved');
  });

  test('nothing is hidden among 700, few rows are in the document, and a phone and a viewer get what they need', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const events = Array.from({ length: 700 }, (_, index) =>
      eventAt(h, { fingerprint: [`group ${index}`], ago: { minutes: index + 1 } }),
    );
    const groups = await groupAndStore(h, serviceId, events);
    const { page } = await h.visitor({ path: '/exceptions', viewport: PHONE, isMobile: true, hasTouch: true });
    await page.getByRole('navigation', { name: 'Exceptions by status' }).getByText('700').first().waitFor();
    const oldest = page.locator(`li[data-row="${groups.at(-1)!.groupId}"]`);
    await expect
      .poll(async () => {
        await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
        return await oldest.count();
      })
      .toBe(1);
    await expect.poll(() => rows(page).count()).toBeLessThan(60);
    expect(await oldest.getAttribute('aria-posinset')).toBe('700');

    await page.evaluate('window.scrollTo(0, 0)');
    const filters = page.getByRole('button', { name: 'Filters', exact: true });
    expect((await filters.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    await filters.tap();
    await page.getByLabel('Severity').selectOption('warning');
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).tap();
    await rows(page).first().waitFor();
    const finger = await touchScreen(page);
    await finger.tap(await centerOf(rows(page).first().getByRole('link')), 0);
    await heading(page, /^CardDeclined/);
    // The field for a comment is far down, and the way to it beside the answers.
    await finger.tap(await centerOf(page.getByRole('button', { name: 'Comment', exact: true })), 2_000);
    await page.getByLabel('Add a comment').and(page.locator(':focus')).waitFor();
    await finger.tap(await centerOf(page.getByLabel('More about this exception')), 2_000);
    const ignore = page.getByRole('menuitem', { name: 'Ignore' });
    expect((await ignore.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    await finger.tap(await centerOf(ignore), 2_000);
    await page.getByText('Exception ignored.').waitFor();

    const otto = await h.visitor({ name: 'Otto', path: '/exceptions', viewport: DESK });
    await rows(otto.page).first().waitFor();
    await otto.page.keyboard.press('A');
    await otto.page.getByText('All 699 selected').waitFor();
    await otto.page.getByRole('button', { name: 'Resolve', exact: true }).click();
    await otto.page.getByRole('button', { name: 'Resolve 699' }).click();
    await otto.page.getByText('699 exceptions resolved.').waitFor();
    expect(await statusOf(h, groups.at(-1)!.groupId)).toBe('resolved');
    await otto.page.getByRole('button', { name: 'Undo' }).click();
    await otto.page.getByText('Undone.').waitFor();
    expect(await statusOf(h, groups.at(-1)!.groupId)).toBe('unresolved');

    const vera = await h.visitor({ role: 'viewer', name: 'Vera', path: '/exceptions', viewport: DESK });
    await rows(vera.page).first().waitFor();
    expect(await vera.page.getByRole('checkbox').count()).toBe(0);
    await rows(vera.page).first().getByRole('link').click();
    await heading(vera.page, /^CardDeclined/);
    await vera.page.getByText('Why these events are one group').waitFor();
    expect(await vera.page.getByRole('button', { name: 'Resolve' }).count()).toBe(0);
    await vera.page.keyboard.press('r');
    expect(await statusOf(h, groups[1]!.groupId)).toBe('unresolved');
  });
});
