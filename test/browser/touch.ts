import type { CDPSession, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

interface Point {
  readonly x: number;
  readonly y: number;
}

interface TouchScreen {
  /** Taps so many milliseconds after the previous tap, on whatever is at this point. */
  tap(point: Point, afterMs: number): Promise<void>;
}

/** Least time between two taps that have nothing to do with each other. */
export const APART_MS = 2_000;

/**
 * Touches with a clock of their own: the test sets the time between two taps, and nobody waits. Taps that are apart catch
 * up with the real clock: what lies before a page was loaded counts as 0 there, and two such taps as a double one.
 */
export async function touchScreen(page: Page): Promise<TouchScreen> {
  const devtools: CDPSession = await page.context().newCDPSession(page);
  let seconds = Date.now() / 1000;
  return {
    async tap({ x, y }, afterMs) {
      seconds += afterMs / 1000;
      if (afterMs >= APART_MS) seconds = Math.max(seconds, Date.now() / 1000);
      const timestamp = seconds;
      await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }], timestamp });
      await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [], timestamp });
    },
  };
}

type Box = NonNullable<Awaited<ReturnType<Locator['boundingBox']>>>;

/** Returns the box of an element once nothing moves any more. */
export async function boxOf(locator: Locator): Promise<Box> {
  let last = '';
  const staysWhere = async (): Promise<boolean> => {
    const before = last;
    last = JSON.stringify(await locator.boundingBox());
    return last === before;
  };
  await expect.poll(staysWhere).toBe(true);
  return (await locator.boundingBox())!;
}

export async function centerOf(locator: Locator): Promise<Point> {
  const { x, y, width, height } = await boxOf(locator);
  return { x: x + width / 2, y: y + height / 2 };
}
