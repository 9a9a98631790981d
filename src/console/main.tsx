import './styles.ts';

import { startTransition, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { addressOf, isApiError } from '#console/api/http.ts';
import { createApp } from '#console/app.tsx';
import { keepLinkedOrganization } from '#console/shell/linked_organization.ts';
import { guardDoubleTaps } from '#console/components/double_tap_guard.ts';

const RELOADED_AT = 'tocsin-reloaded-at';
const RELOAD_INTERVAL_MS = 30_000;

/**
 * After an update the server no longer has the files that this tab would load next: reload the new version, once. Not
 * without a network: what is shown would be gone, and nothing in its place.
 */
window.addEventListener('vite:preloadError', (event) => {
  if (!navigator.onLine) return;
  if (Date.now() - Number(sessionStorage.getItem(RELOADED_AT)) < RELOAD_INTERVAL_MS) return;
  event.preventDefault();
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  location.reload();
});

if ('serviceWorker' in navigator) {
  navigator.serviceWorker.register(addressOf('sw.js')).catch((error: unknown) => {
    console.warn('Push messages cannot be shown on this device.', error);
  });
}

guardDoubleTaps(window);

const element = document.querySelector('#root');
if (element === null) throw new Error('the page has no root element');
/** A refusal or an outage is shown to the person; it is not an error of the page. */
const onCaughtError = (error: unknown): void => {
  if (!isApiError(error)) console.error(error);
};
const root = createRoot(element, { onCaughtError });

/** Lets the browser answer a finger in between: at once, these steps take a phone a third of a second. */
const nextTask = async (): Promise<void> => await new Promise((resolve) => void setTimeout(resolve));

async function start(): Promise<void> {
  keepLinkedOrganization();
  await nextTask();
  const app = createApp();
  await nextTask();
  // The router tells of what went wrong in the page.
  await app.loadFirstPage().catch(() => undefined);
  startTransition(() => root.render(<StrictMode>{app.page}</StrictMode>));
}

void start();
