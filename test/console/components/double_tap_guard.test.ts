import { beforeEach, describe, expect, test } from 'vitest';

import { guardDoubleTaps } from '#console/components/double_tap_guard.ts';

type Listener = (event: Event) => void;

/**
 * Events of people are trusted, which scripts cannot make: this calls the listeners of the guard with objects instead.
 */
function guardedPage() {
  const listeners = new Map<string, Listener>();
  const page = { addEventListener: (type: string, listener: Listener) => listeners.set(type, listener) };
  guardDoubleTaps(page as unknown as Window);
  /** Whether the click reached its target. */
  const click = (target: Element, timeStamp: number, { x = 50, y = 20, byKey = false, isTrusted = true } = {}) => {
    let isBlocked = false;
    const event = { type: 'click', isTrusted, target, timeStamp, clientX: x, clientY: y };
    listeners.get('click')?.({
      ...event,
      detail: byKey ? 0 : 1,
      pointerType: byKey ? '' : 'touch',
      preventDefault: () => (isBlocked = true),
      stopImmediatePropagation: () => (isBlocked = true),
    } as unknown as Event);
    return !isBlocked;
  };
  const press = (key: string) => listeners.get('keydown')?.({ key } as unknown as Event);
  const pointerDown = (timeStamp: number, x = 50, y = 20) =>
    listeners.get('pointerdown')?.({ type: 'pointerdown', timeStamp, clientX: x, clientY: y } as unknown as Event);
  return { click, press, pointerDown };
}

function control(html: string): Element {
  document.body.insertAdjacentHTML('beforeend', html);
  const element = document.body.lastElementChild!;
  element.getBoundingClientRect = () => ({ left: 0, right: 100, top: 0, bottom: 40 }) as DOMRect;
  return element;
}

describe('a second tap', () => {
  let page: ReturnType<typeof guardedPage>;
  let acknowledge: Element;
  let resolve: Element;
  beforeEach(() => {
    document.body.replaceChildren();
    page = guardedPage();
    acknowledge = control('<button>Acknowledge</button>');
    resolve = control('<button>Resolve</button>');
  });

  test('within 600 ms never reaches another target at the same place', () => {
    expect(page.click(acknowledge, 0)).toBe(true);
    expect(page.click(resolve, 599)).toBe(false);
  });

  test('starts the 600 ms again', () => {
    page.click(acknowledge, 0);
    expect([page.click(resolve, 400), page.click(resolve, 900), page.click(resolve, 1_500)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('on a disabled control, which gets no click, starts the 600 ms again too', () => {
    page.click(acknowledge, 0);
    page.pointerDown(500);
    expect(page.click(resolve, 1_000)).toBe(false);
  });

  test('elsewhere reaches its target', () => {
    page.click(acknowledge, 0);
    expect(page.click(resolve, 100, { x: 200, y: 200 })).toBe(true);
  });

  test('on the same control reaches it at any speed', () => {
    expect([page.click(acknowledge, 0), page.click(acknowledge, 50)]).toEqual([true, true]);
  });

  test('on the same control is blocked when its label has changed', () => {
    page.click(acknowledge, 0);
    acknowledge.textContent = 'Resolve';
    expect(page.click(acknowledge, 50)).toBe(false);
  });

  test('by Enter on what has taken the focus is blocked, unless another key moved it', () => {
    page.click(acknowledge, 0, { byKey: true });
    expect(page.click(resolve, 100, { byKey: true })).toBe(false);
    page.press('Tab');
    expect(page.click(resolve, 200, { byKey: true })).toBe(true);
  });

  test('on a label counts as one on its field', () => {
    const label = control('<label>On <input type="checkbox" id="on"></label>');
    const field = label.querySelector('input')!;
    field.getBoundingClientRect = () => ({ left: 0, right: 100, top: 0, bottom: 40 }) as DOMRect;
    page.click(label, 0);
    expect(page.click(field, 50)).toBe(true);
  });

  test('by a script is never blocked', () => {
    page.click(acknowledge, 0);
    expect(page.click(resolve, 50, { isTrusted: false })).toBe(true);
  });
});
