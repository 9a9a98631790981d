import { Stack, Switch, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import { actionQuery } from '#console/api/queries.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** Card on the configuration files of the organization, and whether people may change by hand what they manage. */
export function ConfigurationFiles() {
  const { org, isAdmin } = useOrganization();
  const queryClient = useQueryClient();
  const query = actionQuery(org.orgId, 'settings', 'list_configuration_files', {});
  const { data, error } = useQuery(query);
  const setting = useMutation({
    mutationFn: (isAllowed: boolean) =>
      invoke(org.orgId, 'set_managed_changes', { managedChanges: isAllowed ? 'allowed' : 'refused' }),
    async onSuccess({ managedChanges }) {
      showSuccess(
        managedChanges === 'allowed'
          ? 'What files manage may be changed by hand.'
          : 'What files manage is changed only by applying a file.',
      );
      await queryClient.invalidateQueries({ queryKey: query.queryKey });
    },
  });
  return (
    <Card title="Configuration files">
      <Stack gap="sm">
        {error !== null && <ErrorAlert title="The files could not be loaded" error={error} />}
        {data?.files.length === 0 && (
          <Text size="sm" c="dimmed">
            No file manages anything here. The command “tocsin config pull” writes the organization as one.
          </Text>
        )}
        {data?.files.map(({ file, resources, changedAt }) => (
          <Text key={file} size="sm">
            <b>{file}</b> manages {resources.toLocaleString('en')} {resources === 1 ? 'resource' : 'resources'}, since{' '}
            <Timestamp at={changedAt} />
          </Text>
        ))}
        <Switch
          label="People may change by hand what a file manages"
          description="If not, such a change is refused with the name of the file."
          checked={data?.managedChanges !== 'refused'}
          disabled={data === undefined || !isAdmin || setting.isPending}
          onChange={(event) => setting.mutate(event.currentTarget.checked)}
        />
        {setting.isError && <ErrorAlert title="Nothing was changed" error={setting.error} />}
      </Stack>
    </Card>
  );
}
