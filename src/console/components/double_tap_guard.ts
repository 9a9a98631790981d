/** Time, in milliseconds, within which a second tap at the same place was meant for the first target. */
const SECOND_TAP_MS = 600;
/** Distance within which two taps count as the same spot: two taps of a finger never hit exactly the same one. */
const TOLERANCE_PX = 8;
/** Radius around a tap on something large, such as the link of a whole row. */
const RADIUS_PX = 24;

const CONTROLS =
  'a[href], button, input, select, textarea, summary, label, [role=button], [role^=menuitem], [role=option], [role=tab]';

interface Tap {
  /** Time in milliseconds since the page was opened. Every further tap at the place renews it. */
  at: number;
  readonly target: Element;
  readonly meaning: string;
  /** Area in which a second tap counts as one at the same place; null for the keyboard. */
  readonly place: {
    readonly left: number;
    readonly right: number;
    readonly top: number;
    readonly bottom: number;
  } | null;
}

/**
 * Blocks a second tap within 600 ms if something else took the place of the first target: a double tap on Acknowledge
 * must not reach the Resolve button that replaced it. This covers every control, for touch, mouse and Enter. The same
 * control can be pressed again at any speed, as long as its label is the same.
 */
export function guardDoubleTaps(page: Window): void {
  let first: Tap | null = null;

  const isSecond = (event: MouseEvent): boolean =>
    first !== null && event.timeStamp - first.at < SECOND_TAP_MS && isAt(first.place, event);

  page.addEventListener(
    'pointerdown',
    (event) => {
      // A disabled control gets no click, but the tap still counts.
      if (first !== null && first.place !== null && isSecond(event)) first.at = event.timeStamp;
    },
    true,
  );
  page.addEventListener(
    'keydown',
    ({ key }) => {
      // After moving the focus, a person means the focused control.
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

/** Whether a click came from Enter or Space: it has no position. */
function isByKey({ detail, pointerType }: MouseEvent & { readonly pointerType?: string }): boolean {
  return detail === 0 && !pointerType;
}

/** Returns the control that is pressed. A label presses its field. */
function targetOf(element: Element): Element {
  const control = element.closest(CONTROLS) ?? element;
  return control instanceof HTMLLabelElement ? (control.control ?? control) : control;
}

/** Returns the label of an element. Labels are compared, too, because the same element can get another meaning. */
function meaningOf(target: Element): string {
  return target.getAttribute('aria-label') ?? (target.matches('button, a') ? (target.textContent ?? '') : '');
}

function placeOf(target: Element, { clientX, clientY }: MouseEvent): Tap['place'] {
  const { left, right, top, bottom } = target.getBoundingClientRect();
  const area = {
    left: left - TOLERANCE_PX,
    right: right + TOLERANCE_PX,
    top: top - TOLERANCE_PX,
    bottom: bottom + TOLERANCE_PX,
  };
  if (target.matches(CONTROLS) && isWithin(area, clientX, clientY)) return area;
  return {
    left: clientX - RADIUS_PX,
    right: clientX + RADIUS_PX,
    top: clientY - RADIUS_PX,
    bottom: clientY + RADIUS_PX,
  };
}

function isAt(place: Tap['place'], event: MouseEvent): boolean {
  const isClickByKey = event.type === 'click' && isByKey(event);
  return place === null ? isClickByKey : !isClickByKey && isWithin(place, event.clientX, event.clientY);
}

function isWithin({ left, right, top, bottom }: NonNullable<Tap['place']>, x: number, y: number): boolean {
  return x >= left && x <= right && y >= top && y <= bottom;
}
