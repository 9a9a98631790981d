import { Skeleton } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { type ExceptionGroup, groupSearchQuery } from '#console/api/exceptions.ts';
import { incidentSearchQuery } from '#console/api/incidents.ts';
import { serviceOnCallQuery } from '#console/api/services.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { IncidentStatus, Status } from '#console/components/status.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import classes from '#console/pages/services/overview_cards.module.css';
import { useOrganization } from '#console/shell/organization.tsx';
import { SERVICE_GROUPS, SERVICE_INCIDENTS } from '#modules/pages/decide/page_queries.ts';

interface OfService {
  readonly serviceId: string;
}

export function OpenIncidentsCard({ serviceId }: OfService) {
  const { orgId } = useOrganization().org;
  const { data, error, refetch } = useInfiniteQuery(
    incidentSearchQuery(orgId, { serviceId, status: 'open', limit: SERVICE_INCIDENTS }),
  );
  const incidents = data?.pages[0]?.incidents;
  const hasMore = data?.pages[0]?.nextCursor != null;
  return (
    <Listed title="Open incidents" items={incidents} error={error} onRetry={() => void refetch()} none="None is open.">
      {incidents?.map(({ incidentId, number, title, status, severity, triggeredAt }) => (
        <Row
          key={incidentId}
          title={
            <Link to="/incidents/$incidentId" params={{ incidentId }} className={classes.title}>
              <Name>{`#${number} ${title}`}</Name>
            </Link>
          }
          sub={
            <>
              {severity}, <Timestamp at={triggeredAt} />
            </>
          }
        >
          <IncidentStatus status={status} />
        </Row>
      ))}
      {hasMore && (
        <Row
          title={
            <Link to="/incidents" search={{ service: serviceId }}>
              All open incidents
            </Link>
          }
        />
      )}
    </Listed>
  );
}

/** Card of a service's unresolved exceptions in an order: those that began last, or those with most events. */
export function ExceptionsCard({ serviceId, sort }: OfService & { readonly sort: 'first' | 'events' }) {
  const { orgId } = useOrganization().org;
  const { data, error, refetch } = useInfiniteQuery(
    groupSearchQuery(orgId, { serviceId, status: 'unresolved', sort, limit: SERVICE_GROUPS }),
  );
  const groups = data?.pages[0]?.groups;
  const isNewest = sort === 'first';
  return (
    <Listed
      title={isNewest ? 'Newest exceptions' : 'Most frequent exceptions'}
      items={groups}
      error={error}
      onRetry={() => void refetch()}
      none="None is unresolved."
      action={
        <Link to="/exceptions" search={{ service: serviceId, sort }}>
          All
        </Link>
      }
    >
      {groups?.map((group) => (
        <ExceptionLine key={group.groupId} group={group} isNewest={isNewest} />
      ))}
    </Listed>
  );
}

function ExceptionLine({ group, isNewest }: { readonly group: ExceptionGroup; readonly isNewest: boolean }) {
  const { groupId, title, severity, eventCount, userCount, firstSeenAt, lastSeenAt } = group;
  return (
    <Row
      title={
        <Link to="/exceptions/$groupId" params={{ groupId }} className={classes.title}>
          <Name>{title}</Name>
        </Link>
      }
      sub={
        <>
          {severity}, {countText(eventCount, 'event')}
          {userCount > 0 && `, ${countText(userCount, 'user')}`}, {isNewest ? 'since' : 'last'}{' '}
          <Timestamp at={isNewest ? firstSeenAt : lastSeenAt} />
        </>
      }
    />
  );
}

/** Card of who is on call for a service: in the team that owns it, and in those that its rules page. */
export function OnCallCard({ serviceId }: OfService) {
  const { org, may } = useOrganization();
  const { data, error, refetch } = useQuery({ ...serviceOnCallQuery(org.orgId, serviceId), refetchInterval: 60_000 });
  return (
    <Listed
      title="On call for it"
      items={data?.teams}
      error={error}
      onRetry={() => void refetch()}
      none={
        may('services:edit')
          ? 'No team owns it, and no rule pages a team. Name its team in the settings.'
          : 'No team owns it, and no rule pages a team.'
      }
    >
      {data?.teams.map(({ teamId, name, isOwner, policies, scheduleCount, onCall }) => (
        <Row
          key={teamId}
          title={
            onCall.length === 0 ? (
              <Status tone="amber">{scheduleCount === 0 ? 'no schedule' : 'nobody'}</Status>
            ) : (
              onCall.map((person, index) => (
                <span key={person.userId}>
                  {index > 0 && ', '}
                  <Person userId={person.userId} color={person.color}>
                    {person.name}
                  </Person>{' '}
                  {!person.mayAnswer && <Status tone="red">cannot answer</Status>}
                </span>
              ))
            )
          }
          sub={
            <>
              <Link to="/oncall/teams/$teamId" params={{ teamId }}>
                <Name>{name}</Name>
              </Link>
              {isOwner && ', owns it'}
              {policies.length === 0 ? ', paged by no rule of it' : ', paged by '}
              {policies.map(({ policyId, name: policy }, index) => (
                <span key={policyId}>
                  {index > 0 && ', '}
                  <Link to="/oncall/policies/$policyId" params={{ policyId }}>
                    <Name>{policy}</Name>
                  </Link>
                </span>
              ))}
            </>
          }
        />
      ))}
    </Listed>
  );
}

interface ListedProps {
  readonly title: string;
  readonly items: readonly unknown[] | undefined;
  readonly error: Error | null;
  /** Sentence in place of an empty list. */
  readonly none: string;
  readonly action?: ReactNode;
  onRetry(): void;
  readonly children: ReactNode;
}

/** Card of a short list, with a sentence if it is empty. */
function Listed({ title, items, error, none, action, onRetry, children }: ListedProps) {
  if (items === undefined && error === null) return <Skeleton height={150} radius="lg" />;
  const isEmpty = items === undefined || items.length === 0;
  return (
    <Card title={title} action={action} rows={isEmpty ? undefined : children}>
      {items === undefined && error !== null ? (
        <ErrorAlert error={error} onRetry={onRetry} />
      ) : isEmpty ? (
        <span className="dimmed">{none}</span>
      ) : undefined}
    </Card>
  );
}
