import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

import { APART_MS, centerOf, touchScreen } from '#test/browser/touch.ts';

const TABS_MAX = 150;
/** Least height of a control that a thumb can press. */
const THUMB_PX = 44;

/** Moves the focus with Tab until this control has it: what cannot be reached so cannot be used without a mouse. */
export async function reach(control: Locator): Promise<void> {
  const { keyboard } = control.page();
  await control.waitFor();
  const focused = control.and(control.page().locator(':focus'));
  for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
    if ((await focused.count()) > 0) return;
    await keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${String(control)}`);
}

export async function enter(control: Locator, text?: string): Promise<void> {
  await reach(control);
  const { keyboard } = control.page();
  if (text !== undefined) await keyboard.type(text);
  await keyboard.press('Enter');
}

/** Goes to a page by g and its letter. */
export async function go(page: Page, letter: string, title: string): Promise<void> {
  await page.keyboard.press('g');
  await page.keyboard.press(letter);
  await loaded(page, title);
}

/** Waits until the page is loaded: a control that is pressed before may be replaced by another at that moment. */
export async function loaded(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
  await page.locator('main .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
}

/** Presses with a thumb what is as high as one. */
export async function thumbOf(page: Page): Promise<(control: Locator) => Promise<void>> {
  const finger = await touchScreen(page);
  return async (control) => {
    await control.scrollIntoViewIfNeeded();
    expect((await control.boundingBox())!.height, String(control)).toBeGreaterThanOrEqual(THUMB_PX);
    await finger.tap(await centerOf(control), APART_MS);
  };
}

/** Plot of a chart, which the arrow keys read. */
export const plotOf = (page: Page, name: string) => page.getByRole('slider', { name: `Time in ${name}` });
/** Bodies of what the page asks of an operation, from now on. */
export const requestsOf = (page: Page, operation: string): string[] => {
  const bodies: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith(`/actions/${operation}`)) bodies.push(request.postData() ?? '');
  });
  return bodies;
};

/**
 * Presses a control by the keyboard, as after moving the focus there: Enter twice in a row means the first control
 * alone.
 */
export async function choose(control: Locator): Promise<void> {
  await control.page().keyboard.press('Shift');
  await control.press('Enter');
}
