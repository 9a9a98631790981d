/** A tap this soon after another at the same place was meant for what was there at first. */
const SECOND_TAP_MS = 600;
/** Fingers do not hit the same spot twice. */
const WOBBLE_PX = 8;
/** Around a tap on something that fills its surroundings, such as the link of a whole row. */
const AROUND_PX = 24;

const CONTROLS =
  'a[href], button, input, select, textarea, summary, label, [role=button], [role^=menuitem], [role=option], [role=tab]';

interface Tap {
  /** In milliseconds since the page was opened; every further tap at the place renews it. */
  at: number;
  readonly target: Element;
  readonly meaning: string;
  /** Where a second tap is taken for one at the same place; null for one by key. */
  readonly place: {
    readonly left: number;
    readonly right: number;
    readonly top: number;
    readonly bottom: number;
  } | null;
}

/**
 * Keeps a second tap within 600 ms from what took the place of the first one's target: a double tap on Acknowledge must
 * not reach the Resolve that is there by then. It holds for everything that can be pressed, by finger, mouse and Enter.
 * The very same control may be pressed as often as somebody likes, as long as it still means the same.
 */
export function guardDoubleTaps(page: Window): void {
  let first: Tap | null = null;

  const isSecond = (event: MouseEvent): boolean =>
    first !== null && event.timeStamp - first.at < SECOND_TAP_MS && isAt(first.place, event);

  page.addEventListener(
    'pointerdown',
    (event) => {
      // Also on a control that is disabled meanwhile, which no click reaches.
      if (first !== null && first.place !== null && isSecond(event)) first.at = event.timeStamp;
    },
    true,
  );
  page.addEventListener(
    'keydown',
    ({ key }) => {
      // Whoever moves the focus means what it is on.
      if (key !== 'Enter' && key !== ' ' && first?.place === null) first = null;
    },
    true,
  );
  page.addEventListener(
    'click',
    (event) => {
      if (!event.isTrusted || !(event.target instanceof Element)) return;
      const target = targetOf(event.target);
      if (first !== null && isSecond(event) && (first.target !== target || first.meaning !== meaningOf(target))) {
        first.at = event.timeStamp;
        event.preventDefault();
        event.stopImmediatePropagation();
        return;
      }
      const place = isByKey(event) ? null : placeOf(target, event);
      first = { at: event.timeStamp, target, meaning: meaningOf(target), place };
    },
    true,
  );
}

/** Enter and Space click at no place. */
function isByKey({ detail, pointerType }: MouseEvent & { readonly pointerType?: string }): boolean {
  return detail === 0 && !pointerType;
}

/** What is pressed; a label presses its field. */
function targetOf(element: Element): Element {
  const control = element.closest(CONTROLS) ?? element;
  return control instanceof HTMLLabelElement ? (control.control ?? control) : control;
}

/** The same element may have come to mean something else. */
function meaningOf(target: Element): string {
  return target.getAttribute('aria-label') ?? (target.matches('button, a') ? (target.textContent ?? '') : '');
}

function placeOf(target: Element, { clientX, clientY }: MouseEvent): Tap['place'] {
  const { left, right, top, bottom } = target.getBoundingClientRect();
  const own = { left: left - WOBBLE_PX, right: right + WOBBLE_PX, top: top - WOBBLE_PX, bottom: bottom + WOBBLE_PX };
  if (target.matches(CONTROLS) && isWithin(own, clientX, clientY)) return own;
  return {
    left: clientX - AROUND_PX,
    right: clientX + AROUND_PX,
    top: clientY - AROUND_PX,
    bottom: clientY + AROUND_PX,
  };
}

function isAt(place: Tap['place'], event: MouseEvent): boolean {
  const isClickByKey = event.type === 'click' && isByKey(event);
  return place === null ? isClickByKey : !isClickByKey && isWithin(place, event.clientX, event.clientY);
}

function isWithin({ left, right, top, bottom }: NonNullable<Tap['place']>, x: number, y: number): boolean {
  return x >= left && x <= right && y >= top && y <= bottom;
}
