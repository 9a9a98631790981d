import { type ComponentType, type ReactNode, useEffect, useState } from 'react';

interface WhileAway {
  /** Placeholder until the file is loaded; nothing if left out. */
  readonly whileLoading?: ReactNode;
  /** Called when the file cannot be loaded; without it, an error page is shown instead. */
  readonly onLost?: (error: Error) => void;
}

type InOwnFile<Props> = ComponentType<Props & WhileAway> & {
  /** Loads the file before it is needed. */
  preload(): void;
};

/**
 * Makes a part of a page that has its own file, and is shown as soon as the file is loaded. React's `lazy` is
 * unsuitable: it holds back for up to 300 ms content that `Suspense` has once hidden. A file that could not be loaded
 * is loaded again the next time the part is shown.
 */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>): InOwnFile<Props> {
  let part: ComponentType<Props> | null = null;
  let loading: Promise<void> | null = null;
  const start = (): Promise<void> => {
    loading ??= load().then(
      (loaded) => {
        part = loaded;
      },
      (error: unknown) => {
        loading = null;
        throw error;
      },
    );
    return loading;
  };

  function Part(props: Props & WhileAway) {
    const { whileLoading = null, onLost } = props;
    const [, setIsThere] = useState(part !== null);
    const [error, setError] = useState<Error | null>(null);
    useEffect(() => {
      if (part !== null) return undefined;
      let isGone = false;
      start().then(
        () => isGone || setIsThere(true),
        (reason: unknown) => isGone || setError(toError(reason)),
      );
      return () => {
        isGone = true;
      };
    }, []);
    useEffect(() => {
      if (error !== null) onLost?.(error);
    }, [error]);
    if (error !== null && onLost === undefined) throw error;
    const Loaded = part;
    return Loaded === null ? whileLoading : <Loaded {...props} />;
  }

  return Object.assign(Part, { preload: () => void start().catch(() => {}) });
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
