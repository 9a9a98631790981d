import { type ComponentType, use, useEffect } from 'react';

import { WhileOpening } from '#console/components/dialog.tsx';
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
  let loading: Promise<ComponentType<Props> | Error> | null = null;
  const start = (): Promise<ComponentType<Props> | Error> => {
    loading ??= load().catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    return loading;
  };
  loadWhenUsed(async () => {
    if ((await start()) instanceof Error) loading = null;
  });

  function Loaded({ given }: { readonly given: Props }) {
    const found = use(start());
    useEffect(() => {
      if (!(found instanceof Error)) return;
      loading = null;
      showError('This could not be opened', found);
      given.onClose(false);
    });
    if (found instanceof Error) return null;
    const Part = found;
    return <Part {...given} />;
  }

  return function LazyDialog(props: Props) {
    return (
      <WhileOpening>
        <Loaded given={props} />
      </WhileOpening>
    );
  };
}
