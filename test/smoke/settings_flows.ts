import { expect, test } from 'vitest';

import { createInvitation } from '#modules/organizations/operations/invitations.ts';
import { type ConsoleWorld, logIn } from '#test/browser/console_world.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';
import type { Mail } from '#test/kit/programs/mail_server.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Smoke, TOUCH } from '#test/smoke/flows.ts';

const INVITATION = /http\S+\/invitation\/\S+/;

/** The first mail that arrives for this address. */
async function mailTo(h: ConsoleWorld, address: string): Promise<Mail> {
  const mails = (): Mail[] => h.post.mails.filter(({ recipients }) => recipients.includes(address));
  await expect.poll(() => mails().length).toBeGreaterThan(0);
  return mails()[0]!;
}

export function settingsFlows({ newOrganization }: Smoke): void {
  test('a person logs in with a password, adds a passkey, and needs both from then on', async () => {
    const h = await newOrganization();
    const anna = await givenPerson(h, { role: 'responder', name: 'Anna' });
    const page = await h.signedOutPage();
    await page.goto(`${h.baseUrl}/me`);
    await page.waitForURL(/\/login\?next=/);
    await logIn(page, anna.email);
    await page.getByRole('heading', { level: 1, name: 'Anna' }).waitFor();

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
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('This laptop');
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
    await page.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByText('Passkey, added').waitFor();

    await page.getByRole('button', { name: /^Anna.*account/ }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.waitForURL(/\/login$/);
    await logIn(page, anna.email);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('heading', { name: /, Anna$/ }).waitFor();
    expect(new URL(page.url()).pathname).not.toMatch(/login/);
    await devtools.send('WebAuthn.disable');
    await devtools.detach();
  });

  test('somebody is invited by mail', async () => {
    const h = await newOrganization();
    const { page } = await h.visitor({ path: '/settings/members' });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await dialog.getByLabel('Mail address').fill('bram@example.com');
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect((await mailTo(h, 'bram@example.com')).text).toMatch(INVITATION);
  });

  test('who is invited joins, and the audit log has it', async () => {
    const h = await newOrganization();
    const owner = memberCaller(h.orgId, h.owner.userId, 'owner');
    await runOperation(h, createInvitation, owner, { email: 'cleo@example.com', role: 'viewer' });
    const [link = ''] = INVITATION.exec((await mailTo(h, 'cleo@example.com')).text ?? '') ?? [];
    const joining = await h.signedOutPage(TOUCH);
    await joining.goto(link);
    await joining.getByLabel('Your name').fill('Cleo');
    await joining.getByLabel('Choose a password').fill('quiet harbour 7 lantern');
    await joining.getByRole('button', { name: 'Join' }).click();
    await joining.getByRole('heading', { name: /, Cleo$/ }).waitFor();

    const { page } = await h.visitor({ path: '/settings/audit' });
    const joined = page.getByRole('button', { name: 'Accept an invitation: show what changed' });
    await joined.waitFor();
    expect(await joined.count()).toBe(1);
  });
}
