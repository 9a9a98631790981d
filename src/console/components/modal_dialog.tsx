import { Modal } from '@mantine/core';
import type { KeyboardEvent, ReactNode } from 'react';

export interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** A width of its own. */
  readonly size?: string;
  /** It shows something only once, so Escape and a click outside do not close it. */
  readonly isShownOnce?: boolean;
  readonly children: ReactNode;
}

/** What `Dialog` is made of, in a file that is loaded when the first dialog is near. */
export function ModalDialog({ title, onClose, isWide = false, size, isShownOnce = false, children }: DialogProps) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={size ?? (isWide ? 'lg' : 'md')}
      closeOnClickOutside={!isShownOnce}
      closeOnEscape={!isShownOnce}
      onKeyDown={leaveToBrowser}
    >
      {children}
    </Modal>
  );
}

const HAS_STOPS_OF_ITS_OWN =
  'input:is([type=date], [type=time], [type=datetime-local], [type=month], [type=week]), audio, video, iframe, object, embed';
const STOPS = 'a[href], button, input, select, textarea, summary, audio, video, iframe, [tabindex]';

/**
 * Tab inside such a field, and out of it, is the browser's. Mantine's focus trap looks where it led only later, when the
 * next keys may have been pressed already, and then takes the focus back to what follows the field. At the ends of the
 * dialog, where Tab would leave it, the trap is needed.
 */
function leaveToBrowser(event: KeyboardEvent<HTMLElement>): void {
  const { target, currentTarget } = event;
  if (event.key !== 'Tab' || !(target instanceof Element) || !target.matches(HAS_STOPS_OF_ITS_OWN)) return;
  // A dialog above this one is its child for React only.
  if (!currentTarget.contains(target)) return;
  const towards = event.shiftKey ? Node.DOCUMENT_POSITION_PRECEDING : Node.DOCUMENT_POSITION_FOLLOWING;
  const goesOn = [...currentTarget.querySelectorAll<HTMLElement>(STOPS)].some(
    (stop) =>
      (target.compareDocumentPosition(stop) & towards) !== 0 &&
      stop.tabIndex >= 0 &&
      !stop.matches(':disabled') &&
      stop.checkVisibility(),
  );
  if (goesOn) event.stopPropagation();
}
