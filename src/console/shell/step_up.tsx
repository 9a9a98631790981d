import { lazy, Suspense, useEffect, useRef, useState } from 'react';

import { setStepUp } from '#console/api/http.ts';

const StepUpDialog = lazy(() => import('#console/shell/step_up_dialog.tsx').then((m) => ({ default: m.StepUpDialog })));

/** Asks for the second factor when the server requires it again, then lets the request continue. */
export function StepUp() {
  const [isAsking, setIsAsking] = useState(false);
  const settle = useRef<((isConfirmed: boolean) => void) | null>(null);
  useEffect(() => {
    setStepUp(
      () =>
        new Promise((resolve) => {
          settle.current?.(false);
          settle.current = resolve;
          setIsAsking(true);
        }),
    );
    return () => setStepUp(null);
  }, []);
  const close = (isConfirmed: boolean): void => {
    setIsAsking(false);
    settle.current?.(isConfirmed);
    settle.current = null;
  };
  if (!isAsking) return null;
  return (
    <Suspense>
      <StepUpDialog onClose={close} />
    </Suspense>
  );
}
