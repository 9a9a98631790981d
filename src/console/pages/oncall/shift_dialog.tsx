import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';

import { serverNow } from '#console/api/http.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { useRemoveOverride } from '#console/pages/home/remove_override.tsx';
import { OverrideForm } from '#console/pages/oncall/override/override_form.tsx';
import { usePutOnCall } from '#console/pages/oncall/override/use_put_on_call.ts';
import { namesOf, type Selection } from '#console/pages/oncall/selection.ts';
import { isOtherTime, spanText } from '#console/pages/oncall/span_text.ts';
import { SwapForm } from '#console/pages/oncall/swap_form.tsx';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/pages/oncall/gaps.module.css';

interface ShiftDialogProps {
  readonly selection: Selection;
  readonly schedule: ShownSchedule;
  readonly nameOf: (userId: string | null) => string;
  readonly onClose: () => void;
}

/** Dialog of a shift, a gap or a marked time: who is on call then, and how to put somebody else on call. */
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
    <Dialog
      onClose={onClose}
      title={<DialogTitle selection={selection} scheduleName={name} name={namesOf(selection, nameOf, '')} />}
    >
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
            <Group gap="xs">
              {source !== 'marked' && !isMine && (
                <TakeOver selection={selection} schedule={schedule} onDone={onClose} />
              )}
              {isShift && until !== null && (selection.others?.length ?? 0) === 0 && (
                <Button variant="default" onClick={() => setIsSwapping(true)}>
                  Swap with another shift
                </Button>
              )}
            </Group>
            <OverrideForm selection={selection} schedule={schedule} nameOf={nameOf} onDone={onClose} />
          </>
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
            {isOver ? 'This time is over.' : 'Your role cannot change who is on call.'}
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

/** Button that puts oneself on call for the rest of the shift, in one step. */
function TakeOver({ selection: { since, until, userId }, schedule, onDone }: TakeOverProps) {
  const me = useOrganization().session.user.userId;
  const taking = usePutOnCall(schedule, onDone);
  if (until === null) return null;
  const start = Math.max(since, serverNow());
  return (
    <>
      <Button
        onClick={() =>
          taking.mutate({ userId: me, startAt: new Date(start).toISOString(), endAt: new Date(until).toISOString() })
        }
        loading={taking.isPending}
      >
        {userId === null ? 'Put me on call' : 'Take over'}
      </Button>
      {taking.isError && <ErrorAlert title="You are not on call yet" error={taking.error} />}
    </>
  );
}

interface OverrideListProps {
  readonly selection: Selection;
  readonly schedule: ShownSchedule;
  readonly nameOf: (userId: string | null) => string;
  readonly mayChange: boolean;
}

/** List of the overrides that reach into this time, also those that a later one covers. */
function OverrideList({ selection: { since, until }, schedule, nameOf, mayChange }: OverrideListProps) {
  const removing = useRemoveOverride(schedule.name);
  const [asked, setAsked] = useState<string | null>(null);
  const overrides = schedule.overrides.filter(
    ({ startAt, endAt }) => Date.parse(endAt) > since && (until === null || Date.parse(startAt) < until),
  );
  const isSameTime = (startAt: string, endAt: string) => Date.parse(startAt) === since && Date.parse(endAt) === until;
  if (overrides.length === 0) return null;
  return (
    <ul className={classes.gaps} aria-label="Overrides">
      {overrides.map(({ overrideId, userId, startAt, endAt }) => (
        <li key={overrideId} className={classes.gap}>
          <span className={classes.text}>
            Override: <Name>{nameOf(userId)}</Name>
            {isSameTime(startAt, endAt) ? '' : `, ${spanText(Date.parse(startAt), Date.parse(endAt))}`}
            {asked === overrideId && <div>Without it, pages go to the people on call then. This cannot be undone.</div>}
          </span>
          {mayChange && asked !== overrideId && (
            <Button
              size="xs"
              variant="default"
              onClick={() => setAsked(overrideId)}
              aria-label={`Remove the override of ${nameOf(userId)}`}
            >
              Remove
            </Button>
          )}
          {asked === overrideId && (
            <Group gap="xs">
              <Button size="xs" variant="default" autoFocus onClick={() => setAsked(null)}>
                Keep it
              </Button>
              <Button size="xs" color="red" loading={removing.isPending} onClick={() => removing.mutate(overrideId)}>
                Remove it
              </Button>
            </Group>
          )}
        </li>
      ))}
    </ul>
  );
}
