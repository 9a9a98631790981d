import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { updateOwnContact } from '#modules/contacts/operations/update_own_contact.ts';
import { codeAt } from '#auth/second_factor_codes.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { type ConsoleWorld, logIn, openConsole } from '#test/browser/console_world.ts';
import { createSampleData, press } from '#test/browser/sample_pages.ts';
import { accountForms, dataForms, outsideForms, responseForms, settingForms } from '#test/flows/form_list.ts';
import type { FormOfConsole } from '#test/flows/form_of_console.ts';
import { resetForm, shiftForms, startForms, trackerForm } from '#test/flows/prepared_forms.ts';
import { UNREACHABLE_TWILIO } from '#test/flows/unreachable_twilio.ts';
import { openBrowser, signedIn } from '#test/kit/programs/browser.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';

const REFUSAL = 'is refused by the server';
const AT_FIELD = 'Is refused by the server';
const ELSEWHERE = 'is said by no field';
/** Long, so that the test reports every form that fails and not only the first. */
const LONG_WAIT_MS = 30_000;
const QUICK = { serviceWorkers: 'block', reducedMotion: 'reduce' } as const;

inBrowser('a form', () => {
  test('says at its fields what it lacks and what the server refuses, and the first of them has the focus', async () => {
    const port = await findFreePort(0);
    const h = await openConsole({ port, publicUrl: `http://localhost:${port}`, settings: UNREACHABLE_TWILIO });
    const owner = await h.visitor({ name: 'Anna', path: '/me', ...QUICK });
    const ids = await createSampleData(h, owner);
    await givenMetrics(h, ids.serviceId, { name: 'latency', minutes: 30, everySeconds: 60, value: () => 20 });
    const signedOut = await h.signedOutPage(QUICK);
    await signedOut.goto(`${h.baseUrl}/login`);
    await makePasskeys(owner.page);
    await owner.page.reload();
    await givenMonitor(h, ids.serviceId);
    await givenShiftOfTomorrow(h, ids.scheduleId, owner.userId);
    const contact = { teamId: null, phone: '+31612345679' };
    await runOperation(h, updateOwnContact, memberCaller(h.orgId, owner.userId, 'owner'), contact);
    const inside = [responseForms(ids), dataForms(ids), [...settingForms, trackerForm, ...shiftForms(ids)]];
    const pages = await Promise.all(inside.map(async () => await owner.page.context().newPage()));
    await Promise.all(pages.map(async (page) => await page.goto(`${h.baseUrl}/me`)));
    const faults = await Promise.all([
      checkAll(h, signedOut, [...outsideForms(ids.invitationPath), resetForm(await resetPathFor(h, owner.email))]),
      checkAll(h, owner.page, accountForms),
      ...pages.map(async (page, index) => await checkAll(h, page, inside[index]!)),
    ]);
    expect(faults.flat()).toEqual([]);
  });

  test('of a new organization says the same, and keeps what was entered', async () => {
    const h = await openConsole();
    const { page } = await h.visitor(QUICK);
    expect(await checkAll(h, page, startForms)).toEqual([]);
  });

  test('of a second factor says at its field that the code is wrong', async () => {
    const h = await openConsole();
    const { page, email } = await h.visitor({ name: 'Olga', path: '/settings/members', ...QUICK });
    const browser = await signedIn(h, email);
    const { secret } = (await browser.post('/me/authenticator-app', {})).body.result;
    const code = codeAt(secret, h.clock.now());
    expect((await browser.post('/me/authenticator-app/confirmation', { code })).status).toBe(200);
    const label = 'Code from your authenticator app';
    const form = { name: 'second factor', opening: [''], missing: [label], fill: { [label]: code } } as const;
    const send = { send: 'Continue', refused: { code: label } } as const;

    await page.reload();
    await page.getByRole('switch', { name: 'Owners and admins must have a second factor' }).click();
    const dialog = page.getByRole('dialog', { name: 'Confirm with your second factor' });
    await checkForm(page, dialog, { ...form, ...send, to: '/me/step-up' });

    const signedOut = await h.signedOutPage(QUICK);
    await signedOut.goto(`${h.baseUrl}/login`);
    await logIn(signedOut, email);
    await signedOut.getByLabel(label).waitFor();
    await checkForm(signedOut, signedOut.locator('main'), { ...form, ...send, to: '/session/second-factor' });
  });
});

/** A job of the service has reported once. */
async function givenMonitor(h: ConsoleWorld, serviceId: string): Promise<void> {
  const { username, pathname } = new URL((await h.expectOk('get_service', { serviceId })).dsn);
  const config = { schedule: { type: 'crontab', value: '0 4 * * *' }, timezone: 'UTC' };
  const answer = await fetch(`${h.baseUrl}/api${pathname}/cron/backup/${username}/?status=ok`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ monitor_config: config }),
  });
  expect(answer.status).toBeLessThan(300);
}

/** Their shift, for which another one can be given. */
async function givenShiftOfTomorrow(h: ConsoleWorld, scheduleId: string, userId: string): Promise<void> {
  const [startAt, endAt] = [24, 30].map((hours) => h.clock.now().add({ hours }).toString());
  await h.expectOk('create_schedule_override', { scheduleId, userId, startAt, endAt });
}

/** Returns the path that the mail for a forgotten password leads to. */
async function resetPathFor(h: ConsoleWorld, email: string): Promise<string> {
  await openBrowser(h).post('/password-resets', { email });
  const links = () => h.post.mails.flatMap((mail) => h.post.linksOf(mail)['Set a new password'] ?? []);
  await expect.poll(() => links().length, { timeout: LONG_WAIT_MS }).toBe(1);
  return new URL(links()[0]!).pathname.slice(1);
}

