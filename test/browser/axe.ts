import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Describes problems only, and loads no style sheets or media again: no rule that runs here looks at them. */
const QUICK = { resultTypes: ['violations'], preload: false };

type ColorScheme = 'light' | 'dark';

const schemeOf = (page: Page): Promise<ColorScheme> =>
  page.evaluate(`matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'`);

const TRANSITIONS_ENDED = `(async () => {
  await new Promise(requestAnimationFrame);
  const changing = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
  await Promise.all(changing.map(({ finished }) => finished.catch(() => {})));
})()`;

/** Waits for the other scheme, and for the transitions between the colours of both. */
async function showIn(page: Page, colorScheme: ColorScheme): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.evaluate(`(async () => {
    const isShown = () => document.documentElement.dataset.mantineColorScheme === '${colorScheme}';
    while (!isShown()) await new Promise(requestAnimationFrame);
  })()`);
  await page.evaluate(TRANSITIONS_ENDED);
}

/** Waits until nothing is shown paler since it is older than what was asked for, and no colour changes. */
async function settled(page: Page): Promise<void> {
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  await page.evaluate(TRANSITIONS_ENDED);
}

/**
 * A menu reaches beyond what clips the list that it belongs to. It is seen all the same, since it is fixed, which axe does not
 * know: it would pass over what it takes to be hidden.
 */
const SHOW_CLIPPED_MENUS = `(() => {
  globalThis.clipping = [];
  for (const menu of document.querySelectorAll('[role=menu]')) {
    for (let at = menu.parentElement; at !== null; at = at.parentElement) {
      if (getComputedStyle(at).overflow === 'visible') continue;
      clipping.push([at, at.style.overflow]);
      at.style.overflow = 'visible';
    }
  }
})()`;
const CLIP_AGAIN = `for (const [at, overflow] of clipping.splice(0)) at.style.overflow = overflow;`;

/**
 * Runs axe: it finds everything in the scheme that is shown, and problems with colours in the other one, which stays.
 *
 * @param within a selector that limits the check; without it the whole page is checked
 * @param schemes `shown` where the other scheme is checked elsewhere
 */
export async function axeViolations(
  page: Page,
  within = ':root',
  schemes: 'both' | 'shown' = 'both',
): Promise<string[]> {
  if (await page.evaluate<boolean>('globalThis.axe === undefined')) await page.evaluate(AXE);
  await settled(page);
  await page.evaluate(SHOW_CLIPPED_MENUS);
  const scope = within === ':root' ? 'document' : JSON.stringify(within);
  const run = (colorScheme: ColorScheme, options: object) =>
    page.evaluate<string[]>(
      `axe.run(${scope}, ${JSON.stringify({ ...QUICK, ...options })}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
        nodes.slice(0, 3).map(({ html, failureSummary }) => 'in ${colorScheme}, ' + id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`,
    );
  const shown = await schemeOf(page);
  const result = await run(shown, {});
  if (schemes === 'both') {
    const other = shown === 'light' ? 'dark' : 'light';
    await showIn(page, other);
    result.push(...(await run(other, { runOnly: ['color-contrast', 'link-in-text-block'] })));
  }
  await page.evaluate(CLIP_AGAIN);
  return result;
}
