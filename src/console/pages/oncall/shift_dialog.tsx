import { Button, Group, NativeSelect, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';

import { invoke, topicKey } from '#console/api/actions.ts';
import { serverNow } from '#console/api/http.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { faultsAtFields, Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { showError, showSuccess, showUndoable } from '#console/components/notice.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Name, named } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { OverrideForm } from '#console/pages/oncall/override/override_form.tsx';
import { usePutOnCall, useRemoveOverride } from '#console/pages/oncall/override/use_put_on_call.ts';
import { isOtherTime, spanText } from '#console/pages/oncall/span_text.ts';
import { namesOf, type Selection, selectionsOf, type ShownSchedule, useTimeline } from './use_timeline.ts';
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
    <ul className="plain-list" aria-label="Overrides">
      {overrides.map(({ overrideId, userId, startAt, endAt }) => (
        <li key={overrideId} className={`${classes.gap} row wraps`}>
          <span className={`${classes.text} small shrinks`}>
            Override: <Person userId={userId}>{nameOf(userId)}</Person>
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

interface SwappedShift {
  readonly userId: string;
  readonly since: number;
  readonly until: number;
}

interface SwapFormProps {
  readonly shift: SwappedShift;
  readonly schedule: ShownSchedule;
  readonly nameOf: (userId: string | null) => string;
  readonly onBack: () => void;
  readonly onDone: () => void;
}

const DAYS_AHEAD = 60;
const DAY_MS = 24 * 60 * 60_000;

/** Form that swaps a shift with one of somebody else in the same schedule. */
function SwapForm({ shift, schedule, nameOf, onBack, onDone }: SwapFormProps) {
  const { scheduleId, name } = schedule;
  const [now] = useState(() => serverNow());
  const range = useMemo(() => ({ from: now, to: now + DAYS_AHEAD * DAY_MS }), [now]);
  const { timeline, query } = useTimeline(range, { scheduleId });
  const [{ chosen }, setValues, draft] = useDraftState({
    form: `swap_shifts ${scheduleId} ${shift.since}`,
    base: { chosen: '' },
  });
  const swapping = useSwap(name, () => {
    draft.done();
    onDone();
  });
  const offered = { ...shift, since: Math.max(shift.since, now) };
  const [loaded] = timeline?.schedules ?? [];
  const others = loaded === undefined ? [] : swappableShifts(loaded, range, offered);
  const other = others.find(({ since }) => String(since) === chosen) ?? others[0];
  if (query.isPending) return <Skeleton height={160} />;
  if (query.error !== null && query.data === undefined) {
    return <ErrorAlert error={query.error} onRetry={() => void query.refetch()} />;
  }
  const nameIn = timeline?.nameOf ?? nameOf;
  const refused = faultsAtFields(swapping.error, { first: offered, second: other });
  return (
    <Form
      error={swapping.error}
      draft={draft}
      onSubmit={() => {
        if (other !== undefined)
          swapping.mutate({ first: inputOf(scheduleId, offered), second: inputOf(scheduleId, other) });
      }}
    >
      <Stack gap="sm">
        <DraftNotice draft={draft} labels={{ chosen: 'Swap with' }} />
        {other === undefined ? (
          <Text size="sm">Nobody else has a shift in the next {DAYS_AHEAD} days.</Text>
        ) : (
          <>
            <NativeSelect
              label="Swap with"
              data-autofocus
              value={String(other.since)}
              onChange={({ currentTarget }) => {
                setValues({ chosen: currentTarget.value });
                swapping.reset();
              }}
              error={refused['second'] ?? refused['first']}
              data={others.map(({ userId, since, until }) => ({
                value: String(since),
                label: `${isolateBidi(nameIn(userId))}, ${spanText(since, until)}`,
              }))}
            />
            <Text size="sm" component="div">
              <div>
                <Name>{nameIn(other.userId)}</Name> takes {spanText(offered.since, offered.until)}.
              </div>
              <div>
                <Name>{nameIn(offered.userId)}</Name> takes {spanText(other.since, other.until)}.
              </div>
            </Text>
          </>
        )}
        {swapping.isError && (
          <ErrorAlert
            title="The shifts were not swapped"
            error={swapping.error}
            atFields={{ first: offered, second: other }}
          />
        )}
        <SubmitButtons
          label="Swap"
          isPending={swapping.isPending}
          isDisabled={other === undefined}
          cancel="Back"
          onCancel={onBack}
        />
      </Stack>
    </Form>
  );
}

/** Returns shifts of others that end, and that do not overlap with `own`. */
function swappableShifts(
  schedule: ShownSchedule,
  { from, to }: { readonly from: number; readonly to: number },
  swappedShift: SwappedShift,
): readonly SwappedShift[] {
  return selectionsOf(schedule, from, to).flatMap(({ userId, since, until }) => {
    const start = Math.max(since, from);
    const isApart = until !== null && (until <= swappedShift.since || start >= swappedShift.until);
    return userId === null || userId === swappedShift.userId || !isApart ? [] : [{ userId, since: start, until }];
  });
}

const inputOf = (scheduleId: string, { userId, since, until }: SwappedShift) => ({
  scheduleId,
  userId,
  startAt: new Date(since).toISOString(),
  endAt: new Date(until).toISOString(),
});

function useSwap(scheduleName: string, onDone: () => void) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'teams') });
  const undoing = useMutation({
    mutationFn: (made: { firstOverrideId: string; secondOverrideId: string }) => invoke(orgId, 'undo_shift_swap', made),
    onSuccess: () => showSuccess(named`The swap in ${scheduleName} is undone.`),
    onError: (error) => showError(named`The swap in ${scheduleName} was not undone`, error),
    onSettled: refresh,
  });
  return useMutation({
    mutationFn: (shifts: { first: ReturnType<typeof inputOf>; second: ReturnType<typeof inputOf> }) =>
      invoke(orgId, 'swap_shifts', shifts),
    async onSuccess({ first, second, warnings }) {
      const undo = (): void =>
        undoing.mutate({ firstOverrideId: first.overrideId, secondOverrideId: second.overrideId });
      showUndoable(named`The shifts in ${scheduleName} are swapped.`, undo, warnings);
      onDone();
      await refresh();
    },
  });
}
