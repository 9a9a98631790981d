import { Skeleton, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { pagedQuery } from '#console/api/actions.ts';
import { Row } from '#console/components/card.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { conditionText } from '#modules/exceptions/decide/search_query.ts';

interface UsersDialogProps {
  readonly groupId: string;
  readonly serviceId: string;
  readonly onClose: () => void;
}

/** Dialog with the users whom an exception concerns. Each leads to all exceptions of that user. */
export function UsersDialog({ groupId, serviceId, onClose }: UsersDialogProps) {
  const { org } = useOrganization();
  const list = useInfiniteQuery(pagedQuery(org.orgId, 'exceptions', 'list_exception_users', { groupId }));
  const users = list.data?.pages.flatMap((page) => page.users);
  return (
    <Dialog title="Users it concerns" onClose={onClose}>
      <Stack>
        {list.error !== null && users === undefined && <ErrorAlert error={list.error} />}
        {users === undefined && list.error === null && <Skeleton height={240} />}
        {users?.length === 0 && <Text size="sm">Its events name no user: let the SDK send one.</Text>}
        {users !== undefined && users.length > 0 && (
          <ul style={{ margin: 0, padding: 0, listStyle: 'none' }}>
            {users.map(({ user, kind, name, events, firstSeenAt, lastSeenAt }) => (
              <Row
                key={`${kind}:${user}`}
                title={
                  <Link
                    to="/exceptions"
                    search={{ service: serviceId, q: conditionText({ field: 'user', value: user }) }}
                  >
                    <Name>{name ?? user}</Name>
                  </Link>
                }
                sub={
                  <>
                    {name !== null && named`${kind} ${user}, `}
                    {countText(events, 'event')}, first <Timestamp at={firstSeenAt} />, last{' '}
                    <Timestamp at={lastSeenAt} />
                  </>
                }
              />
            ))}
          </ul>
        )}
        <LoadMore list={list} />
      </Stack>
    </Dialog>
  );
}
