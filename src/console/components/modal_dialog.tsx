import { Modal } from '@mantine/core';
import type { KeyboardEvent, ReactNode } from 'react';

export interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** Width of the dialog. */
  readonly size?: string;
  /** Whether the content is shown only once: Escape and a click outside do not close the dialog then. */
  readonly isShownOnce?: boolean;
  readonly children: ReactNode;
}

/** Implementation of `Dialog`, in a file that is loaded when the first dialog is near. */
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
 * Leaves Tab inside such a field, and out of it, to the browser. Mantine's focus trap checks only later where Tab has
 * led, when the next keys may have been pressed already, and then moves the focus back to what follows the field. At
 * the ends of the dialog, where Tab would leave it, the trap is needed.
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
