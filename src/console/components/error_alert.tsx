import { Alert, Button, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';

import { isApiError } from '#console/api/http.ts';

/** What happened, in words; what is no Problem is a fault of ours. */
export function errorMessage(error: unknown): string {
  if (!isApiError(error))
    return 'Something went wrong in this page. Reload it; if that does not help, tell your administrator.';
  const faults = error.faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const wait = error.retryAfterSeconds === null ? '' : ` Try again in ${error.retryAfterSeconds} s.`;
  if (error.status >= 500 && error.requestId !== null) return `${error.message} (${error.requestId})`;
  return faults.length > 0 ? `${faults.join('; ')}.` : `${error.message}${wait}`;
}

interface ErrorAlertProps {
  readonly error: unknown;
  readonly title?: string;
  readonly onRetry?: () => void;
}

/** What could not be shown or done, why, and the way on. */
export function ErrorAlert({ error, title = 'This could not be loaded', onRetry }: ErrorAlertProps) {
  return (
    <Alert color="red" variant="light" title={title} icon={<IconAlertTriangle size={18} />} role="alert">
      <Text size="sm">{errorMessage(error)}</Text>
      {onRetry !== undefined && (
        <Button mt="sm" size="xs" variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}
