import { lazy, type ReactNode, Suspense } from 'react';

import { loadWhenUsed } from '#console/components/load_when_used.ts';
import type { DialogProps } from '#console/components/modal_dialog.tsx';
import { useCloseOnBack } from '#console/components/use_close_on_back.ts';

const loadModal = () => import('#console/components/modal_dialog.tsx');
const ModalDialog = lazy(() => loadModal().then((m) => ({ default: m.ModalDialog })));

/** Pages are shown without what dialogs are made of. */
loadWhenUsed(loadModal);

/** A dialog above the page. Escape, a click outside and Back close it. */
export function Dialog(props: DialogProps) {
  useCloseOnBack(true, props.onClose);
  return (
    <WhileOpening>
      <ModalDialog {...props} />
    </WhileOpening>
  );
}

/** Around a dialog whose file is loading: no shortcut works meanwhile, as when it is there (`shell/keyboard.ts`). */
export function WhileOpening({ children }: { readonly children: ReactNode }) {
  return <Suspense fallback={<div role="dialog" aria-label="Opening" className="hidden-text" />}>{children}</Suspense>;
}
