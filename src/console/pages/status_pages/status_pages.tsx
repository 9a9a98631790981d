import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, invoke, type ResultOf } from '#console/api/actions.ts';
import { addressOf } from '#console/api/http.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Page } from '#console/components/page.tsx';
import { Status } from '#console/components/status.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { IconPlus, IconWorld } from '#console/icons.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

const StatusPageForm = lazyDialog(() =>
  import('#console/pages/status_pages/status_page_form.tsx').then((m) => m.StatusPageForm),
);

type StatusPage = ResultOf<'list_status_pages'>['statusPages'][number];

export function StatusPages() {
  const { org, isAdmin } = useOrganization();
  const { data, error, refetch } = useQuery(actionQuery(org.orgId, 'settings', 'list_status_pages', {}));
  const [edited, setEdited] = useState<string | null>(null);
  const add = isAdmin && (
    <Button leftSection={<IconPlus size={18} />} onClick={() => setEdited('new')}>
      Add a status page
    </Button>
  );
  const pages = data?.statusPages;
  const editedPage = pages?.find(({ statusPageId }) => statusPageId === edited) ?? null;
  return (
    <Page
      title="Status pages"
      lead={
        <>
          What customers or colleagues read. An incident is on a page only once somebody publishes it.{' '}
          <a href={addressOf('docs/status_pages')}>How status pages work</a>
        </>
      }
      actions={pages?.length === 0 ? undefined : add}
      isNarrow
    >
      {error !== null && pages === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {pages === undefined && error === null && <Skeleton height={240} radius="lg" />}
      {pages?.length === 0 && (
        <EmptyState icon={<IconWorld size={24} />} title="No status page yet" actions={add}>
          Group services under public names. Nothing else of them is shown, and of incidents only what is published.
        </EmptyState>
      )}
      {pages?.map((page) => (
        <StatusPageCard key={page.statusPageId} page={page} onEdit={() => setEdited(page.statusPageId)} />
      ))}
      {(edited === 'new' || editedPage !== null) && (
        <StatusPageForm page={editedPage} onClose={() => setEdited(null)} />
      )}
    </Page>
  );
}

function StatusPageCard({ page, onEdit }: { readonly page: StatusPage; readonly onEdit: () => void }) {
  const { org, isAdmin } = useOrganization();
  const refresh = useRefresh();
  const [isDeleting, setIsDeleting] = useState(false);
  const { statusPageId, title, address, isPublic, groups, subscribers } = page;
  const deleting = useMutation({
    mutationFn: () => invoke(org.orgId, 'delete_status_page', { statusPageId }),
    async onSuccess() {
      showSuccess(named`${title} is deleted.`);
      setIsDeleting(false);
      await refresh('settings');
    },
  });
  const services = groups.reduce((sum, group) => sum + group.services.length, 0);
  return (
    <Card
      title={<Name>{title}</Name>}
      action={<Status tone={isPublic ? 'green' : 'gray'}>{isPublic ? 'Public' : 'For members'}</Status>}
    >
      <Stack gap="sm">
        <CopyField label="Address" value={address} />
        <Text size="sm" c="dimmed">
          {services === 1 ? '1 service' : `${services} services`} ·{' '}
          {subscribers === 1 ? '1 subscriber by mail' : `${subscribers} subscribers by mail`}
        </Text>
        <Group gap="xs">
          <Button variant="default" component="a" href={address} target="_blank" rel="noopener">
            Open
          </Button>
          {isAdmin && (
            <>
              <Button variant="default" onClick={onEdit}>
                Change
              </Button>
              <Button variant="subtle" color="red" onClick={() => setIsDeleting(true)}>
                Delete
              </Button>
            </>
          )}
        </Group>
      </Stack>
      {isDeleting && (
        <Confirm
          title={named`Delete ${title}?`}
          button="Delete"
          saving={deleting}
          onConfirm={() => deleting.mutate()}
          onClose={() => setIsDeleting(false)}
        >
          Everything that was published on it and its subscribers are deleted, too. This cannot be undone.
        </Confirm>
      )}
    </Card>
  );
}
