import { Skeleton, Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { pagedQuery } from '#console/api/actions.ts';
import { Row } from '#console/components/card.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** Dialog with the events of an exception, newest first. Each leads to itself on the page. */
export function EventsDialog({ groupId, onClose }: { readonly groupId: string; readonly onClose: () => void }) {
  const { org } = useOrganization();
  const list = useInfiniteQuery(pagedQuery(org.orgId, 'exceptions', 'browse_exception_events', { groupId }));
  const events = list.data?.pages.flatMap((page) => page.events);
  return (
    <Dialog title="Events" onClose={onClose}>
      <Stack>
        {list.error !== null && events === undefined && <ErrorAlert error={list.error} />}
        {events === undefined && list.error === null && <Skeleton height={240} />}
        {events !== undefined && (
          <ul style={{ margin: 0, padding: 0, listStyle: 'none' }}>
            {events.map(({ cursor, at, severity, environment, release, user }) => (
              <Row
                key={cursor}
                title={
                  <Link
                    to="/exceptions/$groupId"
                    params={{ groupId }}
                    search={{ event: cursor }}
                    onClick={() => onClose()}
                  >
                    <Timestamp at={at} format="date_time" />
                  </Link>
                }
                sub={[severity, environment, release, user === null ? null : `user ${user}`]
                  .flatMap((text) => (text === null ? [] : isolateBidi(text)))
                  .join(' · ')}
              />
            ))}
          </ul>
        )}
        <LoadMore list={list} />
      </Stack>
    </Dialog>
  );
}
