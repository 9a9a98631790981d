import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';

import { type InputOf, invoke, type ResultOf } from '#console/api/actions.ts';
import type { GroupStatus } from '#console/api/exceptions.ts';
import { serverNow } from '#console/api/http.ts';
import { topicKey } from '#console/api/queries.ts';
import { showError, showSuccess, showUndoable } from '#console/components/notice.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { PAST, useUndoStatus } from '#console/pages/exceptions/triage/use_set_status.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Matching groups: those that the filter shows, in these statuses. */
export type MatchingGroups = Omit<InputOf<'set_matching_statuses'>['matching'], 'createdUntil'>;

type Slice = ResultOf<'set_matching_statuses'>;

interface Wanted {
  readonly status: GroupStatus;
  readonly matching: MatchingGroups;
}

/**
 * Resolves, ignores or reopens every exception that matches, in batches, on the server. It reports progress, can be
 * stopped, and reports the result at the end.
 */
export function useSetMatching() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
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
    async mutationFn({ status, matching }: Wanted) {
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
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'exceptions') });
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'incidents') });
    },
  });
  return { setting, done, stop: () => (isStopped.current = true) };
}
