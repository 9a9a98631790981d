import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

import { isProblem } from '#console/api/http.ts';
import { Failure } from '#console/parts/failure.tsx';
import { Page } from '#console/parts/page.tsx';

const ASK_AGAIN_MS = 5_000;

/** A room that cannot be shown at all. While that is because the server is away, it is tried again. */
export function Broken({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isOutage = isProblem(error) && error.isOutage;
  useEffect(() => {
    if (!isOutage) return;
    const timer = setInterval(() => void router.invalidate(), ASK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [isOutage, router]);
  return (
    <Page title={isOutage ? 'The server is out of reach' : 'This page cannot be shown'} isNarrow>
      <Failure error={error} title="What happened" onRetry={() => location.reload()} />
    </Page>
  );
}
