import { lazy, Suspense } from 'react';

import type { DialogProps } from '#console/components/modal_dialog.tsx';
import { useCloseOnBack } from '#console/components/use_close_on_back.ts';

const loadModal = () => import('#console/components/modal_dialog.tsx');
const ModalDialog = lazy(() => loadModal().then((m) => ({ default: m.ModalDialog })));

/** Pages are shown without what dialogs are made of. It is loaded once somebody does something, before it is needed. */
const SIGNS_OF_LIFE = ['pointermove', 'pointerdown', 'keydown'] as const;
for (const sign of SIGNS_OF_LIFE) {
  window.addEventListener(sign, () => void loadModal().catch(() => {}), { once: true, passive: true });
}

/** A dialog above the page. Escape, a click outside and Back close it. */
export function Dialog(props: DialogProps) {
  useCloseOnBack(true, props.onClose);
  return (
    // While it is loading no shortcut works, as when it is there (`shell/keyboard.ts`).
    <Suspense fallback={<div role="dialog" aria-label="Opening" className="hidden-text" />}>
      <ModalDialog {...props} />
    </Suspense>
  );
}
