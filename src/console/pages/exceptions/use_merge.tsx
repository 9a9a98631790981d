import { Text } from '@mantine/core';
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';

import { type InputOf, invoke, topicKey } from '#console/api/actions.ts';
import { showError, showSuccess, showUndoable } from '#console/components/notice.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { STATUS_NAMES } from '#console/pages/exceptions/group_status.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import type { GroupStatus } from '#modules/exceptions/decide/group_status.ts';

type Changes = InputOf<'undo_exception_merges'>['changes'];

/** Merges exceptions into another one, and offers to undo it. */
export function useMerge(onDone: (intoGroupId: string) => void) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const undoing = useUndo();
  return useMutation({
    mutationFn: (input: InputOf<'merge_exception_groups'>) => invoke(orgId, 'merge_exception_groups', input),
    onSuccess({ merged }, { intoGroupId, groupIds }) {
      const changes = merged.map(({ groupId, fromGroupId }) => {
        return { groupId, nowInGroupId: intoGroupId, wasInGroupId: fromGroupId };
      });
      showUndoable(`${countText(groupIds.length + 1, 'exception')} merged into one.`, () => undoing.mutate(changes));
      onDone(intoGroupId);
    },
    onSettled: () => refreshAll(queryClient, orgId),
  });
}

/** Splits parts off an exception, and offers to undo it. */
export function useSplit() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const undoing = useUndo();
  return useMutation({
    mutationFn: (groupIds: readonly string[]) => invoke(orgId, 'split_exception_groups', { groupIds: [...groupIds] }),
    onSuccess({ split }) {
      if (split.length === 0) {
        showSuccess('It was separated already.');
        return;
      }
      const changes = split.map(({ groupId, fromGroupId }) => {
        return { groupId, nowInGroupId: null, wasInGroupId: fromGroupId };
      });
      const what =
        split.length === 1 ? 'Separated: an exception of its own again' : `${split.length} exceptions separated`;
      showUndoable(`${what}.`, () => undoing.mutate(changes));
    },
    onError: (error) => showError('Not separated', error),
    onSettled: () => refreshAll(queryClient, orgId),
  });
}

/** Splits off events with the same message as an event, from now on as a separate exception, and offers to undo it. */
export function useSplitMessage(groupId: string, onSplit: (newGroupId: string) => void) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const undoing = useMutation({
    mutationFn: (splitId: string) =>
      invoke(orgId, 'merge_exception_groups', { intoGroupId: groupId, groupIds: [splitId] }),
    onSuccess: () => showSuccess('Undone: it is part of the exception again.'),
    onError: (error) => showError('This could not be undone', error),
    onSettled: () => refreshAll(queryClient, orgId),
  });
  return useMutation({
    mutationFn: (event: string) => invoke(orgId, 'split_exception_message', { groupId, event }),
    onSuccess({ groupId: splitId }) {
      showUndoable('Separated: an exception of its own from now on.', () => undoing.mutate(splitId));
      onSplit(splitId);
    },
    onError: (error) => showError('Not separated', error),
    onSettled: () => refreshAll(queryClient, orgId),
  });
}

/** Undoes merges and splits: each group returns to what it was part of, unless it was merged or split since. */
function useUndo() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (changes: Changes) => invoke(orgId, 'undo_exception_merges', { changes }),
    onSuccess: ({ unchanged }) =>
      showSuccess(
        unchanged === 0
          ? 'Undone.'
          : `Undone, but ${countText(unchanged, 'exception')} had been merged or split meanwhile and stay as they are.`,
      ),
    onError: (error) => showError('This could not be undone', error),
    onSettled: () => refreshAll(queryClient, orgId),
  });
}

/** Refreshes all lists: rows appear and disappear, and counts change. */
async function refreshAll(queryClient: QueryClient, orgId: string): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'exceptions') }),
    // Events are those of all parts.
    queryClient.invalidateQueries({ queryKey: ['org', orgId, 'exception_events'] }),
  ]);
}

/** Consequences that people have to know before they merge. */
export function MergeConsequences({ status }: { readonly status: GroupStatus }) {
  return (
    <Text size="sm" c="dimmed">
      Counts and events are those of all from now on, and the status is <b>{STATUS_NAMES[status].toLowerCase()}</b> for
      all. New events of any of them come here and do not count as new exceptions. Nothing is lost: each can be split
      off again, with its own events.
    </Text>
  );
}
