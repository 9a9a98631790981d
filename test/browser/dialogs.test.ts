import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { storesOf } from '#storage/postgres/stores.ts';
import { findings } from '#test/browser/axe.ts';
import { DESK, inBrowser, PHONE } from '#test/browser/chrome.ts';
import { openHouse, type OpenHouse, type Visitor } from '#test/browser/house.ts';
import { givenPerson, signedIn } from '#test/kit/browser.ts';

/** A path, and the controls that open there what lies above a page, one after the other; none for the page alone. */
type Opening = readonly [path: string, ...pressed: (string | RegExp)[]];

/** One of each kind of thing, so that there is something to ask about; all of them are called so. */
async function furnished(h: OpenHouse, { userId, email }: Visitor, called = (name: string) => name) {
  const { serviceId } = await h.given.service({ name: called('checkout') });
  const incidentId = await h.incident(serviceId, called('Checkout is slow'));
  await h.expectOk('resolve_incident', { incidentId: await h.incident(serviceId, called('Disk is full')) });
  const { teamId } = await h.expectOk('create_team', { name: called('Platform') });
  const bram = await givenPerson(h, { role: 'responder', name: 'Bram' });
  const cleo = await givenPerson(h, { role: 'viewer', name: 'Cleo' });
  await h.expectOk('add_team_member', { teamId, userId: bram.userId });
  const rotationConfig = { userIds: [bram.userId] };
  const { scheduleId } = await h.expectOk('create_schedule', { teamId, name: called('Primary'), rotationConfig });
  await h.expectOk('create_schedule', { teamId, name: called('Secondary'), rotationConfig });
  const now = h.clock.now();
  const window = { startAt: now.toString(), endAt: now.add({ hours: 4 }).toString() };
  await h.expectOk('create_schedule_override', { scheduleId, userId: cleo.userId, ...window });
  const other = await h.given.organization('Umbrella');
  await storesOf(h.house.db.session()).people.setMembership(other.orgId, userId, 'viewer', now);
  const browser = await signedIn(h, email);
  await browser.invoke(h.orgId, 'create_invitation', { email: 'dirk@example.com', role: 'viewer' });
  const key = { name: called('Deploys'), kind: 'user', permissions: null, expiresAt: null };
  await browser.invoke(h.orgId, 'create_api_key', key);
  for (const table of ['users', 'organizations']) {
    const rows = await h.house.db.sql.rows<{ id: string; name: string }>(`select id, name from ${table}`);
    for (const { id, name } of rows) {
      await h.house.db.sql.run(`update ${table} set name = $2 where id = $1`, [id, called(name)]);
    }
  }
  return { serviceId, incidentId };
}

const openingsOf = (serviceId: string): readonly Opening[] => [
  ['', /^Search/],
  ['', /account and appearance$/],
  ['', /account and appearance$/, 'Keyboard shortcuts'],
  ['', /^Organization: /],
  ['', /^Take over /],
  ['', /^Remove override of /],
  ['services', 'Create a service'],
  [`services/${serviceId}`, 'Edit'],
  [`services/${serviceId}`, 'Exceptions enabled'],
  [`services/${serviceId}`, 'Change how long Exceptions are kept'],
  [`services/${serviceId}`, 'Rotate'],
  [`services/${serviceId}`, 'Delete'],
  ['me', 'Change your password'],
  ['me', 'Log out everywhere else'],
  ['settings/members', 'Invite somebody'],
  ['settings/members', /^Remove /],
  ['settings/members', /^Role of /],
  ['settings/members', 'Take back the invitation of dirk@example.com'],
  ['settings/api-keys', 'Create a key'],
  ['settings/api-keys', /^Revoke /],
  ['settings/audit', 'Export'],
  ['settings/audit', /show what changed$/],
];

/** What lies above a page. */
const ABOVE = '[role=dialog], [role=menu]';

async function press(page: Page, name: string | RegExp): Promise<void> {
  const roles = ['button', 'menuitem', 'switch', 'combobox'] as const;
  const [first = page.locator('none'), ...others] = roles.map((role) => page.getByRole(role, { name }));
  const control = others
    .reduce((either, other) => either.or(other), first)
    .locator('visible=true')
    .first();
  if ((await control.locator('option').count()) > 0) await control.selectOption('editor');
  else if ((await control.getAttribute('role')) === 'switch') await control.press('Space');
  else await control.click();
}

