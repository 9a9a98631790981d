import { Button } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { incidentSearchQuery } from '#console/api/incidents.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/text/name.tsx';
import { IncidentStatus } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/rules/rule_page.module.css';
import { useOrganization } from '#console/shell/organization.tsx';

const PAGE = 10;

/** Card of the incidents that a rule has opened: open ones first, then the newest. */
export function RuleIncidents({ ruleId }: { readonly ruleId: string }) {
  const { orgId } = useOrganization().org;
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    ...incidentSearchQuery(orgId, { ruleId, limit: PAGE }),
    placeholderData: keepPreviousData,
  });
  if (error !== null && data === undefined)
    return <ErrorAlert error={error} title="Its incidents could not be loaded" />;
  const incidents = data?.pages.flatMap((page) => page.incidents) ?? [];
  return (
    <Card
      title="Incidents"
      rows={
        incidents.length === 0
          ? undefined
          : incidents.map(({ incidentId, number, title, status, triggeredAt }) => (
              <Row
                key={incidentId}
                title={
                  <Link to="/incidents/$incidentId" params={{ incidentId }}>
                    <Name>{title}</Name>
                  </Link>
                }
                sub={
                  <>
                    #{number}, <Timestamp at={triggeredAt} format="date_time" />
                  </>
                }
              >
                <IncidentStatus status={status} />
              </Row>
            ))
      }
    >
      {data !== undefined && incidents.length === 0 && <p className={classes.service}>It has opened none.</p>}
      {hasNextPage && (
        <Button variant="default" mt="xs" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </Card>
  );
}
