import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Fragment, useRef, useState } from 'react';

import { type InputOf, invoke, type ResultOf } from '#console/api/actions.ts';
import type { ExceptionGroup, GroupStatus } from '#console/api/exceptions.ts';
import { serverNow } from '#console/api/http.ts';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { ChangingBar, SelectionBar } from '#console/components/lists/selection_bar.tsx';
import { showError, showSuccess, showUndoable } from '#console/components/notice.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { type GroupTab, totalOf } from '#console/pages/exceptions/exception_filter.ts';
import { AssignMenu, ResolveMenu, SnoozeMenu } from '#console/pages/exceptions/triage/menus.tsx';
import { PAST, useUndoStatus } from '#console/pages/exceptions/triage/use_set_status.ts';
import { useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

const MergeSelected = lazyDialog(() =>
  import('#console/pages/exceptions/merge_selected.tsx').then((m) => m.MergeSelected),
);

/** Statuses to which a person may change groups of the tab. */
const OFFERED: Record<GroupTab, readonly GroupStatus[]> = {
  unresolved: ['resolved', 'ignored'],
  resolved: ['unresolved', 'ignored'],
  ignored: ['unresolved', 'resolved'],
  all: ['resolved', 'ignored', 'unresolved'],
};

const VERBS: Record<GroupStatus, string> = { resolved: 'Resolve', ignored: 'Ignore', unresolved: 'Reopen' };

interface ExceptionSelectionProps {
  readonly tab: GroupTab;
  readonly groups: readonly ExceptionGroup[];
  /** Number of exceptions that match the filter, loaded or not, by status. */
  readonly counts: Readonly<Record<GroupStatus, number>>;
  readonly areAllSelected: boolean;
  readonly matching: MatchingGroups;
  readonly onSelectAll: () => void;
  readonly onClear: () => void;
  readonly onSet: (status: GroupStatus) => void;
}

/** Bar with the commands for the selected exceptions: a few rows, or all that match. */
export function ExceptionSelection(props: ExceptionSelectionProps) {
  const { tab, groups, counts, areAllSelected, matching, onSelectAll, onClear, onSet } = props;
  const { setting, done, stop } = useSetMatching();
  const [asked, setAsked] = useState<GroupStatus | null>(null);
  const [startedWith, setStartedWith] = useState(0);
  useShortcut('m', () => {
    if (!areAllSelected && groups.length > 1) setIsMerging(true);
  });
  const [isMerging, setIsMerging] = useState(false);
  const { length: count } = groups;
  const groupIds = groups.map(({ groupId }) => groupId);
  const total = totalOf(counts, tab);
  /** Number of groups that change: those that have the status already do not. */
  const changing = asked === null ? 0 : total - (tab === 'all' ? counts[asked] : 0);
  if (setting.isPending) {
    const progress = `${done.toLocaleString()} of ${startedWith.toLocaleString()} ${PAST[setting.variables.status]}`;
    return <ChangingBar label="Changing exceptions" progress={progress} onStop={stop} />;
  }
  return (
    <SelectionBar label="Selected exceptions" {...{ count, total, areAllSelected, onSelectAll, onClear }}>
      {OFFERED[tab].map((status, index) => (
        <Fragment key={status}>
          <Button
            size="sm"
            variant={index === 0 ? 'filled' : 'default'}
            onClick={() => (areAllSelected ? setAsked(status) : onSet(status))}
          >
            {VERBS[status]}
          </Button>
          {status === 'resolved' && !areAllSelected && (
            <ResolveMenu groupIds={groupIds} serviceId={serviceOf(groups)} onDone={onClear} />
          )}
        </Fragment>
      ))}
      {!areAllSelected && tab !== 'ignored' && <SnoozeMenu groupIds={groupIds} onDone={onClear} />}
      {!areAllSelected && <AssignMenu groupIds={groupIds} assigneeName={null} onDone={onClear} />}
      {!areAllSelected && count > 1 && (
        <Button size="sm" variant="default" onClick={() => setIsMerging(true)}>
          Merge
        </Button>
      )}
      {isMerging && (
        <MergeSelected
          groups={groups}
          onClose={(isMerged) => {
            setIsMerging(false);
            if (isMerged) onClear();
          }}
        />
      )}
      {asked !== null && (
        <Confirm
          title={`${VERBS[asked]} ${countText(changing, 'exception')}?`}
          button={`${VERBS[asked]} ${changing.toLocaleString()}`}
          isHarmless
          saving={{ isPending: false, error: null }}
          onClose={() => setAsked(null)}
          onConfirm={() => {
            setStartedWith(changing);
            setting.mutate({ status: asked, matching }, { onSuccess: onClear });
            setAsked(null);
          }}
        >
          All that match the filter are changed, loaded or not.
          {asked === 'unresolved' ? '' : ' Their open incidents are resolved with them.'} You can stop it, and undo it
          for ten seconds afterwards.
        </Confirm>
      )}
    </SelectionBar>
  );
}

/** Returns the service of the exceptions; null if they are of several services. */
function serviceOf(groups: readonly ExceptionGroup[]): string | null {
  const [first, ...others] = new Set(groups.map(({ serviceId }) => serviceId));
  return others.length === 0 ? (first ?? null) : null;
}

/** Matching groups: those that the filter shows, in these statuses. */
type MatchingGroups = Omit<InputOf<'set_matching_statuses'>['matching'], 'createdUntil'>;

type Slice = ResultOf<'set_matching_statuses'>;

/**
 * Resolves, ignores or reopens every exception that matches, in batches, on the server. It reports progress, can be
 * stopped, and reports the result at the end.
 */
function useSetMatching() {
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  const undoing = useUndoStatus();
  const [done, setDone] = useState(0);
  const isStopped = useRef(false);
  const soFar = useRef<Slice>({ changed: [], resolvedIncidentIds: [], left: 0 });
  const tell = (status: GroupStatus, rest: string): void => {
    const { changed, resolvedIncidentIds } = soFar.current;
    const incidents = resolvedIncidentIds.length;
    const also = incidents === 0 ? '' : `, and ${countText(incidents, 'incident')} resolved`;
    const text = `${countText(changed.length, 'exception')} ${PAST[status]}${also}.${rest}`;
    const before = { changed, resolvedIncidentIds };
    if (changed.length > 0) showUndoable(text, () => undoing.mutate(before));
    else showSuccess(text);
  };
  const setting = useMutation({
    async mutationFn({ status, matching }: { readonly status: GroupStatus; readonly matching: MatchingGroups }) {
      isStopped.current = false;
      soFar.current = { changed: [], resolvedIncidentIds: [], left: 0 };
      setDone(0);
      const createdUntil = new Date(serverNow()).toISOString();
      for (;;) {
        const slice = await invoke(orgId, 'set_matching_statuses', { status, matching: { ...matching, createdUntil } });
        const { changed, resolvedIncidentIds } = soFar.current;
        soFar.current = {
          changed: [...changed, ...slice.changed],
          resolvedIncidentIds: [...resolvedIncidentIds, ...slice.resolvedIncidentIds],
          left: slice.left,
        };
        setDone(soFar.current.changed.length);
        if (slice.left === 0 || slice.changed.length === 0 || isStopped.current) return slice.left > 0;
      }
    },
    onSuccess: (wasStopped, { status }) => tell(status, wasStopped ? ' The rest is left as it was.' : ''),
    onError(error, { status }) {
      showError('Not all exceptions were changed', error);
      if (soFar.current.changed.length > 0) tell(status, ' The rest is left as it was.');
    },
    onSettled: async () => {
      await refresh('exceptions');
      await refresh('incidents');
    },
  });
  return { setting, done, stop: () => (isStopped.current = true) };
}
