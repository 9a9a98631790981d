import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, invoke } from '#console/api/actions.ts';
import { addressOf } from '#console/api/http.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Page } from '#console/components/page.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { BeginCard } from '#console/pages/move_in/begin_card.tsx';
import { NumbersCard } from '#console/pages/move_in/numbers_card.tsx';
import { isWorkedOn, type MoveIn, ReportCard, titleOf } from '#console/pages/move_in/report_card.tsx';
import { ShadowCard } from '#console/pages/move_in/shadow_card.tsx';
import { AdminsOnly } from '#console/pages/settings/admins_only.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import classes from '#console/pages/move_in/move_in.module.css';

/** Time between two looks at a move that is worked on. */
const LOOK_MS = 2_000;

const STATUSES: Record<MoveIn['status'], readonly [Tone, string]> = {
  collecting: ['gray', 'Nothing read yet'],
  reading: ['blue', 'Reading'],
  failed: ['red', 'Reading failed'],
  read: ['green', 'Read'],
  applying: ['blue', 'Applying'],
  applied: ['green', 'Applied'],
};

/** Page that leads from another tool to this one, step by step. */
export function MoveInPage() {
  const { org, isAdmin } = useOrganization();
  const [isBeginning, setBeginning] = useState(false);
  const { data, error, refetch } = useQuery({
    ...actionQuery(org.orgId, 'settings', 'get_move_in', {}),
    enabled: isAdmin,
    refetchInterval: ({ state }) => (isWorkedOn(state.data?.moveIn ?? null) ? LOOK_MS : false),
  });
  const moveIn = data?.moveIn ?? null;
  const isRead = moveIn?.summary != null;
  const isBeginShown = data !== undefined && (moveIn === null || isBeginning);
  return (
    <Page
      title="Import from another tool"
      isNarrow
      lead={
        <>
          Brings teams, schedules and rules along, with a report and a proof. Nothing is changed there, and nothing here
          before you apply. <a href={addressOf('docs/migrating')}>What comes along from each tool</a>
        </>
      }
    >
      {!isAdmin && <AdminsOnly what="Moving in" />}
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {isAdmin && data === undefined && error === null && <Skeleton height={240} radius="lg" />}
      {isBeginShown && <BeginCard moveIn={null} onBegun={() => setBeginning(false)} />}
      {moveIn !== null && !isBeginShown && <UnderWay moveIn={moveIn} onAnother={() => setBeginning(true)} />}
      {moveIn !== null && !isBeginShown && (moveIn.status === 'failed' || moveIn.status === 'collecting') && (
        <BeginCard key={moveIn.moveInId} moveIn={moveIn} onBegun={() => {}} />
      )}
      {moveIn !== null && !isBeginShown && isRead && (
        <>
          <ReportCard moveIn={moveIn} />
          <ApplyCard moveIn={moveIn} />
        </>
      )}
      {data !== undefined && (
        <>
          <NumbersCard />
          <ShadowCard />
          <CutOverCard moveIn={moveIn} />
        </>
      )}
    </Page>
  );
}

function UnderWay({ moveIn, onAnother }: { readonly moveIn: MoveIn; readonly onAnother: () => void }) {
  const { tool, status, progress, fault, createdAt } = moveIn;
  const [tone, label] = STATUSES[status];
  return (
    <Card
      title={`From ${titleOf(tool)}`}
      about={
        <>
          Begun <Timestamp at={createdAt} />
        </>
      }
      action={<Status tone={tone}>{label}</Status>}
    >
      {progress !== '' && (
        <Text size="sm" role="status">
          {progress}
        </Text>
      )}
      {fault !== null && (
        <Text size="sm" c="red" role="alert">
          {fault}
        </Text>
      )}
      {status === 'reading' && <StopReading moveInId={moveIn.moveInId} />}
      {!isWorkedOn(moveIn) && (
        <Group mt={progress === '' && fault === null ? 0 : 'sm'}>
          <Button variant="default" onClick={onAnother}>
            Move in from another tool
          </Button>
        </Group>
      )}
    </Card>
  );
}

/** Button that ends a reading, such as of a tool that does not answer. */
function StopReading({ moveInId }: { readonly moveInId: string }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const stopping = useMutation({
    mutationFn: () => invoke(org.orgId, 'stop_move_in', { moveInId }),
    onSettled: () => refresh('settings'),
  });
  return (
    <Group mt="sm">
      <Button variant="default" loading={stopping.isPending} onClick={() => stopping.mutate()}>
        Stop reading
      </Button>
    </Group>
  );
}

const SHOWN = 30;

