import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

import { isApiError } from '#console/api/http.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Page } from '#console/components/page.tsx';

const ASK_AGAIN_MS = 5_000;

/** A room that cannot be shown at all. While that is because the server is away, it is tried again. */
export function ErrorPage({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isOutage = isApiError(error) && error.isOutage;
  useEffect(() => {
    if (!isOutage) return;
    const timer = setInterval(() => void router.invalidate(), ASK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [isOutage, router]);
  return (
    <Page title={isOutage ? 'The server is out of reach' : 'This page cannot be shown'} isNarrow>
      <ErrorAlert error={error} title="What happened" onRetry={() => location.reload()} />
    </Page>
  );
}
