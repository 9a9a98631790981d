import { Alert, Button, Text } from '@mantine/core';

import { isApiError } from '#console/api/http.ts';
import { errorBesideFields } from '#console/components/forms/form.tsx';
import { IconAlertTriangle } from '#console/icons.ts';

/** Returns the error as a sentence. Anything but an ApiError is a bug of the console. */
export function errorMessage(error: unknown): string {
  if (!isApiError(error))
    return 'Something went wrong on this page. Reload it. If that does not help, tell your administrator.';
  const details = error.faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const wait = error.retryAfterSeconds === null ? '' : ` Try again in ${error.retryAfterSeconds} s.`;
  if (error.status >= 500 && error.requestId !== null) return `${error.message} (${error.requestId})`;
  return details.length > 0 ? `${details.join('; ')}.` : `${error.message}${wait}`;
}

interface ErrorAlertProps {
  readonly error: unknown;
  readonly title?: string;
  readonly onRetry?: () => void;
  /** Fields of the form, by their names on the server: their faults are not repeated. */
  readonly atFields?: object;
}

/** Alert with what failed, why, and a button to try again. */
export function ErrorAlert({ error, title = 'This could not be loaded', onRetry, atFields = {} }: ErrorAlertProps) {
  const shown = errorBesideFields(error, atFields);
  if (shown === null) return null;
  return (
    <Alert color="red" variant="light" title={title} icon={<IconAlertTriangle size={18} />} role="alert">
      <Text size="sm">{errorMessage(shown)}</Text>
      {onRetry !== undefined && (
        <Button mt="sm" size="xs" variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}
