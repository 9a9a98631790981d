import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';

import { serverNow } from '#console/api/http.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { Name, named } from '#console/components/name.tsx';
import { OverrideForm } from '#console/pages/oncall/override_form.tsx';
import { OverrideList } from '#console/pages/oncall/override_list.tsx';
import type { Selection } from '#console/pages/oncall/selection.ts';
import { isOtherTime, spanText } from '#console/pages/oncall/span_text.ts';
import { SwapForm } from '#console/pages/oncall/swap_form.tsx';
import { usePutOnCall } from '#console/pages/oncall/use_put_on_call.ts';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface ShiftDialogProps {
  readonly selection: Selection;
  readonly schedule: ShownSchedule;
  readonly nameOf: (userId: string | null) => string;
  readonly onClose: () => void;
}

/** A shift, a gap or a marked time: who is on call then, and how to put somebody else on call. */
export function ShiftDialog({ selection, schedule, nameOf, onClose }: ShiftDialogProps) {
  const { may, session } = useOrganization();
  const [isSwapping, setIsSwapping] = useState(false);
  const { userId, source, since, until } = selection;
  const { name, timezone } = schedule;
  const isOver = until !== null && until <= serverNow();
  const isMine = userId === session.user.userId;
  const mayChange = may('oncall:edit') && !isOver;
  const isShift = source === 'rotation' || source === 'override';
  return (
    <Dialog onClose={onClose} title={<DialogTitle selection={selection} scheduleName={name} name={nameOf(userId)} />}>
      <Stack>
        <Text size="sm" component="div">
          {spanText(since, until)}
          {isOtherTime(timezone, since, until) && (
            <div className="dimmed">
              {spanText(since, until, timezone)} in {timezone}
            </div>
          )}
        </Text>
        <OverrideList selection={selection} schedule={schedule} nameOf={nameOf} mayChange={mayChange} />
        {mayChange && !isSwapping && (
          <>
            {(isShift || source === 'gap') && !isMine && (
              <TakeOver selection={selection} schedule={schedule} onDone={onClose} />
            )}
            <OverrideForm selection={selection} schedule={schedule} nameOf={nameOf} onDone={onClose} />
          </>
        )}
        {mayChange && isShift && until !== null && !isSwapping && (
          <Group justify="flex-start">
            <Button variant="subtle" size="compact-sm" onClick={() => setIsSwapping(true)}>
              Swap with another shift
            </Button>
          </Group>
        )}
        {mayChange && isSwapping && userId !== null && until !== null && (
          <SwapForm
            shift={{ userId, since, until }}
            schedule={schedule}
            nameOf={nameOf}
            onBack={() => setIsSwapping(false)}
            onDone={onClose}
          />
        )}
        {!mayChange && (
          <Text size="sm" c="dimmed">
            {isOver ? 'This time is over.' : 'Your role may see who is on call, and not change it.'}
          </Text>
        )}
      </Stack>
    </Dialog>
  );
}

interface DialogTitleProps {
  readonly selection: Selection;
  readonly scheduleName: string;
  readonly name: string;
}

function DialogTitle({ selection: { source, userId }, scheduleName, name }: DialogTitleProps) {
  if (source === 'marked') return named`Put somebody on call in ${scheduleName}`;
  if (userId === null) return named`Nobody is on call in ${scheduleName}`;
  return (
    <>
      <Name>{name}</Name>, <Name>{scheduleName}</Name>
    </>
  );
}

interface TakeOverProps {
  readonly selection: Selection;
  readonly schedule: ShownSchedule;
  readonly onDone: () => void;
}

/** Puts oneself on call for the rest of the shift, in one step. */
function TakeOver({ selection: { since, until }, schedule, onDone }: TakeOverProps) {
  const { userId } = useOrganization().session.user;
  const taking = usePutOnCall(schedule, onDone);
  if (until === null) return null;
  const start = Math.max(since, serverNow());
  return (
    <div>
      <Button
        onClick={() =>
          taking.mutate({ userId, startAt: new Date(start).toISOString(), endAt: new Date(until).toISOString() })
        }
        loading={taking.isPending}
      >
        Take over
      </Button>
      <Text size="sm" c="dimmed" mt={4}>
        You are paged {since < start ? 'from now until the shift ends' : 'for the whole shift'}.
      </Text>
    </div>
  );
}