/** Card on what applying would change, and what that means for people. */
function ApplyCard({ moveIn }: { readonly moveIn: MoveIn }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const { moveInId, plan, status, fault, applied } = moveIn;
  const onSettled = () => refresh('settings');
  const applying = useMutation({
    mutationFn: (fingerprint: string) => invoke(org.orgId, 'apply_move_in', { moveInId, fingerprint }),
    onSettled,
  });
  const planning = useMutation({ mutationFn: () => invoke(org.orgId, 'plan_move_in', { moveInId }), onSettled });
  const isBusy = status === 'applying' || status === 'reading';
  const isPlanning = plan === null && fault === null;
  const kinds = Object.entries(plan?.byKind ?? {}).map(([kind, count]) => `${count.toLocaleString()} ${kind}`);
  const failed = applying.error ?? planning.error;
  return (
    <Card
      title="Apply"
      about="Each change is made by its ordinary operation, with its row in the audit log. Broken off and repeated, it ends the same. Nothing is deleted."
    >
      <Stack gap="sm">
        {applied > 0 && <Text size="sm">{applied.toLocaleString()} changes were made.</Text>}
        {isPlanning && <Text size="sm">The plan is being made.</Text>}
        {plan !== null && (
          <Text size="sm">
            {plan.changes === 0
              ? 'Nothing is left to change.'
              : `${plan.changes.toLocaleString()} changes: ${kinds.join(', ')}.`}
          </Text>
        )}
        {plan !== null && plan.meaning.length > 0 && (
          <ul className={classes.sentences}>
            {plan.meaning.slice(0, SHOWN).map((sentence) => (
              <li key={sentence}>
                <Text size="sm">{sentence}</Text>
              </li>
            ))}
          </ul>
        )}
        {plan !== null && plan.meaning.length > SHOWN && (
          <Text size="sm" c="dimmed">
            {(plan.meaning.length - SHOWN).toLocaleString()} more sentences are in the plan of the command line.
          </Text>
        )}
        {failed !== null && <ErrorAlert title="Nothing was begun" error={failed} />}
        <Group gap="xs">
          {plan !== null && plan.changes > 0 && (
            <Button
              loading={applying.isPending || status === 'applying'}
              disabled={isBusy}
              onClick={() => applying.mutate(plan.fingerprint)}
            >
              Apply this plan
            </Button>
          )}
          <Button variant="default" loading={planning.isPending} disabled={isBusy} onClick={() => planning.mutate()}>
            Plan again
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}

interface Check {
  readonly title: string;
  /** Null: only people can tell. */
  readonly isDone: boolean | null;
  readonly about: string;
}

const NOT_READ = 'Nothing was read yet.';

/** Card with what has to be true before the old tool is switched off. */
function CutOverCard({ moveIn }: { readonly moveIn: MoveIn | null }) {
  const { org } = useOrganization();
  const { data: numbers } = useQuery(actionQuery(org.orgId, 'settings', 'get_number_campaign', {}));
  const { data: shadow } = useQuery(actionQuery(org.orgId, 'settings', 'get_shadow_mode', {}));
  const summary = moveIn?.summary ?? null;
  const refused = summary?.verdicts['refused'] ?? 0;
  const differing = (summary?.minutes ?? 0) - (summary?.equal ?? 0);
  const isInShadow = shadow === undefined || shadow.organizationSince !== null || shadow.services.length > 0;
  const checks: readonly Check[] = [
    {
      title: 'Everything is applied',
      isDone: moveIn?.plan?.changes === 0,
      about: summary === null ? NOT_READ : `${(moveIn?.plan?.changes ?? 0).toLocaleString()} changes are left.`,
    },
    {
      title: 'Schedules say the same',
      isDone: summary !== null && differing === 0,
      about: summary === null ? NOT_READ : `${differing.toLocaleString()} minutes differ.`,
    },
    {
      title: 'What was refused is made by hand, or not missed',
      isDone: summary !== null && refused === 0 ? true : null,
      about:
        summary === null
          ? NOT_READ
          : `${refused.toLocaleString()} ${refused === 1 ? 'item is' : 'items are'} refused; the report says what to do.`,
    },
    {
      title: 'Everybody has a confirmed number, and has received a test',
      isDone: numbers !== undefined && numbers.people > 0 && numbers.done === numbers.people,
      about: `${numbers?.done ?? 0} of ${numbers?.people ?? 0} people`,
    },
    {
      title: 'Senders send here, too',
      isDone: null,
      about: 'Each service shows when data last arrived. Give senders its alert key, or the new host of its DSN.',
    },
    {
      title: 'Each policy has paged once',
      isDone: null,
      about: 'Send one real page to each, all the way, while somebody looks.',
    },
    {
      title: 'Shadow mode is over',
      isDone: isInShadow ? false : summary === null ? null : true,
      about: 'End it after some weeks in which both tools said the same. From then on people are paged.',
    },
    {
      title: 'The old tool is off, and its key deleted',
      isDone: null,
      about: 'Stop its pages first, then delete the key that was used to read.',
    },
  ];
  return (
    <Card
      title="Cut over"
      about="In this order. Go back by stopping pages here and starting them there again."
      rows={checks.map(({ title, isDone, about }) => (
        <Row key={title} title={title} sub={about}>
          <Status tone={isDone === true ? 'green' : isDone === null ? 'gray' : 'amber'}>
            {isDone === true ? 'Done' : isDone === null ? 'Your check' : 'Open'}
          </Status>
        </Row>
      ))}
    />
  );
}
