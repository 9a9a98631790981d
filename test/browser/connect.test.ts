import { expect, test } from 'vitest';

import { inBrowser } from '#test/browser/chromium.ts';
import { logIn, openConsole } from '#test/browser/console_world.ts';
import { connectingApp } from '#test/browser/connecting_app.ts';
import { send } from '#test/contract/mcp_call.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';

inBrowser('connecting an app', () => {
  test('a person sees which app asks, grants read-only access, and disconnects it', async () => {
    const h = await openConsole();
    const anna = await givenPerson(h, { role: 'editor', name: 'Anna' });
    const app = await connectingApp(h);
    const page = await h.signedOutPage();
    await page.goto(app.authorizationUrl);
    await page.waitForURL(/\/login\?next=%2Fconnect/);
    await logIn(page, anna.email);
    await page.getByRole('heading', { name: /^Connect Ada/ }).waitFor();
    await page.getByText(app.host).waitFor();
    expect(await page.getByRole('radio', { name: /Read only/ }).isChecked()).toBe(true);
    await page.getByText('Ingestion keys and DSNs are masked').waitFor();
    await page.getByText('Also creates and edits services').waitFor();
    expect(await page.getByText('deletes services').count()).toBe(0);
    await page
      .getByText('It can see ingestion keys and DSNs: anyone who has them can send data that pages people.')
      .waitFor();
    await page.getByRole('button', { name: 'Connect' }).click();
    await app.calledBack(page);
    const code = new URL(page.url()).searchParams.get('code')!;
    const { access_token: token } = (await app.redeem(code)).body;
    const listed = await send(app.s, 'tools/list', {}, { key: token });
    const tools = new Set(listed.body.result.tools.map(({ name }: { name: string }) => name));
    expect([tools.has('list_services'), tools.has('create_service')]).toEqual([true, false]);

    await page.goto(`${h.baseUrl}/settings/apps`);
    await page.getByText('read only').waitFor();
    await page.getByRole('button', { name: 'Disconnect Ada of Anna' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('No app is connected').waitFor();
    expect((await send(app.s, 'tools/list', {}, { key: token })).status).toBe(401);
  });

  test('a person who denies the request returns to the app, and the request cannot be answered again', async () => {
    const h = await openConsole();
    const app = await connectingApp(h);
    const { page } = await h.visitor({ role: 'editor' });
    await page.goto(app.authorizationUrl);
    await page.waitForURL(/\/connect\//);
    const asked = page.url();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: 'The app is not connected.' }).waitFor();
    await page.getByRole('link', { name: `Tell the app, at ${app.host}` }).click();
    await app.calledBack(page);
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
    await page.goto(asked);
    await page.getByRole('heading', { name: 'This request is over' }).waitFor();
  });
});
