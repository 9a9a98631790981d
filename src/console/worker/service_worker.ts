/** Shows push messages, also while no tab is open. A click on one opens its incident. */

/** Makes this file a module, although a worker exports nothing. */
export type {}; // eslint-disable-line unicorn/require-module-specifiers -- else `self` below would be declared twice

declare const self: ServiceWorkerGlobalScope;

/** Payload that `pushText` of src/notify/channels/push/sender.ts makes. */
interface PushText {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
  readonly url: string;
  readonly actions: readonly { readonly action: string; readonly title: string; readonly url: string }[];
}

/** Options missing in the types of TypeScript, but supported by every browser with buttons on notifications. */
interface ShownOptions extends NotificationOptions {
  readonly renotify: boolean;
  readonly vibrate?: readonly number[];
  readonly actions: readonly { readonly action: string; readonly title: string }[];
}

const OFFLINE_PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Tocsin cannot be reached</title>
<style>body{font:18px/1.5 system-ui,sans-serif;max-width:30em;margin:18vh auto;padding:0 1.2em;color:#1c2024;background:#fff}
a{display:inline-block;padding:.7em 1.6em;border-radius:.5em;background:#1c2024;color:#fff;text-decoration:none;font-weight:600}
@media(prefers-color-scheme:dark){body{color:#edeef0;background:#0f1114}a{background:#edeef0;color:#1c2024}}</style></head>
<body><h1>Tocsin cannot be reached</h1><p>This device is offline, or the server does not answer. Replies by SMS still work:
answer a page with ACK or RES and its number.</p><p>This page tries again every few seconds.</p>
<p><a href="">Try again now</a></p><script>
let isTrying = false;
async function tryAgain() {
  if (isTrying) return;
  isTrying = true;
  const answer = await fetch(location.href, { cache: 'no-store' }).catch(() => null);
  isTrying = false;
  if (answer !== null && answer.status < 500) location.reload();
}
addEventListener('online', tryAgain);
addEventListener('visibilitychange', tryAgain);
setInterval(tryAgain, 5000);
</script></body></html>`;

/** Answers of a proxy while the server behind it is unavailable. */
const UNAVAILABLE = new Set([502, 504]);

self.addEventListener('install', () => void self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('push', (event) => event.waitUntil(show(read(event))));

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const text = event.notification.data as PushText;
  const pressed = text.actions.find(({ action }) => action === event.action);
  if (pressed === undefined) event.waitUntil(openIncident(text));
  else if (pressed.action === 'acknowledge') event.waitUntil(acknowledge(text, pressed.url));
  else event.waitUntil(open(pressed.url));
});

self.addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate') return;
  event.respondWith(
    fetch(event.request).then(
      (answer) => (UNAVAILABLE.has(answer.status) ? offlineResponse() : answer),
      offlineResponse,
    ),
  );
});

function read(event: PushEvent): PushText {
  const fallback = { title: 'Tocsin', body: 'Open Tocsin to see what happened.', tag: 'tocsin', actions: [] };
  try {
    return { ...fallback, url: self.registration.scope, ...(event.data?.json() as Partial<PushText>) };
  } catch {
    return { ...fallback, url: self.registration.scope };
  }
}

async function show(text: PushText, isSilent = false): Promise<void> {
  const options: ShownOptions = {
    body: text.body,
    tag: text.tag,
    // A page that replaces an earlier one must sound again.
    renotify: !isSilent,
    requireInteraction: text.actions.length > 0,
    ...(isSilent ? { silent: true } : { vibrate: text.actions.length > 0 ? [300, 120, 300, 120, 600] : [120] }),
    icon: new URL('icon-192.png', self.registration.scope).href,
    badge: new URL('badge-96.png', self.registration.scope).href,
    actions: text.actions.map(({ action, title }) => ({ action, title })),
    data: text,
  };
  await self.registration.showNotification(text.title, options);
}

/**
 * Acknowledges by one press, without a question: no scanner presses buttons. On failure it opens the page, with the
 * reason.
 */
async function acknowledge(text: PushText, url: string): Promise<void> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await fetch(url, { method: 'POST', headers, body: '', credentials: 'omit' }).catch(() => null);
  if (answer?.ok !== true) return await open(url);
  await show({ ...text, body: 'You have acknowledged it.', actions: [] }, true);
}

/**
 * Opens the incident in a tab of the console whose person is signed in; otherwise the small page that acknowledges
 * without signing in.
 */
async function openIncident({ url, actions }: PushText): Promise<void> {
  const small = actions.find(({ action }) => action === 'acknowledge')?.url ?? url;
  await open((await findTab()) !== undefined && (await isSignedIn()) ? url : small);
}

/** Time in milliseconds for the server to answer. Browsers let a press open a window for about a second. */
const SESSION_MS_MAX = 800;

async function isSignedIn(): Promise<boolean> {
  const signal = AbortSignal.timeout(SESSION_MS_MAX);
  const address = new URL('api/console/session', self.registration.scope).href;
  const answer = await fetch(address, { cache: 'no-store', signal }).catch(() => null);
  return answer?.ok === true;
}

/** Paths below the scope that are not of the console, or that a person sees before signing in. */
const OTHER_PATHS = /^(?:api|a|p|docs|status|login|reset|invitation|connect)(?:[/?#]|$)/;

/** Finds a tab of the console. */
async function findTab(): Promise<WindowClient | undefined> {
  const tabs = await self.clients.matchAll({ type: 'window' });
  const { scope } = self.registration;
  return tabs.find(({ url }) => url.startsWith(scope) && !OTHER_PATHS.test(url.slice(scope.length)));
}

/** Uses a tab that is already open, if there is one. */
async function open(url: string): Promise<void> {
  const tab = await findTab();
  if (tab === undefined || !url.startsWith(self.registration.scope)) {
    await self.clients.openWindow(url);
    return;
  }
  await tab.focus();
  await tab.navigate(url).catch(() => self.clients.openWindow(url));
}

function offlineResponse(): Response {
  return new Response(OFFLINE_PAGE, { status: 503, headers: { 'content-type': 'text/html; charset=utf-8' } });
}
