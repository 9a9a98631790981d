import { Button, Group, NativeSelect, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { type IncidentWithLog, invoke } from '#console/api/actions.ts';
import { actionQuery, topicKey } from '#console/api/queries.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { type Publication, PublishForm } from '#console/pages/status_pages/publish_form.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { PAGES, SETTINGS_PAGES } from '#modules/pages/decide/pages.ts';
import { STAGE_TEXTS } from '#modules/status_pages/decide/publication.ts';

interface PublishDialogProps {
  readonly incident: IncidentWithLog;
  readonly onClose: () => void;
}

/** Dialog that publishes an incident on a status page, and tells its readers how it goes on. */
export function PublishDialog({ incident, onClose }: PublishDialogProps) {
  const { org } = useOrganization();
  const { incidentId, number } = incident;
  const pages = useQuery(actionQuery(org.orgId, 'settings', 'list_status_pages', {}));
  const published = useQuery(actionQuery(org.orgId, 'settings', 'list_publications', { incidentId }));
  const [chosenId, setChosenId] = useState<string | null>(null);
  const error = pages.error ?? published.error;
  const list = pages.data?.statusPages;
  const publications = published.data?.publications;
  const page = list?.find(({ statusPageId }) => statusPageId === chosenId) ?? list?.[0];
  const publication = publications?.find(({ statusPageId }) => statusPageId === page?.statusPageId) ?? null;
  return (
    <Dialog onClose={onClose} title={`Publish #${number}`} isWide>
      <Stack>
        {error !== null && <ErrorAlert error={error} onRetry={() => void pages.refetch()} />}
        {error === null && (list === undefined || publications === undefined) && <Skeleton height={240} radius="lg" />}
        {list?.length === 0 && (
          <Text>
            There is no status page yet. Owners and admins add one under{' '}
            <Link to={`${PAGES.settings}${SETTINGS_PAGES.statusPages}`}>Status pages</Link>.
          </Text>
        )}
        {list !== undefined && publications !== undefined && page !== undefined && (
          <>
            {list.length > 1 && (
              <NativeSelect
                label="Status page"
                data={list.map(({ statusPageId, title }) => ({ value: statusPageId, label: isolateBidi(title) }))}
                value={page.statusPageId}
                onChange={(event) => setChosenId(event.currentTarget.value)}
              />
            )}
            {publication !== null && <Published publication={publication} />}
            <PublishForm
              key={`${page.statusPageId} ${publication?.updates.length ?? 0}`}
              incident={incident}
              page={page}
              publication={publication}
              onClose={onClose}
            />
          </>
        )}
      </Stack>
    </Dialog>
  );
}

/** Shows what readers see of an incident, and takes it off the page. */
function Published({ publication }: { readonly publication: Publication }) {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const { publicationId, title, updates } = publication;
  const retracting = useMutation({
    mutationFn: () => invoke(org.orgId, 'retract_publication', { publicationId }),
    async onSuccess() {
      showSuccess('It is on the page no more.');
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') });
    },
  });
  return (
    <Stack gap="xs">
      <Text fw={600}>
        <Name>{title}</Name>
      </Text>
      {updates.map(({ stage, text, at }) => (
        <div key={at}>
          <Text size="sm" c="dimmed">
            {STAGE_TEXTS[stage]} · <Timestamp at={at} />
          </Text>
          <Text size="sm">{text}</Text>
        </div>
      ))}
      {retracting.isError && <ErrorAlert title="It was not retracted" error={retracting.error} />}
      <Group>
        <Button
          variant="subtle"
          color="red"
          size="xs"
          loading={retracting.isPending}
          onClick={() => retracting.mutate()}
        >
          Retract all of it
        </Button>
      </Group>
    </Stack>
  );
}
