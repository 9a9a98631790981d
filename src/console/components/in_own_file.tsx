import { type ComponentType, type ReactNode, useEffect, useState } from 'react';

interface WhileAway {
  /** Stands in its place until the file is there; nothing when left out. */
  readonly whileLoading?: ReactNode;
  /** Called when the file cannot be loaded; when left out, an error page stands in place of this one. */
  readonly onLost?: (error: Error) => void;
}

type InOwnFile<Props> = ComponentType<Props & WhileAway> & {
  /** Loads the file before it is needed. */
  preload(): void;
};

/**
 * A part of a page in a file of its own, which is shown as soon as the file is there. React's `lazy` is not for this: it
 * holds back for up to 300 ms what `Suspense` has once hidden. A file that could not be loaded is loaded again the next
 * time that the part is shown.
 */
export function inOwnFile<Props extends object>(load: () => Promise<ComponentType<Props>>): InOwnFile<Props> {
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