/** What is wrong with all that opens, each page being loaded once. */
async function lookAt(
  page: Page,
  h: OpenHouse,
  all: readonly Opening[],
  look: (page: Page) => Promise<string[]>,
): Promise<string[]> {
  const faults: string[] = [];
  for (const [path, openings] of Map.groupBy(all, ([path]) => path)) {
    await page.goto(`${h.baseUrl}/${path}`);
    await page.locator('main h1').waitFor();
    await page.locator('main .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
    for (const opening of openings) {
      const opened = page.locator(ABOVE).locator('visible=true');
      for (const name of opening.slice(1)) await press(page, name);
      if (opening.length > 1) await opened.last().waitFor();
      const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      const found = [...(await look(page)), ...((await page.evaluate(isTooWide)) ? ['wider than the screen'] : [])];
      faults.push(...found.map((fault) => `/${opening.join(', ')} at ${page.viewportSize()?.width} px: ${fault}`));
      await page.keyboard.press('Escape');
      await opened.first().waitFor({ state: 'detached' });
    }
  }
  return faults;
}

const SCREENS = [
  ['at a desk', { viewport: DESK }],
  ['on a phone', { viewport: PHONE, isMobile: true }],
] as const;

const LOOKS = { colorScheme: 'light', reducedMotion: 'reduce' } as const;

inBrowser('every dialog and menu', () => {
  test.each(SCREENS)('is accessible and fits %s, in light and in dark', async (_where, screen) => {
    const h = await openHouse();
    const visitor = await h.visitor({ ...LOOKS, ...screen });
    const { serviceId } = await furnished(h, visitor);
    expect(await lookAt(visitor.page, h, openingsOf(serviceId), (page) => findings(page, ABOVE))).toEqual([]);
  });
});

/** From right to left, with a character that turns all that follows it, and 118 characters long. */
const HEBREW = 'תשלומים';
const nasty = (name: string): string => `${HEBREW} \u202E${name} ${'a'.repeat(118)}`.slice(0, 118);

/** Where a name turns what is around it, or takes more than three lines. */
const BADLY_SHOWN = `(() => {
  const faults = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const { parentElement: at, data } = text;
    if (!data.includes('${HEBREW}') || at.closest('script, style, noscript')) continue;
    const where = at.outerHTML.slice(0, 120);
    if (/[\\u202A-\\u202E]/.test(data)) faults.push('turns what follows: ' + where);
    if (!at.closest('bdi, [dir]:not(html)') && !/\\u2068[^\\u2069]*${HEBREW}[^\\u2069]*\\u2069/.test(data)) faults.push('is not isolated: ' + where);
    if (!at.checkVisibility() || at.closest('.hidden-text, option')) continue;
    const sentence = at.closest('bdi[dir=ltr]') !== null;
    const cell = at.closest('bdi') ?? at;
    let box = cell;
    for (let outer = cell; outer !== null; outer = outer.parentElement) {
      if (getComputedStyle(outer).webkitLineClamp !== 'none') box = outer;
    }
    const { height } = box.getBoundingClientRect();
    const line = parseFloat(getComputedStyle(cell).lineHeight) || 1.5 * parseFloat(getComputedStyle(cell).fontSize);
    if (!sentence && height > 3.6 * line) faults.push('takes ' + Math.round(height / line) + ' lines: ' + where);
  }
  return faults;
})()`;

inBrowser('a name from right to left of 118 characters', () => {
  test.each(SCREENS)('turns nothing around it and ends in its place %s', async (_where, screen) => {
    const h = await openHouse();
    const visitor = await h.visitor({ ...LOOKS, ...screen });
    const { serviceId, incidentId } = await furnished(h, visitor, nasty);
    const pages = [
      '',
      'incidents',
      'incidents?status=all',
      `incidents/${incidentId}`,
      'services',
      `services/${serviceId}`,
    ];
    const others = [
      'me',
      ...['members', 'api-keys', 'apps', 'audit', 'billing', 'delivery'].map((of) => `settings/${of}`),
    ];
    const all: Opening[] = [...[...pages, ...others].map((path): Opening => [path]), ...openingsOf(serviceId)];
    const look = (page: Page) => page.evaluate<string[]>(BADLY_SHOWN);
    expect(await lookAt(visitor.page, h, all, look)).toEqual([]);
  });
});
