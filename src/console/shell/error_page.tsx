import { Button } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

import { isApiError } from '#console/api/http.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { Page } from '#console/components/page.tsx';
import { IconMapOff } from '#console/icons.ts';

const RETRY_MS = 5_000;

/** Page shown in place of one that failed to load. It retries while the server is unavailable. */
export function ErrorPage({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isOutage = isApiError(error) && error.isOutage;
  useEffect(() => {
    if (!isOutage) return;
    const timer = setInterval(() => void router.invalidate(), RETRY_MS);
    return () => clearInterval(timer);
  }, [isOutage, router]);
  return (
    <Page title={isOutage ? 'The server cannot be reached' : 'This page cannot be shown'} isNarrow>
      <ErrorAlert error={error} title="What happened" onRetry={() => location.reload()} />
    </Page>
  );
}

/** Page for unknown addresses outside the shell, without navigation around it. */
export function NotFoundPage() {
  return (
    <main>
      <NotFound />
    </main>
  );
}

export function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyState
        icon={<IconMapOff size={24} />}
        title="There is no page at this address"
        actions={
          <Button component={Link} to="/">
            Home
          </Button>
        }
      >
        The address may be misspelt, or the page was deleted.
      </EmptyState>
    </Page>
  );
}
