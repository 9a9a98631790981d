import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';

const SCOPE = 'https://tocsin.test/base/';
const INCIDENT = `${SCOPE}incidents/incident_1`;
const SIGNED = `${SCOPE}api/answers/acknowledge/n_1/seal`;

type Listener = (event: object) => void;

const listeners = new Map<string, Listener>();
/** Paths of the tabs that are open. */
let tabs: readonly string[] = [];
/** Status by which the server says whether somebody is signed in; null is no answer. */
let session: number | null = null;
/** Addresses that presses on the notification led to, in a new window or a tab that was open. */
let led: string[] = [];

beforeAll(async () => {
  vi.stubGlobal('self', {
    registration: { scope: SCOPE },
    addEventListener: (type: string, listener: Listener) => listeners.set(type, listener),
    clients: {
      matchAll: async () =>
        tabs.map((path) => ({
          url: `${SCOPE}${path}`,
          focus: async () => {},
          navigate: async (url: string) => void led.push(`${path} > ${url}`),
        })),
      openWindow: async (url: string) => void led.push(url),
    },
  });
  vi.stubGlobal('fetch', async (address: string) => {
    if (session === null || address !== `${SCOPE}api/console/session`) throw new TypeError('fetch failed');
    return new Response('{}', { status: session });
  });
  const worker = '#console/worker/service_worker.ts';
  await import(worker);
});

beforeEach(() => {
  led = [];
});

afterAll(() => void vi.unstubAllGlobals());

/** Presses the notification of a page, and waits until the worker has done what it does then. */
async function press(): Promise<void> {
  const work: Promise<unknown>[] = [];
  const data = { url: INCIDENT, actions: [{ action: 'acknowledge', title: 'Acknowledge', url: SIGNED }] };
  const waitUntil = (promise: Promise<unknown>) => void work.push(promise);
  listeners.get('notificationclick')?.({ action: '', notification: { close: () => {}, data }, waitUntil });
  await Promise.all(work);
}

test('a pressed page opens its incident in a tab of the console that is signed in', async () => {
  [tabs, session] = [['docs', 'rules?org=org_1'], 200];
  await press();
  expect(led).toEqual([`rules?org=org_1 > ${INCIDENT}`]);
});

test.each([401, null])(
  'a pressed page asks nobody to sign in whose session the server answers with %j',
  async (status) => {
    [tabs, session] = [['incidents'], status];
    await press();
    expect(led).toEqual([`incidents > ${SIGNED}`]);
  },
);

test('a pressed page leaves tabs alone that are not of the console', async () => {
  [tabs, session] = [['api/answers/x', 'a/x', 'p/x', 'login?next=/', 'docs', 'status/acme'], 200];
  await press();
  expect(led).toEqual([SIGNED]);
});
