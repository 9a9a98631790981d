import { Button, Group, Skeleton, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { addressOf } from '#console/api/http.ts';
import { actionQuery, topicKey } from '#console/api/queries.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Page } from '#console/components/page.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { ApplyCard } from '#console/pages/move_in/apply_card.tsx';
import { BeginCard } from '#console/pages/move_in/begin_card.tsx';
import { CutOverCard } from '#console/pages/move_in/cut_over_card.tsx';
import { isWorkedOn, type MoveIn, titleOf } from '#console/pages/move_in/move_in_state.ts';
import { NumbersCard } from '#console/pages/move_in/numbers_card.tsx';
import { ReportCard } from '#console/pages/move_in/report_card.tsx';
import { ShadowCard } from '#console/pages/move_in/shadow_card.tsx';
import { AdminsOnly } from '#console/pages/settings/admins_only.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

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
      title="Move in"
      isNarrow
      lead={
        <>
          From another tool, with a report and a proof. Nothing is changed there, and nothing here before you apply.{' '}
          <a href={addressOf('docs/migrating')}>What comes along from each tool</a>
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

/** Card on how far the move is. */
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
  const queryClient = useQueryClient();
  const stopping = useMutation({
    mutationFn: () => invoke(org.orgId, 'stop_move_in', { moveInId }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') }),
  });
  return (
    <Group mt="sm">
      <Button variant="default" loading={stopping.isPending} onClick={() => stopping.mutate()}>
        Stop reading
      </Button>
    </Group>
  );
}
