import { IconCheck } from '@tabler/icons-react';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { addressOf } from '#console/api/http.ts';
import { ingestStatusQuery, meQuery } from '#console/api/organization.ts';
import { incidentsQuery, serviceQuery, servicesQuery, teamsQuery } from '#console/api/queries.ts';
import { Card } from '#console/parts/card.tsx';
import classes from '#console/rooms/home/home.module.css';
import { useHere } from '#console/shell/organization.tsx';

/** Enough of the services to see whether one of them sends and is watched. */
const LOOKED_AT_MAX = 5;

interface Step {
  readonly title: string;
  readonly how: ReactNode;
  readonly isDone: boolean;
}

/** From nothing to the first page; gone once all of it is done. */
export function CheckList() {
  const steps = useSteps();
  if (steps === null || steps.every(({ isDone }) => isDone)) return null;
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <Card title="Set up" about={`${done} of ${steps.length} done. Nobody is paged before all of it is.`}>
      <ol className={classes.list}>
        {steps.map(({ title, how, isDone }) => (
          <li key={title} className={classes.step}>
            <span className={classes.tick} data-done={isDone ? '' : undefined} aria-hidden>
              {isDone && <IconCheck size={14} stroke={2.5} />}
            </span>
            <div>
              <div className={classes.stepTitle} data-done={isDone ? '' : undefined}>
                {title}
                {isDone && <span className="hidden-text"> (done)</span>}
              </div>
              {!isDone && <div className={classes.sub}>{how}</div>}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function useSteps(): readonly Step[] | null {
  const { orgId } = useHere().org;
  const services = useQuery(servicesQuery(orgId)).data?.services;
  const teams = useQuery(teamsQuery(orgId)).data?.teams;
  const me = useQuery(meQuery(orgId)).data;
  const incidents = useQuery(incidentsQuery(orgId)).data;
  const looked = (services ?? []).slice(0, LOOKED_AT_MAX);
  const arrivals = useQueries({ queries: looked.map(({ serviceId }) => ingestStatusQuery(orgId, serviceId)) });
  const details = useQueries({ queries: looked.map(({ serviceId }) => serviceQuery(orgId, serviceId)) });
  if (services === undefined || teams === undefined || me === undefined || incidents === undefined) return null;
  if ([...arrivals, ...details].some(({ isPending }) => isPending)) return null;
  const [first] = services;
  const reference = <a href={addressOf('docs')}>over the API or from an agent</a>;
  return [
    {
      title: 'Create a service',
      how: <Link to="/services">What you run, with its keys</Link>,
      isDone: services.length > 0,
    },
    {
      title: 'Send data',
      how:
        first === undefined ? (
          'With the key or the DSN of the service'
        ) : (
          <Link to="/services/$serviceId" params={{ serviceId: first.serviceId }}>
            With the key or the DSN of {first.name}
          </Link>
        ),
      isDone: arrivals.some(({ data }) => data?.metrics.lastSeenAt != null || data?.exceptions.lastSeenAt != null),
    },
    {
      title: 'Create a team with a schedule and an escalation policy',
      how: <>Who is paged, and who next, {reference}</>,
      isDone: teams.some(({ members, escalationPolicies }) => members.length > 0 && escalationPolicies.length > 0),
    },
    {
      title: 'Say how you are reached',
      how: <Link to="/me">Your phone, and this device</Link>,
      isDone: me.pushSubscriptions.length > 0 || me.teams.some(({ contact }) => contact.phone !== null),
    },
    {
      title: 'Create an alert rule that pages somebody',
      how: <>What turns into an incident, {reference}</>,
      isDone: details.some(({ data }) =>
        data?.alertRules.some(({ escalationPolicyId }) => escalationPolicyId !== null),
      ),
    },
    {
      title: 'See a page arrive',
      how: <Link to="/me">Send yourself a test, then let a rule fire</Link>,
      isDone: incidents.total > 0,
    },
  ];
}
