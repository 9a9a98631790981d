import { createECDH, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { newId } from '#kernel/ids.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { inBrowser, PHONE } from '#test/browser/chromium.ts';
import { type ConsoleWorld, openConsole, type Visitor } from '#test/browser/console_world.ts';
import { enter, loaded, reach, thumbOf } from '#test/browser/hands.ts';
import { openPath } from '#test/browser/open_path.ts';
import { signedIn } from '#test/kit/browser.ts';

/** How somebody without a mouse uses controls. */
interface Hand {
  /** Chooses from the menu that is open. */
  choose(item: Locator): Promise<void>;
  press(control: Locator): Promise<void>;
  write(field: Locator, text: string): Promise<void>;
  toggle(control: Locator): Promise<void>;
}

const keys: Hand = {
  press: enter,
  write: enter,
  async choose(item) {
    await item.waitFor();
    const focused = item.and(item.page().locator(':focus'));
    const isThere = async () => {
      if ((await focused.count()) === 0) await item.page().keyboard.press('ArrowDown');
      return await focused.count();
    };
    await expect.poll(isThere).toBe(1);
    await item.page().keyboard.press('Enter');
  },
  async toggle(control) {
    await reach(control);
    await control.page().keyboard.press('Space');
  },
};

async function thumb(page: Page): Promise<Hand> {
  const press = await thumbOf(page);
  return {
    press,
    choose: press,
    async write(field, text) {
      await press(field);
      await field.fill(text);
      await field.press('Enter');
    },
    // What is seen of a switch is its label.
    toggle: (control) => press(control.locator('xpath=ancestor-or-self::*[contains(@class, "Switch-root")]').last()),
  };
}

/** An app, an agent, a device, another session and a schedule of this person. */
async function givenThings(h: ConsoleWorld, { userId, email }: Visitor, name: string) {
  const now = h.clock.now();
  await storesOf(h.context.db.session()).connections.insert({
    connectionId: newId('connection'),
    orgId: h.orgId,
    userId,
    clientId: 'client_1',
    clientName: `App of ${name}`,
    clientUri: null,
    access: 'read_only',
    createdAt: now,
    lastUsedAt: null,
  });
  const browser = await signedIn(h, email);
  const keysOf = {
    p256dh: createECDH('prime256v1').generateKeys('base64url'),
    auth: randomBytes(16).toString('base64url'),
  };
  const device = { endpoint: `https://push.example.com/send/${name}`, keys: keysOf, label: `Phone of ${name}` };
  expect((await browser.invoke(h.orgId, 'create_push_subscription', device)).status).toBe(200);
  const { teamId } = await h.expectOk('create_team', { name: `Team of ${name}` });
  const { scheduleId } = await h.expectOk('create_schedule', {
    teamId,
    name: `Turns of ${name}`,
    rotationConfig: { userIds: [userId] },
  });
  return { scheduleId, otherSession: browser };
}

/** Audit, apps, agents, calendar feeds and devices, each as far as what it changes. */
async function useSettings(h: ConsoleWorld, { page }: Visitor, hand: Hand, name: string, scheduleId: string) {
  const button = (label: string | RegExp, within: Page | Locator = page) =>
    within.getByRole('button', { name: label, exact: true }).first();
  const dialog = page.getByRole('dialog');
  const visit = async (path: string, title: string) => {
    await openPath(page, h.baseUrl, path);
    await loaded(page, title);
  };

  await visit('settings/audit', 'Audit log');
  await hand.write(page.getByLabel('Action', { exact: true }), 'create_schedule');
  await page.waitForURL(/action=create_schedule/);
  await hand.press(button('create_schedule: show what changed'));
  await dialog.getByRole('row', { name: new RegExp(`Turns of ${name}`) }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await hand.press(button('Export'));
  const item = page.getByRole('menuitem', { name: 'As JSON Lines' });
  const [download] = await Promise.all([page.waitForEvent('download'), hand.choose(item)]);
  const exported = (await readFile(await download.path(), 'utf8')).trim().split('\n');
  expect(exported.map((line) => JSON.parse(line).action)).toContain('create_schedule');

  await visit('settings/apps', 'Connected apps');
  await hand.press(button(`Disconnect App of ${name} of ${name}`));
  await hand.press(button('Disconnect', dialog));
  await page.getByText(`App of ${name} is disconnected.`).waitFor();
  await dialog.waitFor({ state: 'detached' });

  await visit('settings/agents', 'Agents');
  await hand.toggle(page.getByLabel('Night agent may respond to incidents'));
  await page.getByText(/^Night agent may (respond now|no longer respond)\.$/).waitFor();
  await hand.write(page.getByLabel('Changes of one agent within an hour'), String(20 + name.length));
  await page.getByText('The limits are saved.').waitFor();
  await hand.press(button('Stop all agents'));
  await hand.press(button('Stop all agents', dialog));
  await hand.press(button('Let agents go on'));
  await page.getByText('Agents may go on.').waitFor();

  await visit(`oncall/schedules/${scheduleId}`, `Turns of ${name}`);
  await hand.press(button('Show your address'));
  await hand.press(button('Create an address'));
  const feed = (await page.getByText(/\/api\/calendar\/.*\.ics$/).textContent())!;
  expect((await fetch(feed)).status).toBe(200);
  await hand.press(button('Revoke all addresses'));
  await hand.press(button('Revoke', dialog));
  await page.getByText(`No calendar reads Turns of ${name} any more.`).waitFor();
  expect((await fetch(feed)).status).toBe(404);

  await visit('me', name);
  await hand.press(button(`Remove Phone of ${name}`));
  await hand.press(button('Remove', dialog));
  await button(`Remove Phone of ${name}`).waitFor({ state: 'detached' });
  await dialog.waitFor({ state: 'detached' });
  await hand.press(button('Log out everywhere else'));
  await hand.press(button('Log out', dialog));
  await page.getByText('You are logged out everywhere else.').waitFor();
}

inBrowser('everyone, in the settings', () => {
  test('looks at the audit log, ends apps, devices and calendars and limits agents, with keys alone and with a thumb', async () => {
    const h = await openConsole();
    await h.given.apiKey({ permissions: ['oncall:view'] });
    await h.context.db.sql.run(`update api_keys set name = 'Night agent' where permissions = '{oncall:view}'`);
    const olga = await h.visitor({ path: '/settings/audit', serviceWorkers: 'block' });
    const things = await givenThings(h, olga, 'Olga');
    await useSettings(h, olga, keys, 'Olga', things.scheduleId);
    expect((await things.otherSession.get('/session')).status).toBe(401);

    const touch = { viewport: PHONE, isMobile: true, hasTouch: true, serviceWorkers: 'block' } as const;
    const dora = await h.visitor({ ...touch, name: 'Theodora', path: '/settings/audit' });
    const hers = await givenThings(h, dora, 'Theodora');
    await useSettings(h, dora, await thumb(dora.page), 'Theodora', hers.scheduleId);
    expect((await hers.otherSession.get('/session')).status).toBe(401);
  });
});
