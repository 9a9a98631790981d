import { Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { alertBodiesQuery } from '#console/pages/alert_sources/alert_secrets.ts';
import classes from '#console/pages/alert_sources/alert_sources.module.css';
import { parsedBody } from '#console/pages/alert_sources/mapping_draft.ts';
import type { Source } from '#console/pages/alert_sources/route_draft.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Dialog with the last five bodies of a source, as they arrived. */
export function Bodies({ source, onClose }: { readonly source: Source; readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  const { data, error, refetch } = useQuery(alertBodiesQuery(orgId, source.sourceId));
  return (
    <Dialog title={`Last bodies of ${source.tool}`} onClose={onClose} isWide>
      <Stack>
        <Text size="sm" c="dimmed">
          What the tool sent last, at most one of each second. They may hold secrets: the audit log records that you
          have looked.
        </Text>
        {error !== null && <ErrorAlert error={error} onRetry={() => void refetch()} />}
        {error === null && data === undefined && <Skeleton height={160} />}
        {data?.bodies.length === 0 && <Text size="sm">None are kept any more.</Text>}
        {data?.bodies.map(({ receivedAt, refusal, body }, index) => (
          <section key={receivedAt + String(index)} aria-label={`Body ${index + 1}`}>
            <div className={`${classes.bodyHead} row small`}>
              <Timestamp at={receivedAt} format="date_time" />
              {refusal === null ? <Status tone="green">taken</Status> : <Status tone="red">refused</Status>}
            </div>
            {refusal !== null && <p className={classes.refusal}>{refusal}</p>}
            <pre className={`${classes.code} flush mono`} tabIndex={0} aria-label={`Text of body ${index + 1}`}>
              <bdi>{prettyBody(body)}</bdi>
            </pre>
          </section>
        ))}
      </Stack>
    </Dialog>
  );
}

function prettyBody(body: string): string {
  const parsed = parsedBody(body);
  return parsed === null ? body : JSON.stringify(parsed, null, 2);
}
