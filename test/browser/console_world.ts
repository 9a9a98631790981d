import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

import { inUnitOfWork } from '#modules/stores.ts';
import type { Config } from '#entry/config.ts';
import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import { openContext } from '#test/browser/chromium.ts';
import { givenPerson, PASSWORD, signedIn } from '#test/kit/programs/browser.ts';
import { runningClock } from '#test/kit/clock.ts';
import { startMailServer, type MailServer } from '#test/kit/programs/mail_server.ts';
import { type RolesRuntime, startRoles } from '#test/kit/roles.ts';
import { type World, world } from '#test/kit/world.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { openIncident } from '#modules/incidents/open_incidents.ts';

/** Somebody who is logged in, in their own browser. */
export interface Visitor {
  readonly userId: Id<'user'>;
  readonly name: string;
  readonly email: string;
  readonly page: Page;
}

/** A running server with workers, a mail server and the console at its address; there are no phones. */
export interface ConsoleWorld extends World {
  readonly baseUrl: string;
  readonly post: MailServer;
  /** A page of a browser without a session. */
  signedOutPage(options?: BrowserContextOptions): Promise<Page>;
  /** A new member of the organization, or `as` somebody again, who is logged in and at this path. */
  visitor(
    options?: { role?: Role; name?: string; path?: string; as?: Visitor } & BrowserContextOptions,
  ): Promise<Visitor>;
  /** Opens an incident the way a breached rule of this service does. */
  incident(
    serviceId: Id<'service'>,
    title: string,
    options?: { key?: string; escalationPolicyId?: string },
  ): Promise<Id<'incident'>>;
  forOrganization(name?: string): Promise<ConsoleWorld>;
}

interface Address {
  /** The path of the product below its host. */
  readonly path?: string;
  /** The public address, when it differs from where the server listens. */
  readonly publicUrl?: string;
  readonly port?: number;
  readonly settings?: Partial<Config>;
  /** Opens the browser profile of each visitor; each has one of their own by default. */
  readonly contextFor?: ContextFor;
}

type ContextFor = (options: BrowserContextOptions) => Promise<BrowserContext>;

/** A console that is closed when the test is over. */
export async function openConsole(address: Address = {}): Promise<ConsoleWorld> {
  const h = await startConsole(address);
  onTestFinished(h.close);
  return h;
}

/** A console that whoever started it closes. */
export async function startConsole(address: Address = {}): Promise<ConsoleWorld> {
  const { path = '', publicUrl, port, settings: own, contextFor = openContext } = address;
  const post = await startMailServer({ keepOpen: true });
  const listening = port ?? (await findFreePort(0));
  const baseUrl = publicUrl ?? `http://127.0.0.1:${listening}${path}`;
  const settings: Partial<Config> = { baseUrl, smtpUrl: post.url, mailFrom: 'Tocsin <tocsin@example.com>', ...own };
  const w = await world({ keepOpen: true, clock: runningClock(), jobs: 'real queue', settings });
  await w.app.listen({ port: listening, host: '127.0.0.1' });
  const { runtime, stop } = startRoles(w.context);
  const close = async (): Promise<void> => {
    await stop();
    await w.close();
    await post.close();
  };
  return consoleOf(w, { baseUrl, post, runtime, contextFor, close });
}

interface Server extends Pick<ConsoleWorld, 'baseUrl' | 'post' | 'close'> {
  readonly runtime: RolesRuntime;
  readonly contextFor: ContextFor;
}

/** The console as the organization of this world uses it. */
function consoleOf(w: World, server: Server): ConsoleWorld {
  const { baseUrl, post, close, runtime, contextFor } = server;
  const pageFor = async (options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await contextFor({ baseURL: `${baseUrl}/`, ...options });
    return context.pages()[0] ?? (await context.newPage());
  };
  return {
    ...w,
    baseUrl,
    post,
    close,
    forOrganization: async (name) => consoleOf(await w.forOrganization(name), server),
    signedOutPage: pageFor,
    async visitor({ role = 'owner', name = 'Olga', path: start = '', as, ...options } = {}) {
      const person = as ?? (await givenPerson(w, { role, name }));
      const [cookieName = '', value = ''] = ((await signedIn(w, person.email)).cookie ?? '').split('=');
      const page = await pageFor(options);
      await page.context().addCookies([{ name: cookieName, value, url: new URL(baseUrl).origin }]);
      await page.goto(`${baseUrl}/${start.replace(/^\//, '')}`);
      return { ...person, page };
    },
    async incident(serviceId, title, { escalationPolicyId, ...options } = {}) {
      const config = { metricName: 'latency', comparator: '>', threshold: 100 };
      const policy = escalationPolicyId === undefined ? {} : { escalationPolicyId };
      const wanted = { serviceId, name: title, kind: 'metric_threshold', config, ...policy };
      const rule = await w.expectOk('create_alert_rule', wanted, options);
      return await inUnitOfWork(runtime, async (unit) => {
        const [active] = await unit.stores.activeRules.list('metric_threshold', { ruleId: rule.ruleId });
        if (active === undefined) throw new Error('the rule is not active');
        const details = { ...config, aggregation: 'avg', windowMinutes: 5, value: 250 };
        const cause = { kind: 'metric_threshold', exceptionGroupId: null, title, severity: 'error' } as const;
        const id = await openIncident(unit, active, { ...cause, details, sentence: title });
        if (id === null) throw new Error('an incident of this rule is open already');
        return id;
      });
    },
  };
}

/** Fills in the login form and submits it. */
export async function logIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}
