import type { ComponentType } from 'react';

import { Opening } from '#console/components/dialog.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { prefetchOnInteraction } from '#console/components/prefetch_on_interaction.ts';
import { showError } from '#console/components/notice.tsx';

interface Closable {
  readonly onClose: (isDone: boolean) => void;
}

/**
 * Makes a dialog with its own file, so that a page is shown without it. It is loaded on the first interaction with the
 * page. If the file cannot be loaded, the dialog closes with a notice; opening it again tries again.
 */
export function lazyDialog<Props extends Closable>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const Part = lazyPart(load);
  prefetchOnInteraction(Part.preload);

  return function LazyDialog(props: Props) {
    const close = (error: Error): void => {
      showError('This could not be opened', error);
      props.onClose(false);
    };
    return <Part {...props} whileLoading={<Opening />} onLost={close} />;
  };
}
