import './styles.ts';

import { startTransition, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { addressOf, isApiError } from '#console/api/http.ts';
import { createApp } from './app.tsx';
import { keepLinkedOrganization } from '#console/shell/organization.tsx';
import { guardDoubleTaps } from '#console/components/double_tap_guard.ts';

const RELOADED_AT = 'tocsin-reloaded-at';
const RELOAD_INTERVAL_MS = 30_000;

/**
 * Reloads the page once if a file of this version is gone after an update. Not while offline: the page would be lost,
 * with nothing in its place.
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
/** Logs errors of the page. Refusals and outages are shown to the person, and are not among them. */
const onCaughtError = (error: unknown): void => {
  if (!isApiError(error)) console.error(error);
};
const root = createRoot(element, { onCaughtError });

/**
 * Waits for the next task, so that the browser can respond to touch in between: run at once, these steps take a phone a
 * third of a second.
 */
const nextTask = async (): Promise<void> => await new Promise((resolve) => void setTimeout(resolve));

async function start(): Promise<void> {
  keepLinkedOrganization();
  await nextTask();
  const app = createApp();
  await nextTask();
  // The router shows errors in the page.
  await app.loadFirstPage().catch(() => undefined);
  startTransition(() => root.render(<StrictMode>{app.page}</StrictMode>));
}

void start();
