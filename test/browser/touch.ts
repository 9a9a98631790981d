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

/** Touches with a clock of their own: the test sets the time between two taps, and nobody waits. */
export async function touchScreen(page: Page): Promise<TouchScreen> {
  const devtools: CDPSession = await page.context().newCDPSession(page);
  let seconds = Date.now() / 1000;
  return {
    async tap({ x, y }, afterMs) {
      seconds += afterMs / 1000;
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
