import type { Page } from 'playwright-core';

/**
 * Goes to a page of the console as a link does: the browser takes longer to compile the console than to show a page of it.
 * Only a page that shows no console yet is loaded. Changes that are not saved are lost.
 */
export async function openPath(page: Page, baseUrl: string, path: string): Promise<void> {
  const url = new URL(`${baseUrl}/${path}`);
  // The router of the console is global in every page.
  if (await page.evaluate<boolean>('globalThis.__TSR_ROUTER__ === undefined')) {
    await page.goto(url.href);
    return;
  }
  const href = JSON.stringify(url.pathname + url.search);
  await page.evaluate(`globalThis.__TSR_ROUTER__.navigate({ href: ${href}, ignoreBlocker: true })`);
  await page.waitForFunction(`globalThis.__TSR_ROUTER__.state.status === 'idle'`);
}
