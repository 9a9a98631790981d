import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { axeViolations } from '#test/browser/axe.ts';
import { inBrowser, PHONE } from '#test/browser/chromium.ts';
import { type ConsoleWorld, openConsole } from '#test/browser/console_world.ts';
import { boxOf } from '#test/browser/touch.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';

/** The keystroke-level model: a key of an average typist, and a moment to think before each field. */
const KEY_SECONDS = 0.28;
const THINK_SECONDS = 1.35;

const NAMES = ['Anna', 'Bram', 'Cleo', 'Dirk', 'Emma'];

async function givenPeople(h: ConsoleWorld, names = NAMES): Promise<Record<string, string>> {
  const people = [];
  for (const name of names) people.push(await givenPerson(h, { role: 'responder', name }));
  return Object.fromEntries(people.map(({ name, userId }) => [name, userId]));
}

/** A weekly rotation of Anna, Bram and Cleo that began six hours ago. */
async function givenSchedule(h: ConsoleWorld) {
  const people = await givenPeople(h, ['Anna', 'Bram', 'Cleo']);
  const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
  const rotationConfig = { userIds: Object.values(people) };
  const startAt = h.clock.now().subtract({ hours: 6 }).toString();
  const { scheduleId } = await h.expectOk('create_schedule', { teamId, name: 'Primary', rotationConfig, startAt });
  const onCall = async () => (await h.expectOk('who_is_on_call', { teamId })).schedules[0];
  return { teamId, scheduleId: scheduleId as string, people, onCall };
}

const shift = (page: Page, name: string): Locator =>
  page.getByRole('button', { name: new RegExp(`^${name}, (?:by an override, )?`) }).first();

