import { IconCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { addressOf } from '#console/api/http.ts';
import { actionQuery } from '#console/api/queries.ts';
import { Card } from '#console/components/card.tsx';
import classes from '#console/pages/home/home.module.css';
import { useOrganization } from '#console/shell/organization.tsx';

const REFRESH_MS = 30_000;

interface Step {
  readonly title: string;
  readonly how: ReactNode;
  readonly isDone: boolean;
}

/** The steps from an empty organization to the first page. Hidden once all are done. */
export function SetupChecklist() {
  const steps = useSteps();
  if (steps === null || steps.every(({ isDone }) => isDone)) return null;
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <Card title="Set up" about={`${done} of ${steps.length} done.`}>
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
  const { orgId } = useOrganization().org;
  // The answer depends on many topics. Asking now and then is cheap, and few people see this card.
  const { data } = useQuery({
    ...actionQuery(orgId, 'settings', 'get_setup_progress', {}),
    refetchInterval: REFRESH_MS,
  });
  if (data === undefined) return null;
  const { firstServiceId } = data;
  const reference = <a href={addressOf('docs')}>over the API or from an agent</a>;
  return [
    {
      title: 'Create a service',
      how: <Link to="/services">Add a program that you run and get its keys</Link>,
      isDone: data.hasService,
    },
    {
      title: 'Send data',
      how:
        firstServiceId === null ? (
          'Use the key or the DSN of the service'
        ) : (
          <Link to="/services/$serviceId" params={{ serviceId: firstServiceId }}>
            Use the key or the DSN of the service
          </Link>
        ),
      isDone: data.hasData,
    },
    {
      title: 'Create a team with a schedule and an escalation policy',
      how: <>Decide who is paged and who is paged next, {reference}</>,
      isDone: data.hasTeamWithPolicy,
    },
    {
      title: 'Set up how you are reached',
      how: <Link to="/me">Add your phone and this device</Link>,
      isDone: data.canBeReached,
    },
    {
      title: 'Create an alert rule that pages somebody',
      how: <>Choose what becomes an incident, {reference}. Until then, no new incident pages anybody.</>,
      isDone: data.hasPagingRule,
    },
    {
      title: 'Check that a message arrives',
      how: <Link to="/me">Send yourself a test, then let a rule fire</Link>,
      isDone: data.hasSentMessage,
    },
  ];
}
