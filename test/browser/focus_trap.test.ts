import { expect, test } from 'vitest';

import { inBrowser } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { enter, reach } from '#test/browser/input.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';

/**
 * Script that holds timers: in a busy browser keys come before timers that are due at once, and those wait until they
 * are released.
 */
const HOLD_TIMERS = `{
  const own = window.setTimeout.bind(window);
  const held = [];
  window.setTimeout = (run, after, ...others) => after > 0 ? own(run, after, ...others) : held.push(run);
  window.letTimersRun = () => {
    window.setTimeout = own;
    for (const run of held) run();
  };
}`;

const FOCUSED = 'document.activeElement.textContent';

inBrowser('the focus in a dialog', () => {
  test('Tab leads on behind a date field, however late the browser gets to its timers, and Enter presses what has the focus', async () => {
    const h = await openConsole();
    const people = [];
    for (const name of ['Anna', 'Bram']) people.push(await givenPerson(h, { role: 'responder', name }));
    const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
    const rotationConfig = { userIds: people.map(({ userId }) => userId) };
    const startAt = h.clock.now().subtract({ hours: 6 }).toString();
    await h.expectOk('create_schedule', { teamId, name: 'Primary', rotationConfig, startAt });
    const { page } = await h.visitor({ role: 'responder', path: '/oncall', serviceWorkers: 'block' });
    await enter(page.getByRole('button', { name: /^Anna, / }).first());
    const dialog = page.getByRole('dialog');
    const bram = dialog.getByRole('radio', { name: 'Bram' });
    // Opened by Enter, the dialog takes no key for a second press of it once the focus has been moved.
    await reach(dialog.getByRole('button', { name: 'Take over' }));
    await reach(bram);
    await page.keyboard.press('Space');
    await expect.poll(() => bram.isChecked()).toBe(true);
    await reach(dialog.getByLabel('Until'));
    await page.evaluate(HOLD_TIMERS);
    const isOnButton = async (): Promise<boolean> => (await page.evaluate<string>(FOCUSED)) === 'Put on call';
    for (let tabs = 0; tabs < 20 && !(await isOnButton()); tabs += 1) await page.keyboard.press('Tab');
    expect(await isOnButton()).toBe(true);
    await page.evaluate('letTimersRun()');
    expect(await isOnButton()).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByText(/Bram is on call in Primary from/).waitFor();
    expect((await h.expectOk('who_is_on_call', { teamId })).schedules[0].onCall.name).toBe('Bram');
  });

  test('Tab goes around in the dialog, and through its date fields in both directions', async () => {
    const h = await openConsole();
    const { page } = await h.visitor({ path: '/settings/api-keys', serviceWorkers: 'block' });
    await page.getByRole('button', { name: 'Create an API key' }).first().click();
    const dialog = page.getByRole('dialog');
    const [name, day] = [dialog.getByLabel('Name'), dialog.getByLabel('Last day')];
    await name.waitFor();
    for (const key of ['Tab', 'Shift+Tab']) {
      const seen = new Set<string>();
      for (let presses = 0; presses < 30; presses += 1) {
        await page.keyboard.press(key);
        expect(await page.evaluate(`document.querySelector('[role=dialog]').contains(document.activeElement)`)).toBe(
          true,
        );
        seen.add(await page.evaluate<string>('document.activeElement.id || document.activeElement.className'));
      }
      for (const field of [name, day]) expect(seen, key).toContain(await field.getAttribute('id'));
    }
  });
});
