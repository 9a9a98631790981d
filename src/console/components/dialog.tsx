import { lazyPart } from '#console/components/lazy_part.tsx';
import { prefetchOnInteraction } from '#console/components/prefetch_on_interaction.ts';
import type { DialogProps } from '#console/components/modal_dialog.tsx';
import { useCloseOnBack } from '#console/components/use_close_on_back.ts';

const ModalDialog = lazyPart(() => import('#console/components/modal_dialog.tsx').then((m) => m.ModalDialog));

/** Dialogs are loaded after the page, on the first interaction. */
prefetchOnInteraction(ModalDialog.preload);

/** A dialog above the page. Escape, a click outside and Back close it. */
export function Dialog(props: DialogProps) {
  useCloseOnBack(true, props.onClose);
  return <ModalDialog {...props} whileLoading={<Opening />} />;
}

/** Placeholder of a dialog whose file is loading: shortcuts are off as in the dialog itself (`shell/keyboard.ts`). */
export function Opening() {
  return <div role="dialog" aria-label="Opening" className="hidden-text" />;
}
