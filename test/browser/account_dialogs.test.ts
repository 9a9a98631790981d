import { expect, test } from 'vitest';

import { codeAt } from '#auth/second_factor_codes.ts';
import { axeViolations } from '#test/browser/axe.ts';
import { DESK, inBrowser, PHONE } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { OVERLAY, press } from '#test/browser/sample_pages.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';

const SCREENS = [
  ['on a desktop', { viewport: DESK }],
  ['on a phone', { viewport: PHONE, isMobile: true }],
] as const;

const LOOKS = { colorScheme: 'light' } as const;

inBrowser('a dialog of an account', () => {
  test.each(SCREENS)(
    'is accessible %s, and a secret that is shown once stays until its button is pressed',
    async (_where, screen) => {
      const port = await findFreePort(0);
      const h = await openConsole({ port, publicUrl: `http://localhost:${port}` });
      const { page } = await h.visitor({ ...LOOKS, ...screen, path: 'settings/api-keys' });
      const dialog = page.getByRole('dialog');
      const check = async (title: string | RegExp): Promise<void> => {
        await page.getByRole('dialog', { name: title }).waitFor();
        expect(await axeViolations(page, OVERLAY)).toEqual([]);
      };
      const checkShownOnce = async (title: string | RegExp, button: string): Promise<void> => {
        await check(title);
        await page.keyboard.press('Escape');
        await dialog.getByRole('button', { name: button }).click();
        await dialog.waitFor({ state: 'detached' });
      };
      const checkAndClose = async (title: string | RegExp): Promise<void> => {
        await check(title);
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
      };

      await press(page, 'Create an API key');
      await page.getByLabel('Name').fill('Deploys');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await checkShownOnce(/^Deploys is created/, 'I have copied it');

      await page.goto(`${h.baseUrl}/settings/members`);
      await press(page, 'Invite somebody');
      await page.getByLabel('Mail address').fill('dirk@example.com');
      await dialog.getByRole('button', { name: 'Invite' }).click();
      await checkShownOnce(/is invited$/, 'Done');

      await page.goto(`${h.baseUrl}/me`);
      await press(page, 'Add a passkey');
      await checkAndClose('Add a passkey');
      await press(page, 'Set up an authenticator app');
      const secret = dialog.getByRole('group', { name: 'Secret' }).getByText(/^[A-Z2-7]{16,}$/);
      await secret.waitFor();
      await check('Set up an authenticator app');
      await dialog.getByLabel('Code').fill(codeAt(await secret.innerText(), h.clock.now()));
      await dialog.getByRole('button', { name: 'Set up' }).click();
      await checkShownOnce('Your recovery codes', 'I have saved them');
      await press(page, 'Remove the authenticator app');
      await checkAndClose('Remove the authenticator app?');

      await h.context.db.sql.run(`update sessions set second_factor_at = second_factor_at - interval '1 hour'`);
      await press(page, 'Create new codes');
      await check('Create new recovery codes?');
      await dialog.getByRole('button', { name: 'Create new codes' }).click();
      await check('Confirm with your second factor');
    },
  );
});
