import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Describes problems only, and loads no style sheets or media again: no rule that runs here looks at them. */
const QUICK = { resultTypes: ['violations'], preload: false };

/** Waits for the transitions between the colours of both schemes. */
const COLOURS_CHANGED = `new Promise(requestAnimationFrame).then(() => Promise.all(document.getAnimations()
  .filter((animation) => animation instanceof CSSTransition).map(({ finished }) => finished.catch(() => {}))))`;

async function showIn(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
  await page.evaluate(COLOURS_CHANGED);
}

/** What axe finds: everything in the light scheme, and only problems with colours in the dark one.
 *
 * @param within a selector that limits the check; without it the whole page is checked
 */
export async function axeViolations(page: Page, within = ':root'): Promise<string[]> {
  if (await page.evaluate<boolean>('globalThis.axe === undefined')) await page.evaluate(AXE);
  const scope = within === ':root' ? 'document' : JSON.stringify(within);
  const run = (options: object) =>
    page.evaluate<string[]>(
      `axe.run(${scope}, ${JSON.stringify({ ...QUICK, ...options })}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
        nodes.slice(0, 3).map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`,
    );
  const light = await run({});
  await showIn(page, 'dark');
  const dark = await run({ runOnly: ['color-contrast', 'link-in-text-block'] });
  await showIn(page, 'light');
  return [...light, ...dark.map((fault) => `in dark, ${fault}`)];
}
