import { lazyPart } from '#console/components/lazy_part.tsx';
import { prefetchOnInteraction } from '#console/components/prefetch_on_interaction.ts';
import type { DialogProps } from '#console/components/modal_dialog.tsx';

const ModalDialog = lazyPart(() => import('#console/components/modal_dialog.tsx').then((m) => m.ModalDialog));

/** Dialogs are loaded after the page, on the first interaction. */
prefetchOnInteraction(ModalDialog.preload);

/**
 * A dialog above the page. Escape, a click outside and Back close it, after a question while it holds what would be
 * lost.
 */
export function Dialog(props: DialogProps) {
  return <ModalDialog {...props} whileLoading={<Opening />} />;
}

/** Asks before the page is left or reloaded, or the dialog around it is closed, while it is rendered. */
export const AskBeforeLeaving = lazyPart(() =>
  import('#console/components/leave_question.tsx').then((m) => m.LeaveBlocker),
);

/** Placeholder of a dialog whose file is loading: shortcuts are off as in the dialog itself (`shell/keyboard.ts`). */
export function Opening() {
  return <div role="dialog" aria-label="Opening" className="hidden-text" />;
}
