import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';

import { actionQuery, invoke, type ResultOf } from '#console/api/actions.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/move_in/move_in.module.css';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

const LENGTH_MAX = 900_000;
const SHOWN = 20;

/** Card on shadow mode of the organization, and on comparing it with what the other tool has paged. */
export function ShadowCard() {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const { data, error, refetch } = useQuery(actionQuery(org.orgId, 'settings', 'get_shadow_mode', {}));
  const switching = useMutation({
    mutationFn: (enabled: boolean) => invoke(org.orgId, 'set_organization_shadow', { enabled }),
    onSuccess: () => refresh('settings'),
  });
  const comparing = useMutation({
    mutationFn: async (file: File) =>
      await invoke(org.orgId, 'compare_with_tool', { export: (await file.text()).slice(0, LENGTH_MAX) }),
  });
  return (
    <Card
      title="Shadow mode"
      about="Beside the old tool for some weeks: incidents open and say who would be paged, and nobody is."
    >
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={80} radius="lg" />}
      {data !== undefined && (
        <Stack gap="sm">
          <Group gap="xs">
            <Status tone={data.organizationSince === null ? 'gray' : 'blue'}>
              {data.organizationSince === null ? 'Off' : 'On'}
            </Status>
            <Text size="sm">
              {data.organizationSince === null ? (
                'Incidents page people.'
              ) : (
                <>
                  Nobody is paged since <Timestamp at={data.organizationSince} />.
                </>
              )}
            </Text>
          </Group>
          {switching.isError && <ErrorAlert title="Nothing was changed" error={switching.error} />}
          <Group>
            <Button
              variant={data.organizationSince === null ? 'default' : 'filled'}
              loading={switching.isPending}
              onClick={() => switching.mutate(data.organizationSince === null)}
            >
              {data.organizationSince === null ? 'Begin shadow mode' : 'End it, and page people'}
            </Button>
          </Group>
          <label>
            <Text size="sm" fw={500} component="span">
              Compare with incidents of the old tool, as CSV or JSON
            </Text>
            <input
              type="file"
              className={classes.file}
              accept=".csv,.json"
              onChange={({ currentTarget: { files } }) => {
                const file = files?.[0];
                if (file !== undefined) comparing.mutate(file);
              }}
            />
          </label>
          {comparing.isError && <ErrorAlert title="Nothing was compared" error={comparing.error} />}
          {comparing.data !== undefined && <Compared result={comparing.data} />}
        </Stack>
      )}
    </Card>
  );
}

function Compared({ result: { counts, rows, from, to } }: { readonly result: ResultOf<'compare_with_tool'> }) {
  const missing = rows.flatMap(({ here, other }) => (here === null && other !== null ? [other] : []));
  return (
    <div role="status">
      <Text size="sm">
        From <Timestamp at={from} /> to <Timestamp at={to} />: {counts.both.toLocaleString()} in both,{' '}
        {counts.onlyOther.toLocaleString()} only there, {counts.onlyHere.toLocaleString()} only here.{' '}
        {counts.paged.toLocaleString()} of those here would have paged.
      </Text>
      <ul className={classes.sentences}>
        {missing.slice(0, SHOWN).map(({ at, title }) => (
          <li key={`${at} ${title}`}>
            <Text size="sm">
              Only there, <Timestamp at={at} />: {title}
            </Text>
          </li>
        ))}
      </ul>
    </div>
  );
}
