import type { CDPSession, Locator, Page } from 'playwright-core';

interface Place {
  readonly x: number;
  readonly y: number;
}

interface Finger {
  /** Taps so many milliseconds after the tap before, on what is at this place by now. */
  tap(place: Place, afterMs: number): Promise<void>;
}

/** A finger with a watch of its own: a test says how far apart two taps are, and nobody waits. */
export async function fingerOn(page: Page): Promise<Finger> {
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

export async function middleOf(locator: Locator): Promise<Place> {
  const { x, y, width, height } = (await locator.boundingBox())!;
  return { x: x + width / 2, y: y + height / 2 };
}
