import { Button, Group, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

import type { ResultOf, ServiceWithKeys } from '#console/api/actions.ts';
import { releasesQuery } from '#console/api/services.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { Name } from '#console/components/text/name.tsx';
import { SearchField } from '#console/components/lists/search_field.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { RELEASES } from '#console/pages/exceptions/release_link.tsx';
import { groupCounts } from '#console/pages/services/group_counts.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { RELEASES_PAGE } from '#modules/pages/decide/page_queries.ts';

const CompareReleases = lazyDialog(() =>
  import('#console/pages/services/compare_releases.tsx').then((m) => m.CompareReleases),
);
const RecordDeploy = lazyDialog(() => import('#console/pages/services/record_deploy.tsx').then((m) => m.RecordDeploy));

const route = getRouteApi('/inside/services/$serviceId');

type Release = ResultOf<'list_releases'>['releases'][number];

/** Card of the releases, with their exceptions and deploys. */
export function ReleasesCard({ service }: { readonly service: ServiceWithKeys }) {
  const { org, may } = useOrganization();
  const { serviceId } = service;
  const { q = '', after, before } = route.useSearch();
  const navigate = route.useNavigate();
  const search = useDebounced(q.trim());
  const [offset, setOffset] = useState(0);
  const [dialog, setDialog] = useState<'deploy' | null>(null);
  const { data, error, refetch } = useQuery({
    ...releasesQuery(org.orgId, serviceId, { search, offset }),
    placeholderData: keepPreviousData,
  });
  const { releases = [], total = 0 } = data ?? {};
  /** Writes the compared releases into the address, so that it can be shared. */
  const compare = ([later, earlier]: readonly [string | null, string | null]): void =>
    void navigate({
      search: (before) => ({ ...before, after: later ?? undefined, before: earlier ?? undefined }),
      replace: true,
      resetScroll: false,
    });
  // The address leads here, and the content above has its final height only now.
  const isMeant = useLocation().hash === RELEASES && data !== undefined;
  useEffect(() => {
    if (isMeant) document.getElementById(RELEASES)?.scrollIntoView({ block: 'start' });
  }, [isMeant]);
  return (
    <Card
      anchor={RELEASES}
      title="Releases"
      about="What each release brought, and what builds report with sentry-cli."
      action={
        <Group gap="xs">
          {total > 1 && (
            <Button
              variant="default"
              onClick={() => compare([releases[0]?.release ?? null, releases[1]?.release ?? null])}
            >
              Compare
            </Button>
          )}
          {may('exceptions:edit') && (
            <Button variant="default" onClick={() => setDialog('deploy')}>
              Record a deploy
            </Button>
          )}
        </Group>
      }
      rows={releases.map((release) => (
        <ReleaseRow key={release.release} serviceId={serviceId} release={release} />
      ))}
    >
      {(total > RELEASES_PAGE || q !== '') && (
        <SearchField
          isAlone
          label="Search releases"
          placeholder="Search releases"
          value={q}
          onChange={(wanted) => {
            setOffset(0);
            void navigate({ search: (before) => ({ ...before, q: wanted }), replace: true, resetScroll: false });
          }}
        />
      )}
      {error !== null && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data !== undefined && total === 0 && (
        <Text size="sm" c="dimmed">
          {search === ''
            ? 'No event has named a release yet, and no build has reported one.'
            : 'No release has this in its name.'}
        </Text>
      )}
      {total > RELEASES_PAGE && (
        <Group justify="space-between" mt="sm">
          <Text size="sm" c="dimmed">
            {offset + 1} to {Math.min(offset + RELEASES_PAGE, total)} of {total}
          </Text>
          <Group gap="xs">
            <Button
              variant="default"
              disabled={offset === 0}
              onClick={() => setOffset(Math.max(0, offset - RELEASES_PAGE))}
            >
              Newer
            </Button>
            <Button
              variant="default"
              disabled={offset + RELEASES_PAGE >= total}
              onClick={() => setOffset(offset + RELEASES_PAGE)}
            >
              Older
            </Button>
          </Group>
        </Group>
      )}
      {dialog === 'deploy' && (
        <RecordDeploy serviceId={serviceId} newest={releases[0]?.release ?? ''} onClose={() => setDialog(null)} />
      )}
      {(after !== undefined || before !== undefined) && (
        <CompareReleases
          serviceId={serviceId}
          chosen={[after ?? null, before ?? null]}
          onChoose={compare}
          onClose={() => compare([null, null])}
        />
      )}
    </Card>
  );
}

function ReleaseRow({ serviceId, release: row }: { readonly serviceId: string; readonly release: Release }) {
  const { release, events, users, firstSeenAt, commitCount, crashFreePercent, deploy } = row;
  const counts = [
    events === 0 ? 'No event yet' : countText(events, 'event'),
    ...(users > 0 ? [countText(users, 'user')] : []),
    ...groupCounts(row),
    ...(crashFreePercent === null ? [] : [`${crashFreePercent} % of sessions without crash`]),
    ...(commitCount > 0 ? [countText(commitCount, 'commit')] : []),
  ];
  return (
    <Row
      title={
        <Link to="/exceptions" search={{ service: serviceId, release, status: 'all' }}>
          <Name>{release}</Name>
        </Link>
      }
      sub={
        <>
          <div>{counts.join(', ')}</div>
          {deploy !== null && (
            <div>
              Deployed to <Name>{deploy.environment}</Name> <Timestamp at={deploy.at} />
            </div>
          )}
          {firstSeenAt !== null && (
            <div>
              First seen <Timestamp at={firstSeenAt} />
            </div>
          )}
        </>
      }
    />
  );
}
