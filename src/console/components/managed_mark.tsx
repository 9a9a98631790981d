import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { actionQuery } from '#console/api/actions.ts';
import { Name } from '#console/components/text/name.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/**
 * Line on the configuration file that manages a resource, and the key that the file has for it. The key of what came
 * from another tool holds its id there.
 */
export function ManagedMark({ id }: { readonly id: string }) {
  const { org } = useOrganization();
  const { data } = useQuery(actionQuery(org.orgId, 'settings', 'list_managed', { ids: [id] }));
  const mark = data?.managed[0];
  if (data === undefined || mark === undefined) return null;
  return (
    <Text size="sm" c="dimmed" mt="md">
      Managed by the configuration file <Name>{mark.file}</Name>, where its key is <code>{mark.key}</code>.
      {data.managedChanges === 'refused' && ' It is changed only by applying the file.'}
    </Text>
  );
}
