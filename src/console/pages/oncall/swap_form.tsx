import { NativeSelect, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { serverNow } from '#console/api/http.ts';
import { topicKey } from '#console/api/queries.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields } from '#console/components/forms/field_faults.ts';
import { Form } from '#console/components/forms/form.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { showError, showSuccess, showUndoable } from '#console/components/notice.tsx';
import { SubmitButtons } from '#console/components/forms/submit_buttons.tsx';
import { useDraftState } from '#console/components/forms/use_draft_state.ts';
import { selectionsOf } from '#console/pages/oncall/selection.ts';
import { spanText } from '#console/pages/oncall/span_text.ts';
import { type ShownSchedule, useTimeline } from '#console/pages/oncall/use_timeline.ts';
import { useOrganization } from '#console/shell/organization.tsx';

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
export function SwapForm({ shift, schedule, nameOf, onBack, onDone }: SwapFormProps) {
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
  if (query.error !== null) return <ErrorAlert error={query.error} onRetry={() => void query.refetch()} />;
  const nameIn = timeline?.nameOf ?? nameOf;
  const refused = faultsAtFields(swapping.error, { first: offered, second: other });
  return (
    <Form
      error={swapping.error}
      onSubmit={(event) => {
        event.preventDefault();
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
          draft={draft}
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
    async onSuccess({ first, second }) {
      showUndoable(named`The shifts in ${scheduleName} are swapped.`, () =>
        undoing.mutate({ firstOverrideId: first.overrideId, secondOverrideId: second.overrideId }),
      );
      onDone();
      await refresh();
    },
  });
}
