import type { ErrorComponentProps } from '@tanstack/react-router';

import { isProblem } from '#console/api/http.ts';
import { Failure } from '#console/parts/failure.tsx';
import { Page } from '#console/parts/page.tsx';

/** A room that cannot be shown at all. */
export function Broken({ error }: ErrorComponentProps) {
  const title = isProblem(error) && error.isOutage ? 'The server is out of reach' : 'This page cannot be shown';
  return (
    <Page title={title} isNarrow>
      <Failure error={error} title="What happened" onRetry={() => location.reload()} />
    </Page>
  );
}
