import { expect, test } from 'vitest';

// The first passkey of a process loads it, which takes so long on a busy machine that the console gives up its request.
import '@simplewebauthn/server';

import { inBrowser } from '#test/browser/chromium.ts';
import { logIn, openConsole } from '#test/browser/console_world.ts';
import { codeAt } from '#auth/second_factor_codes.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';

inBrowser('signing in', () => {
  test('logging in opens the page that was wanted, and logging out ends the session', async () => {
    const h = await openConsole();
    const anna = await givenPerson(h, { role: 'responder', name: 'Anna' });
    const page = await h.signedOutPage();
    await page.goto(`${h.baseUrl}/incidents?status=resolved`);
    await page.waitForURL(/\/login\?next=/);
    await logIn(page, anna.email, 'not the password');
    await page.getByText('The mail address or the password is wrong').waitFor();
    await logIn(page, anna.email);
    await page.getByRole('heading', { name: 'Incidents' }).waitFor();
    expect(new URL(page.url()).search).toBe('?status=resolved');

    await page.getByRole('button', { name: /^Anna.*account/ }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.waitForURL(/\/login$/);
    await page.goto(`${h.baseUrl}/services`);
    await page.waitForURL(/\/login\?next=/);
  });

  test('a passkey is added, required at the next login, and again before a sensitive change', async () => {
    const port = await findFreePort(0);
    const h = await openConsole({ port, publicUrl: `http://localhost:${port}` });
    const { page, email } = await h.visitor({ name: 'Olga', path: '/me' });
    await h.given.user({ role: 'viewer', name: 'Vera' });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('This laptop');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
    await expect.poll(() => page.getByRole('dialog').getByRole('listitem').count()).toBe(10);
    await page.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByText('Passkey, added').waitFor();

    // A page that still reads would find itself logged out, and go to the login at the same moment.
    await page.goto('about:blank');
    await page.context().clearCookies();
    await page.goto(`${h.baseUrl}/login`);
    await logIn(page, email);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('heading', { name: /, Olga$/ }).waitFor();

    await h.context.db.sql.run(`update sessions set second_factor_at = second_factor_at - interval '1 hour'`);
    await page.goto(`${h.baseUrl}/settings/members`);
    await page.getByRole('switch', { name: 'Owners and admins must have a second factor' }).click();
    await page.getByRole('heading', { name: 'Confirm with your second factor' }).waitFor();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('Owners and admins need a second factor now.').waitFor();
  });

  test('a wrong code is said at its field, and whoever mistypes it stays logged in', async () => {
    const h = await openConsole();
    const { page, email } = await h.visitor({ name: 'Olga' });
    const browser = await signedIn(h, email);
    const { secret } = (await browser.post('/me/authenticator-app', {})).body.result;
    const used = codeAt(secret, h.clock.now());
    const confirmed = await browser.post('/me/authenticator-app/confirmation', { code: used });
    const [recoveryCode] = confirmed.body.result.recoveryCodes as [string];
    await page.goto(`${h.baseUrl}/settings/members`);
    await page.getByRole('switch', { name: 'Owners and admins must have a second factor' }).click();
    const dialog = page.getByRole('dialog', { name: 'Confirm with your second factor' });
    const code = dialog.getByLabel('Code from your authenticator app');
    await code.fill(used);
    await code.press('Enter');
    await dialog.getByText('Is wrong or was used before; try the next code').waitFor();
    await expect.poll(() => code.and(page.locator(':focus')).count()).toBe(1);
    expect(await code.getAttribute('aria-invalid')).toBe('true');
    expect(await dialog.getByRole('alert').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Use a recovery code' }).click();
    await dialog.getByLabel('Recovery code').fill(recoveryCode);
    await dialog.getByLabel('Recovery code').press('Enter');
    await page.getByText('Owners and admins need a second factor now.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/settings/members');
  });

  test('a forgotten password is reset by a link in a mail', async () => {
    const h = await openConsole();
    const anna = await givenPerson(h, { role: 'responder', name: 'Anna' });
    const page = await h.signedOutPage();
    await page.goto(`${h.baseUrl}/login`);
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByRole('heading', { name: 'Reset your password' }).waitFor();
    await page.getByLabel('Mail address').fill(anna.email);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
    await expect.poll(() => h.post.mails.length).toBe(1);
    await page.goto(h.post.linksOf(h.post.mails[0]!)['Set a new password']!);

    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Save and log in' }).click();
    await page.getByText('At least 12 characters: 7 more are needed').waitFor();
    await page.getByLabel('New password').fill('quiet harbour 7 lantern');
    await page.getByRole('button', { name: 'Save and log in' }).click();
    await page.getByText('Your open incidents').waitFor();

    await page.goto(h.post.linksOf(h.post.mails[0]!)['Set a new password']!);
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
  });

  test('an invited person joins by the link in the mail', async () => {
    const h = await openConsole();
    const olga = await h.visitor({ path: '/settings/members' });
    await olga.page.getByRole('button', { name: 'Invite somebody' }).click();
    const invite = olga.page.getByRole('button', { name: 'Invite', exact: true });
    const addresses = olga.page.getByLabel('Mail address');
    await addresses.fill('bram@example.com');
    await olga.page.getByLabel('Role', { exact: true }).selectOption('editor');
    const place = await invite.boundingBox();
    await addresses.fill('bram@example.com\ncleo@example.com\ndana@example.com');
    await olga.page.getByLabel('Role of dana@example.com').waitFor();
    expect(await invite.boundingBox(), 'the button keeps its place').toEqual(place);
    await addresses.fill('bram@example.com');
    await invite.click();
    await olga.page.getByText('bram@example.com is invited').waitFor();
    await olga.page.getByRole('button', { name: 'Done' }).click();
    await olga.page.getByText('as editor, by Olga').waitFor();

    await expect.poll(() => h.post.mails.length).toBe(1);
    const link = /http\S+\/invitation\/\S+/.exec(h.post.mails[0]!.text ?? '')![0];
    const page = await h.signedOutPage();
    await page.goto(link);
    await page.getByRole('heading', { name: 'Join Acme' }).waitFor();
    await page.getByLabel('Your name').fill('Bram');
    await page.getByLabel('Choose a password').fill('quiet harbour 7 lantern');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('heading', { name: /, Bram$/ }).waitFor();
    await page.goto(link);
    await page.getByRole('heading', { name: 'This invitation no longer works' }).waitFor();
  });
});
