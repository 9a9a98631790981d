import { SimpleGrid, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { actionQuery, type ResultOf } from '#console/api/actions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Choice } from '#console/components/forms/choice.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { groupCounts } from '#console/pages/services/group_counts.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface CompareReleasesProps {
  readonly serviceId: string;
  /** The later and the earlier release that are compared. */
  readonly chosen: readonly [after: string | null, before: string | null];
  readonly onChoose: (chosen: readonly [after: string | null, before: string | null]) => void;
  readonly onClose: () => void;
}

/** Dialog that compares the events of each exception in two releases. */
export function CompareReleases({ serviceId, chosen, onChoose, onClose }: CompareReleasesProps) {
  const { orgId } = useOrganization().org;
  const [after, before] = chosen;
  const { data, error } = useQuery({
    ...actionQuery(orgId, 'services', 'compare_releases', { serviceId, before: before ?? '', after: after ?? '' }),
    enabled: before !== null && after !== null,
    placeholderData: keepPreviousData,
  });
  const { groups = [], groupsTotal = 0 } = data ?? {};
  return (
    <Dialog onClose={onClose} title="Compare two releases">
      <Stack>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <ReleaseSelect
            label="Before"
            serviceId={serviceId}
            value={before}
            onChange={(release) => onChoose([after, release])}
          />
          <ReleaseSelect
            label="After"
            serviceId={serviceId}
            value={after}
            onChange={(release) => onChoose([release, before])}
          />
        </SimpleGrid>
        {error !== null && <ErrorAlert error={error} />}
        {data !== undefined && groupsTotal === 0 && <Text size="sm">No events of either release are stored.</Text>}
        {data !== undefined && before !== null && after !== null && (
          <SimpleGrid cols={2} spacing="sm">
            <ReleaseCounts release={before} counts={data.before} />
            <ReleaseCounts release={after} counts={data.after} />
          </SimpleGrid>
        )}
        {groups.length > 0 && (
          <Card
            rows={groups.map((group) => (
              <Row
                key={group.groupId}
                title={
                  <Link to="/exceptions/$groupId" params={{ groupId: group.groupId }}>
                    <bdi>{withoutBidiControls(group.title)}</bdi>
                  </Link>
                }
                sub={changeText(group)}
              >
                {group.news !== null && <Status tone={NEWS[group.news][0]}>{NEWS[group.news][1]}</Status>}
              </Row>
            ))}
          />
        )}
        {groupsTotal > groups.length && (
          <Text size="sm" c="dimmed">
            The first {groups.length} of {groupsTotal} exceptions are shown.
          </Text>
        )}
      </Stack>
    </Dialog>
  );
}

type Comparison = ResultOf<'compare_releases'>;

/** Change of an exception in the later release. */
const NEWS: Record<NonNullable<Comparison['groups'][number]['news']>, readonly [Tone, string]> = {
  new: ['blue', 'new'],
  regressed: ['amber', 'came back'],
  resolved: ['green', 'resolved'],
};

/** Counts of the exceptions that a release brought, brought back and resolved. */
function ReleaseCounts({ release, counts }: { readonly release: string; readonly counts: Comparison['after'] }) {
  const texts = groupCounts(counts);
  return (
    <Text size="sm" component="div">
      <Name>{release}</Name>
      <div className="dimmed">{texts.length === 0 ? 'no new, no resolved exception' : texts.join(', ')}</div>
    </Text>
  );
}

function changeText({ before, after }: { readonly before: number; readonly after: number }): string {
  if (before === 0) return `Not before, ${after} after`;
  if (after === 0) return `${before} before, not any more`;
  return `${before} before, ${after} after`;
}

interface ReleaseSelectProps {
  readonly label: string;
  readonly serviceId: string;
  readonly value: string | null;
  readonly onChange: (release: string | null) => void;
}

/** Picker of one of any number of releases: the server searches for what is typed. */
function ReleaseSelect({ label, serviceId, value, onChange }: ReleaseSelectProps) {
  const { orgId } = useOrganization().org;
  const [text, setText] = useState('');
  const { data } = useQuery({
    ...actionQuery(orgId, 'services', 'list_releases', { serviceId, search: text, limit: 50 }),
    placeholderData: keepPreviousData,
  });
  const names = new Set(data?.releases.map(({ release }) => release) ?? []);
  if (value !== null) names.add(value);
  return (
    <Choice
      label={label}
      options={[...names].map((name) => ({ value: name, label: name }))}
      further={(data?.total ?? 0) - (data?.releases.length ?? 0)}
      value={value}
      onSearch={setText}
      onChange={onChange}
    />
  );
}