/** The browser makes passkeys without asking anybody. */
async function makePasskeys(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
  } as const;
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
  });
}

async function checkAll(h: ConsoleWorld, page: Page, forms: readonly FormOfConsole[]): Promise<string[]> {
  const faults: string[] = [];
  page.setDefaultTimeout(LONG_WAIT_MS);
  for (const form of forms) {
    try {
      await checkForm(page, await open(h, page, form), form);
      if (form.keepsDraft !== undefined) await hasDraft(await open(h, page, form), form.fill);
    } catch (error) {
      faults.push(`${form.name}: ${error instanceof Error ? error.message.slice(0, 600) : String(error)}`);
    }
    await page.unrouteAll();
  }
  return faults;
}

/** Opens the form, and returns the element that holds it. */
async function open(h: ConsoleWorld, page: Page, { opening, region }: FormOfConsole): Promise<Locator> {
  const [path, ...pressed] = opening;
  await page.goto(`${h.baseUrl}/${path}`);
  await page.locator('h1').first().waitFor();
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  for (const name of pressed) await press(page, name);
  if (region !== undefined) return page.getByRole('region', { name: region });
  return pressed.length > 0 ? page.getByRole('dialog').last() : page.locator('body');
}

/** Expects the values that were entered before the page was loaded again. */
async function hasDraft(scope: Locator, fill: FormOfConsole['fill'] = {}): Promise<void> {
  for (const [label, text] of Object.entries(fill)) {
    const shown = () => fieldIn(scope, label).inputValue();
    await expect.poll(shown, { message: `${label} is kept`, timeout: LONG_WAIT_MS }).toBe(text);
  }
}

async function checkForm(page: Page, scope: Locator, form: FormOfConsole): Promise<void> {
  const { clear = [], missing = [], fill = {}, pick = {}, send, to, refused } = form;
  const button = scope.getByRole('button', { name: send, exact: true });
  /** A list that opened with its field may lie over the button. */
  const submit = async (): Promise<void> => await button.press('Enter');
  for (const label of clear) await fieldIn(scope, label).fill('');
  if (missing.length > 0) {
    await submit();
    await areFaulty(scope, missing, /./);
  }
  for (const [label, option] of Object.entries(pick)) {
    await fieldIn(scope, label).click();
    if (option !== '') await fieldIn(scope, label).fill(option);
    await page.getByRole('option').filter({ hasText: option }).locator('visible=true').first().click();
  }
  for (const [label, text] of Object.entries(fill)) await fieldIn(scope, label).fill(text);
  if (to === undefined) {
    await submit();
    await button.waitFor({ state: 'detached' });
    return;
  }
  const answers = [
    Object.keys(refused).map((path) => ({ path, message: REFUSAL })),
    [{ path: 'x', message: ELSEWHERE }],
  ];
  const asked: string[] = [];
  await page.route(
    (url) => url.pathname.endsWith(to),
    async (route) => {
      if (route.request().method() === 'GET') return await route.fallback();
      asked.push(to);
      const errors = asked.length === 1 && answers[0]!.length > 0 ? answers[0]! : answers[1]!;
      const detail = errors.map(({ path, message }) => `${path}: ${message}`).join('; ');
      const problem = { type: 'about:blank', title: 'Bad Request', status: 400, code: 'invalid_input', detail, errors };
      await route.fulfill({ status: 400, contentType: 'application/problem+json', body: JSON.stringify(problem) });
    },
  );
  if (answers[0]!.length > 0) {
    await submit();
    await areFaulty(scope, Object.values(refused), new RegExp(`${AT_FIELD}|${REFUSAL}`));
  }
  // What no field says stands in an alert.
  await submit();
  await scope.getByRole('alert').filter({ hasText: ELSEWHERE }).first().waitFor();
}

const fieldIn = (scope: Locator, label: string): Locator =>
  scope
    .getByLabel(label, { exact: true })
    .or(scope.getByRole('group', { name: label, exact: true }))
    .locator('visible=true')
    .first();

interface BrowserField {
  readonly ownerDocument: { getElementById(id: string): { readonly textContent: string } | null };
  getAttribute(name: string): string | null;
  closest(selector: string): BrowserField | null;
  querySelector(selector: string): BrowserField | null;
  matches(selector: string): boolean;
}

/** Returns the description of an invalid field or of its group. */
function faultOf(field: BrowserField): string {
  const control = field.matches('[aria-invalid=true]') ? field : field.querySelector('[aria-invalid=true]');
  if (control === null) return '';
  const group = control.closest('[role=group], [role=radiogroup]');
  const ids = [control, group].flatMap((element) => element?.getAttribute('aria-describedby')?.split(' ') ?? []);
  return ids
    .map((id) => (id.endsWith('-error') ? (field.ownerDocument.getElementById(id)?.textContent ?? '') : ''))
    .join(' ')
    .trim();
}

/** Each of them says what is wrong, the first has the focus, and no alert repeats it. */
async function areFaulty(scope: Locator, labels: readonly string[], fault: RegExp): Promise<void> {
  for (const label of labels) {
    await expect
      .poll(() => fieldIn(scope, label).evaluate(faultOf), { message: label, timeout: LONG_WAIT_MS })
      .toMatch(fault);
  }
  const first = fieldIn(scope, labels[0]!);
  const hasFocus = () =>
    first.evaluate((element) => element.matches(':focus') || element.querySelector(':focus') !== null);
  await expect.poll(hasFocus, { message: `the focus is in ${labels[0]}`, timeout: LONG_WAIT_MS }).toBe(true);
  await expect.poll(() => scope.getByRole('alert').allInnerTexts(), { timeout: LONG_WAIT_MS }).toEqual([]);
}