async function isClosed(page: Page): Promise<void> {
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

inBrowser('on-call', () => {
  test('a weekly rotation of five people is made by keyboard alone, in less than a minute of a person', async () => {
    const h = await openConsole();
    const people = await givenPeople(h);
    await h.expectOk('create_team', { name: 'Platform' });
    const { page } = await h.visitor({ role: 'editor', path: '/', serviceWorkers: 'block' });
    await page.getByRole('heading', { level: 1 }).waitFor();
    let keys = 0;
    let fields = 0;
    const press = async (...pressed: string[]): Promise<void> => {
      for (const key of pressed) await page.keyboard.press(key);
      keys += pressed.length;
    };
    const field = async (...pressed: string[]): Promise<void> => {
      fields += 1;
      await press(...pressed);
    };
    await field('g', 'o');
    await page.getByText('No schedule yet').waitFor();
    await field('Tab', 'Enter');
    await page.getByRole('heading', { name: 'Create a schedule' }).waitFor();
    await page.getByRole('combobox', { name: 'Add a person' }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.labels?.[0]?.textContent')).toContain('Name');
    await field(...'Primary'.split(''));
    await press('Tab', 'Tab');
    for (const name of NAMES) {
      await field(...name.slice(0, 2).split(''));
      await expect.poll(() => page.getByRole('option').locator('visible=true').allInnerTexts()).toEqual([name]);
      await press('Enter');
      await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
    }
    await page.getByLabel('First shifts').getByText('Emma').waitFor();
    await field('Control+Enter');
    await page.getByRole('heading', { name: 'Primary' }).waitFor();
    const { teams } = await h.expectOk('list_teams');
    expect(teams[0].schedules).toMatchObject([
      { name: 'Primary', rotationType: 'weekly', rotationConfig: { userIds: NAMES.map((name) => people[name]) } },
    ]);
    expect(keys).toBeLessThan(60);
    expect(keys * KEY_SECONDS + fields * THINK_SECONDS).toBeLessThan(60);
  });

  test('a schedule without a team makes one with the people who take turns, and weekends go to others', async () => {
    const h = await openConsole();
    await givenPeople(h, ['Anna', 'Bram', 'Cleo']);
    const { page } = await h.visitor({ role: 'editor', path: '/oncall', serviceWorkers: 'block' });
    await page.getByRole('link', { name: 'Create a schedule' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Primary');
    const add = async (name: string): Promise<void> => {
      await page.getByRole('combobox', { name: 'Add a person' }).last().fill(name);
      await page.getByRole('option', { name }).click();
    };
    await add('Anna');
    await add('Bram');
    await page.getByRole('checkbox', { name: 'Then add layers' }).check();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'Edit Primary' }).waitFor();
    await page.getByRole('button', { name: 'Weekends', exact: true }).click();
    await add('Cleo');
    await page.getByLabel('Times with somebody else on call').getByRole('listitem').first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('On call Friday 17:00 to Monday 09:00').waitFor();
    const { teams } = await h.expectOk('list_teams');
    expect(teams[0]).toMatchObject({
      name: 'On-call',
      members: [{ name: 'Anna' }, { name: 'Bram' }, { name: 'Cleo' }],
    });
    expect(teams[0].schedules[0].layers[1]).toMatchObject({
      hours: [{ fromDay: 5, from: '17:00', toDay: 1, to: '09:00' }],
      startsAt: teams[0].schedules[0].startAt,
    });
  });

  test('shifts are found, overridden in three steps, swapped and given back, with mouse and keys', async () => {
    const h = await openConsole();
    const { onCall, scheduleId } = await givenSchedule(h);
    const { page } = await h.visitor({ role: 'responder', path: '/oncall', serviceWorkers: 'block' });
    const dialog = page.getByRole('dialog');

    // Whole shift, in three steps; then undone.
    await shift(page, 'Anna').click();
    await dialog.getByRole('radio', { name: 'Bram' }).click();
    await dialog.getByRole('button', { name: 'Put on call' }).click();
    await page.getByText(/Bram is on call in Primary from/).waitFor();
    expect(await onCall()).toMatchObject({ onCall: { name: 'Bram' }, source: 'override' });
    await page.keyboard.press('u');
    await page.getByText('The override of Primary is removed.').waitFor();
    expect(await onCall()).toMatchObject({ onCall: { name: 'Anna' }, source: 'rotation' });

    // A part of it, marked by dragging, once it is drawn again. It lies ahead on every day of the week.
    await expect.poll(() => page.getByTitle(/^Bram, by an override/).count()).toBe(0);
    const bar = await boxOf(shift(page, 'Anna'));
    await page.mouse.move(bar.x + bar.width * 0.5, bar.y + 10);
    await page.mouse.down();
    await page.mouse.move(bar.x + bar.width * 0.7, bar.y + 12, { steps: 4 });
    await page.mouse.up();
    await dialog.getByText('Put somebody on call in Primary').waitFor();
    await dialog.getByRole('radio', { name: 'Cleo' }).click();
    await dialog.getByRole('button', { name: 'Put on call' }).click();
    await page.getByText(/Cleo is on call in Primary from/).waitFor();
    await isClosed(page);

    // By keys: along the row, open, remove.
    await page
      .getByTitle(/^Cleo, by an override/)
      .first()
      .waitFor();
    await shift(page, 'Anna').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.evaluate('document.activeElement.title')).toMatch(/^Cleo, by an override/);
    await page.keyboard.press('Enter');
    await dialog.getByRole('radio', { name: 'Anna' }).press('Tab');
    await dialog.getByRole('button', { name: 'Remove the override of Cleo' }).press('Enter');
    await dialog.getByRole('button', { name: 'Keep it' }).press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('The override of Primary is removed.').first().waitFor();
    await page.keyboard.press('Escape');
    await isClosed(page);

    // Over the edge of the week, and back to today by one key.
    await expect.poll(() => page.getByTitle(/^Cleo, by an override/).count()).toBe(0);
    await page.getByText('Week', { exact: true }).click();
    await page.waitForURL(/view=week/);
    await shift(page, 'Anna').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => new URL(page.url()).searchParams.get('day')).not.toBeNull();
    await page.keyboard.press('t');
    await expect.poll(() => new URL(page.url()).searchParams.get('day')).toBeNull();

    // A swap, and its undoing.
    await shift(page, 'Anna').click();
    await dialog.getByRole('button', { name: 'Swap with another shift' }).click();
    await dialog.getByRole('button', { name: 'Swap', exact: true }).click();
    await page.getByText('The shifts in Primary are swapped.').waitFor();
    expect(await onCall()).toMatchObject({ onCall: { name: 'Bram' }, next: { name: 'Anna' } });
    const swapped = page.getByRole('alert').filter({ hasText: 'The shifts in Primary are swapped.' });
    await swapped.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The swap in Primary is undone.').waitFor();
    expect(await onCall()).toMatchObject({ onCall: { name: 'Anna' }, next: { name: 'Bram' }, source: 'rotation' });

    // What others change appears by itself.
    const window = { startAt: h.clock.now().toString(), endAt: h.clock.now().add({ hours: 2 }).toString() };
    const { people } = await h.expectOk('list_teams');
    const { userId } = people.find(({ name }: { name: string }) => name === 'Cleo');
    await h.expectOk('create_schedule_override', { scheduleId, userId, ...window });
    await shift(page, 'Cleo').waitFor();
  });

  test('edges of bars are moved by mouse, keyboard and finger, with whose shifts change beside them', async () => {
    const h = await openConsole();
    const { scheduleId } = await givenSchedule(h);
    const path = `/oncall/schedules/${scheduleId}/edit`;
    const { page } = await h.visitor({ role: 'editor', path, serviceWorkers: 'block' });
    await page.getByRole('heading', { name: 'Edit Primary' }).waitFor();
    const handOver = page.getByRole('slider', { name: 'Rotation hands over' });
    const before = await handOver.getAttribute('aria-valuetext');
    await handOver.press('ArrowRight');
    await handOver.press('ArrowRight');
    await expect.poll(() => handOver.getAttribute('aria-valuetext')).not.toBe(before);
    const changes = page.getByLabel('Times with somebody else on call').getByRole('listitem');
    await changes.first().waitFor();
    await page.getByRole('button', { name: 'Another layer' }).click();
    await page.getByLabel('On call', { exact: true }).last().selectOption('Office hours');
    await page.getByRole('combobox', { name: 'Add a person' }).last().fill('Cleo');
    await page.getByRole('option', { name: 'Cleo' }).click();
    const begin = page.getByRole('slider', { name: 'Office hours, time 1 begins' });
    await begin.waitFor();
    expect(await begin.getAttribute('aria-valuetext')).toBe('Monday 09:00');
    await begin.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await boxOf(begin);
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 - 30, y + height / 2, { steps: 4 });
    const shots = process.env['SCREENSHOTS'];
    if (shots !== undefined) await page.screenshot({ path: `${shots}/layers_1440.png`, fullPage: true });
    await page.mouse.up();
    const dragged = (await begin.getAttribute('aria-valuetext')) ?? '';
    expect(dragged).toMatch(/^(Monday 0[0-8]|Sunday)/);
    expect(await page.getByLabel('From', { exact: true }).first().inputValue()).toBe(dragged.split(' ')[1]);

    const phone = await h.visitor({ role: 'editor', path, serviceWorkers: 'block', viewport: PHONE, hasTouch: true });
    const touched = phone.page.getByRole('slider', { name: 'Rotation hands over' });
    await touched.waitFor();
    const still = await touched.getAttribute('aria-valuetext');
    await touched.scrollIntoViewIfNeeded();
    const box = await boxOf(touched);
    const devtools = await phone.page.context().newCDPSession(phone.page);
    const at = (by: number) => [{ x: box.x + box.width / 2 + by, y: box.y + box.height / 2 }];
    await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0) });
    for (const by of [-10, -25, -40])
      await devtools.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(by) });
    if (shots !== undefined) await phone.page.screenshot({ path: `${shots}/layers_390.png`, fullPage: true });
    await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await expect.poll(() => touched.getAttribute('aria-valuetext')).not.toBe(still);
    await phone.page.getByLabel('Times with somebody else on call').getByRole('listitem').first().waitFor();
  });

  test('a rotation is edited with a preview of what changes hands, also when somebody else has changed it', async () => {
    const h = await openConsole();
    const { scheduleId, onCall } = await givenSchedule(h);
    const { page } = await h.visitor({
      role: 'editor',
      path: `/oncall/schedules/${scheduleId}`,
      serviceWorkers: 'block',
    });
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('heading', { name: 'Edit Primary' }).waitFor();
    await page.getByText('Nobody’s shifts change in this time.').waitFor();
    const rows = page.getByLabel('Order of turns').getByRole('listitem');
    await rows.nth(2).press('Alt+ArrowUp');
    const changes = page.getByLabel('Times with somebody else on call').getByRole('listitem');
    await changes.first().getByText('Bram').first().waitFor();
    expect(await changes.first().innerText()).toMatch(/^Bram\s*→\s*Cleo\s/);

    // What was entered survives a reload, and what somebody else saves meanwhile is not lost either.
    await page.getByLabel('Name', { exact: true }).fill('Day and night');
    await page.reload();
    await page.getByText(/This continues what you entered/).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Day and night');
    await changes.first().waitFor();
    await h.expectOk('update_schedule', { scheduleId, name: 'Theirs' });
    await page.getByRole('button', { name: 'Name: take theirs' }).click();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Theirs');
    await page.getByLabel('Name', { exact: true }).fill('Primary');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Primary is saved.').waitFor();
    expect(await onCall()).toMatchObject({ onCall: { name: 'Anna' }, next: { name: 'Cleo' } });

    await page.getByRole('heading', { name: 'Primary', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show your address' }).click();
    await page.getByRole('button', { name: 'Create an address' }).click();
    const address = page.getByText(/\/api\/calendar\/.*\.ics$/);
    await address.waitFor();
    expect(await (await fetch(await address.innerText())).text()).toContain('SUMMARY:Cleo is on call');

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel('Type Primary to confirm').fill('Primary');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No schedule yet').waitFor();
  });

  test('on a phone a responder takes over with two taps, and a viewer only looks', async () => {
    const h = await openConsole();
    const { onCall } = await givenSchedule(h);
    const touch = {
      viewport: PHONE,
      isMobile: true,
      hasTouch: true,
      path: '/oncall',
      serviceWorkers: 'block',
    } as const;
    const responder = await h.visitor({ ...touch, role: 'responder', name: 'Rosa' });
    const viewer = await h.visitor({ ...touch, role: 'viewer', name: 'Vera' });
    const first = responder.page
      .getByRole('region', { name: /^Primary/ })
      .getByRole('button')
      .first();
    await first.waitFor();
    expect((await first.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    await first.tap();
    await responder.page.getByRole('button', { name: 'Take over' }).tap();
    await responder.page.getByText(/You are on call in Primary/).waitFor();
    expect(await onCall()).toMatchObject({ onCall: { name: 'Rosa' }, source: 'override' });

    const { page } = viewer;
    await page.getByText('(now by an override)').first().waitFor();
    expect(await page.getByRole('link', { name: 'Create a schedule' }).count()).toBe(0);
    await page
      .getByRole('region', { name: /^Primary/ })
      .getByRole('button')
      .first()
      .tap();
    await page.getByText('Your role cannot change who is on call.').waitFor();
    expect(await page.getByRole('dialog').getByRole('button').count()).toBe(1);
  });
});
