import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import type { ServiceWithKeys } from '#console/api/actions.ts';
import { openByServiceQuery } from '#console/api/incidents.ts';
import { serviceActivityQuery } from '#console/api/services.ts';
import { Card } from '#console/components/card.tsx';
import { wholeNumberText } from '#console/components/text/time_text.ts';
import { Sparkline } from '#console/components/sparkline.tsx';
import { Status } from '#console/components/status.tsx';
import { shortCount } from '#console/pages/exceptions/count_text.ts';
import classes from '#console/pages/services/health_card.module.css';
import { useOrganization } from '#console/shell/organization.tsx';

const REFRESH_MS = 60_000;

/** Card of the service's health: open incidents, what it sent in the last day, and what watches it. */
export function HealthCard({ service }: { readonly service: ServiceWithKeys }) {
  const { orgId } = useOrganization().org;
  const { serviceId, alertRules, capabilities } = service;
  const open = useQuery(openByServiceQuery(orgId)).data?.services;
  const counts = open?.find((candidate) => candidate.serviceId === serviceId);
  const { data: activity } = useQuery({ ...serviceActivityQuery(orgId, serviceId), refetchInterval: REFRESH_MS });
  const paging = alertRules.filter(({ enabled, escalationPolicyId }) => enabled && escalationPolicyId !== null).length;
  return (
    <Card title="Health" about="The last 24 hours.">
      <dl className={classes.figures}>
        <Figure name="Open incidents">
          {open === undefined ? (
            <Waiting />
          ) : counts === undefined ? (
            <Status tone="green">none</Status>
          ) : (
            <Link to="/incidents" search={{ service: serviceId }}>
              {counts.triggered > 0 && (
                <Status tone="red" isUrgent>
                  {counts.triggered} triggered
                </Status>
              )}{' '}
              {counts.acknowledged > 0 && <Status tone="amber">{counts.acknowledged} acknowledged</Status>}
            </Link>
          )}
        </Figure>
        <Figure name="Exceptions">
          {activity === undefined ? (
            <Waiting />
          ) : (
            <Activity values={activity.events} unit="event" isOn={capabilities.includes('exceptions')} tone="red" />
          )}
        </Figure>
        <Figure name="Metric points">
          {activity === undefined ? (
            <Waiting />
          ) : (
            <Activity values={activity.points} unit="point" isOn={capabilities.includes('metrics')} tone="blue" />
          )}
        </Figure>
        <Figure name="Refused">
          {activity === undefined ? (
            <Waiting />
          ) : activity.refused === 0 ? (
            <span className={classes.figure}>0</span>
          ) : (
            <Status tone="amber">{wholeNumberText(activity.refused)}</Status>
          )}
        </Figure>
        <Figure name="Rules">
          <span className={classes.figure}>{alertRules.length}</span>{' '}
          <span className="dimmed">{pagingText(paging, alertRules.length)}</span>
        </Figure>
      </dl>
    </Card>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className={classes.item}>
      <dt className={classes.name}>{name}</dt>
      <dd className={classes.value}>{children}</dd>
    </div>
  );
}

/** Placeholder of the same height as what follows. */
function Waiting() {
  return <span className="dimmed">…</span>;
}

interface ActivityProps {
  readonly values: readonly number[];
  readonly unit: 'event' | 'point';
  readonly isOn: boolean;
  readonly tone: 'red' | 'blue';
}

function Activity({ values, unit, isOn, tone }: ActivityProps) {
  const total = values.reduce((sum, value) => sum + value, 0);
  const text = `${wholeNumberText(total)} ${unit}${total === 1 ? '' : 's'} in the last 24 hours`;
  if (!isOn && total === 0) return <span className="dimmed">not enabled</span>;
  return (
    <div className={classes.activity} title={text}>
      <span className={classes.figure}>{shortCount(total)}</span>
      {total > 0 && <Sparkline values={values} label={text} tone={tone} />}
    </div>
  );
}

/** Returns how many of the rules page somebody, as text: the count of all stands before it. */
function pagingText(paging: number, all: number): string {
  if (paging === 0) return all === 1 ? 'pages nobody' : 'page nobody';
  if (paging === all) return all === 1 ? 'pages somebody' : 'page somebody';
  return `of which ${paging} ${paging === 1 ? 'pages' : 'page'} somebody`;
}
