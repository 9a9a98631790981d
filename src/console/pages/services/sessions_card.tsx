import { useQuery } from '@tanstack/react-query';

import { releaseHealthQuery } from '#console/api/services.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Status } from '#console/components/status.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const REFRESH_MS = 60_000;
/** Percentage of sessions without a crash; a lower one deserves a look. */
const GOOD_PERCENT = 99.5;

/** Card of the share of each release's sessions that ended without a crash; nothing if no client sends sessions. */
export function SessionsCard({ serviceId }: { readonly serviceId: string }) {
  const { org } = useOrganization();
  const { data } = useQuery({
    ...releaseHealthQuery(org.orgId, serviceId),
    refetchInterval: REFRESH_MS,
  });
  if (data === undefined || data.releases.length === 0) return null;
  const { releases, total } = data;
  return (
    <Card
      title="Sessions by release"
      about={`In the last 14 days${total > releases.length ? `, the ${releases.length} of ${total} releases with most` : ''}`}
      rows={releases.map(({ release, sessions, crashed, errored, crashFreePercent }) => (
        <Row
          key={release}
          title={<Name>{release}</Name>}
          sub={`${countText(sessions, 'session')}, ${crashed.toLocaleString()} crashed, ${errored.toLocaleString()} with errors`}
        >
          {crashFreePercent !== null && (
            <Status tone={crashFreePercent >= GOOD_PERCENT ? 'green' : 'amber'}>{crashFreePercent}% crash-free</Status>
          )}
        </Row>
      ))}
    />
  );
}
