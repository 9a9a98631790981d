import type { ComponentType } from 'react';

import { Opening } from '#console/components/dialog.tsx';
import { inOwnFile } from '#console/components/in_own_file.tsx';
import { loadWhenUsed } from '#console/components/load_when_used.ts';
import { showError } from '#console/components/notice.tsx';

interface Closable {
  readonly onClose: (isDone: boolean) => void;
}

/**
 * A dialog in a file of its own, so that a page is shown without it. It is loaded once somebody does something on the
 * page. A file that cannot be loaded closes the dialog with a notice; opening it again tries again.
 */
export function lazyDialog<Props extends Closable>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const Part = inOwnFile(load);
  loadWhenUsed(Part.preload);

  return function LazyDialog(props: Props) {
    const close = (error: Error): void => {
      showError('This could not be opened', error);
      props.onClose(false);
    };
    return <Part {...props} whileLoading={<Opening />} onLost={close} />;
  };
}
