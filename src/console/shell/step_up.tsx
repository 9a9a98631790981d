import { useEffect, useRef, useState } from 'react';

import { setStepUp } from '#console/api/http.ts';
import { lazyPart } from '#console/components/lazy_part.tsx';

const StepUpDialog = lazyPart(() => import('#console/shell/step_up_dialog.tsx').then((m) => m.StepUpDialog));

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
  return isAsking && <StepUpDialog onClose={close} />;
}
