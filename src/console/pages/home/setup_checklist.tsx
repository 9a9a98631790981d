import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';

import type { SetupProgress } from '#console/api/home.ts';
import { Card } from '#console/components/card.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { TextButton } from '#console/components/buttons.tsx';
import classes from '#console/pages/home/home.module.css';
import { IconCheck } from '#console/icons.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import type { Permission } from '#kernel/permissions.ts';

const SendPage = lazyPart(() => import('#console/pages/home/send_page.tsx').then((m) => m.SendPage));
const SetUpPaging = lazyPart(() => import('#console/pages/home/set_up_paging.tsx').then((m) => m.SetUpPaging));

type OpenDialog = 'paging' | 'page';

interface Step {
  readonly title: string;
  readonly how: ReactNode;
  readonly isDone: boolean;
  /** Permission that the step needs; without one, everybody can take it. */
  readonly needs?: Permission;
}

export function isComplete({
  firstServiceId: _service,
  paging: _paging,
  hasTeam: _team,
  simulatesPhones: _simulates,
  ...steps
}: SetupProgress): boolean {
  return Object.values(steps).every(Boolean);
}

/**
 * Checklist from an empty organization to the first page, with the steps that the person may take. Hidden once all is done.
 * Every line leads to its form.
 */
export function SetupChecklist({ progress }: { readonly progress: SetupProgress }) {
  const { may, org } = useOrganization();
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  const steps = stepsOf(progress, org.role === 'owner', setDialog).filter(
    ({ needs }) => needs === undefined || may(needs),
  );
  const canSetUp = may('services:edit') && may('oncall:edit');
  if (!may('oncall:edit') || steps.every(({ isDone }) => isDone)) return null;
  const done = steps.filter(({ isDone }) => isDone).length;
  const isStart = !progress.hasTeam && !progress.hasPagingRule;
  return (
    <Card
      title="Set up"
      about={`${done} of ${steps.length} done.`}
      action={isStart && canSetUp && <Button onClick={() => setDialog('paging')}>Set up paging</Button>}
    >
      <ol className={classes.steps}>
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
              {!isDone && <div className={`${classes.sub} dimmed small`}>{how}</div>}
            </div>
          </li>
        ))}
      </ol>
      {dialog === 'paging' && <SetUpPaging serviceId={progress.firstServiceId} onClose={close} />}
      {dialog === 'page' && progress.paging !== null && <SendPage {...progress.paging} onClose={close} />}
    </Card>
  );
}

function stepsOf(progress: SetupProgress, isOwner: boolean, open: (dialog: OpenDialog) => void): readonly Step[] {
  const { firstServiceId } = progress;
  const setUpPaging = <TextButton onClick={() => open('paging')}>Set up paging</TextButton>;
  const service = firstServiceId === null ? {} : { service: firstServiceId };
  return [
    {
      title: 'Create a service',
      how: (
        <Link to="/services" search={{ create: true }}>
          Add a program that you run and get its keys
        </Link>
      ),
      isDone: progress.hasService,
      needs: 'services:edit',
    },
    {
      title: 'Create a team with an escalation policy',
      how: progress.hasTeam ? (
        <Link to="/oncall/teams">Complete your team: it needs a member and an escalation policy</Link>
      ) : (
        <>{setUpPaging}: decide who is paged, and how</>
      ),
      isDone: progress.hasTeamWithPolicy,
      needs: 'oncall:edit',
    },
    {
      title: 'Set up how you are reached',
      how: (
        <Link to="/me" hash="phone">
          Add your phone and this device
        </Link>
      ),
      isDone: progress.canBeReached,
    },
    {
      title: 'Let a rule, or another tool, page somebody',
      how: (
        <>
          <Link to="/rules/new" search={service}>
            Say when it fires and who is paged
          </Link>
          .{' '}
          {firstServiceId === null ? (
            'Alertmanager and other tools can page, too, once there is a service.'
          ) : (
            <Link to="/services/$serviceId/alerts" params={{ serviceId: firstServiceId }}>
              Or connect Alertmanager, or another tool that you have
            </Link>
          )}
        </>
      ),
      isDone: progress.hasPagingRule,
      needs: 'oncall:edit',
    },
    {
      title: 'Check that a page arrives',
      how: (
        <>
          {progress.paging === null ? (
            <Link to="/me" hash="tests">
              Send yourself a test
            </Link>
          ) : (
            <TextButton onClick={() => open('page')}>Send yourself a page</TextButton>
          )}
          {progress.simulatesPhones && (
            <>
              . This server only simulates SMS and calls, so just push and mail count.
              {isOwner && (
                <>
                  {' '}
                  <Link to="/settings/delivery">Set up SMS and calls</Link>
                </>
              )}
            </>
          )}
        </>
      ),
      isDone: progress.hasSentMessage,
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
      isDone: progress.hasData,
      needs: 'services:edit',
    },
  ];
}
