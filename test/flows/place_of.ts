import type { Locator } from 'playwright-core';
import { expect } from 'vitest';

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Element of the page, as far as the functions below use it, which run in the browser. */
export interface BrowserElement {
  readonly tagName: string;
  readonly type?: string;
  readonly outerHTML: string;
  readonly labels?: Iterable<BrowserElement> | null;
  readonly selectedOptions: readonly { readonly label: string }[];
  readonly ownerDocument: { elementFromPoint(x: number, y: number): BrowserElement | null };
  getAttribute(name: string): string | null;
  getBoundingClientRect(): Box;
  contains(other: BrowserElement): boolean;
  closest(selector: string): BrowserElement | null;
  scrollIntoView(options: { block: 'center' }): void;
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly height: number;
  /** Description of the element that covers it; null for none. */
  readonly above: string | null;
}

/**
 * The middle of what is pressed for a control, the largest of it and its labels, and how high the area around it is
 * that presses it.
 */
function findPlace(control: BrowserElement): Place {
  const field = control.getAttribute('role') === 'combobox' ? control.closest('[class*=wrapper]') : null;
  const parts = [control, ...(field === null ? [] : [field]), ...(control.labels ?? [])];
  const boxes = parts.map((part) => part.getBoundingClientRect());
  const largest = boxes.sort((a, b) => b.width * b.height - a.width * a.height)[0];
  if (largest === undefined) throw new Error('it has no size');
  const [x, y] = [largest.x + largest.width / 2, largest.y + largest.height / 2];
  const at = (place: number): BrowserElement | null => control.ownerDocument.elementFromPoint(x, place);
  const isOwn = (element: BrowserElement | null): boolean =>
    element !== null && parts.some((part) => part.contains(element));
  const reachOf = (step: 1 | -1): number => {
    let away = 0;
    while (away < 40 && isOwn(at(y + step * away))) away += 1;
    return away;
  };
  const above = at(y);
  if (!isOwn(above)) return { x, y, height: 0, above: above?.outerHTML.slice(0, 300) ?? 'nothing: it is out of view' };
  return { x, y, height: Math.max(largest.height, reachOf(1) + reachOf(-1)), above: null };
}

/** Brings it into the middle of the screen, and says where it is once it stands still. */
export async function placeOf(control: Locator): Promise<Place> {
  const look = async (): Promise<Place> => {
    await control.evaluate((element: BrowserElement) => element.scrollIntoView({ block: 'center' }));
    return await control.evaluate(findPlace);
  };
  let place = await look();
  const isAtRest = async (): Promise<boolean> => {
    const before = JSON.stringify(place);
    place = await look();
    return before === JSON.stringify(place);
  };
  await expect.poll(isAtRest).toBe(true);
  // A notice lies over a corner of the page for some seconds.
  await expect.poll(async () => (place = await look()).above ?? '', { timeout: 10_000 }).not.toContain('Notifications');
  if (place.above !== null) throw new Error(`${String(control)} is covered by ${place.above}`);
  return place;
}
