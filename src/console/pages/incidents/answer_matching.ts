import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';

import { type InputOf, invoke, topicKey } from '#console/api/actions.ts';
import { serverNow } from '#console/api/http.ts';
import { showError, showSuccess, showUndoable } from '#console/components/notice.tsx';
import type { Answer } from './answer_incidents.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import type { Level } from '#modules/exceptions/decide/level.ts';

/** Matching incidents: those that the filter shows, in these statuses. */
export interface Matching {
  readonly statuses: ('triggered' | 'acknowledged')[];
  readonly serviceId?: string;
  readonly severity?: Level;
  readonly ownedBy?: string;
  readonly text?: string;
}

interface Outcome {
  readonly changed: readonly { readonly incidentId: string }[];
  readonly unchanged: number;
  readonly refused: readonly { readonly number: number; readonly reason: string }[];
  readonly wasStopped: boolean;
}

const NOTHING: Outcome = { changed: [], unchanged: 0, refused: [], wasStopped: false };

export const PAST = { acknowledge: 'acknowledged', resolve: 'resolved' } as const;
const UNDO_SLICE = 50;

/**
 * Answers every incident that matches, in batches, on the server. It reports progress, can be stopped, and reports at
 * the end what was done and what was not.
 */
export function useAnswerMatching() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const [done, setDone] = useState(0);
  const isStopped = useRef(false);
  const soFar = useRef<Outcome>(NOTHING);
  const refresh = () => queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'incidents') });
  const undoing = useMutation({
    async mutationFn(ids: readonly string[]) {
      let undone = 0;
      for (let start = 0; start < ids.length; start += UNDO_SLICE) {
        const slice = ids.slice(start, start + UNDO_SLICE);
        const { changed } = await invoke(orgId, 'answer_incidents', { answer: 'unacknowledge', incidentIds: slice });
        undone += changed.length;
      }
      return undone;
    },
    onSuccess: (undone) => showSuccess(`Undone for ${undone.toLocaleString()} incidents.`),
    onError: (error) => showError('Not all could be undone', error),
    onSettled: refresh,
  });
  const tell = (answer: Answer): void => {
    const text = outcomeText(soFar.current, answer);
    const ids = soFar.current.changed.map(({ incidentId }) => incidentId);
    if (answer === 'acknowledge' && ids.length > 0) showUndoable(text, () => undoing.mutate(ids));
    else showSuccess(text);
  };
  const answering = useMutation({
    async mutationFn({ answer, matching }: { readonly answer: Answer; readonly matching: Matching }) {
      isStopped.current = false;
      soFar.current = NOTHING;
      setDone(0);
      const input = {
        answer,
        matching: { ...matching, triggeredUntil: new Date(serverNow()).toISOString() },
      } satisfies InputOf<'answer_incidents'>;
      for (;;) {
        const slice = await invoke(orgId, 'answer_incidents', input);
        const { changed, refused, unchanged } = soFar.current;
        soFar.current = {
          changed: [...changed, ...slice.changed],
          refused: [...refused, ...slice.refused],
          unchanged: unchanged + slice.unchanged,
          wasStopped: slice.left > 0,
        };
        setDone(soFar.current.changed.length);
        // Incidents that are refused, or answered by others at this moment, would come again.
        if (slice.left === 0 || slice.changed.length === 0 || isStopped.current) return;
      }
    },
    onSuccess: (_nothing, { answer }) => tell(answer),
    onError(error, { answer }) {
      showError('Not all incidents were answered', error);
      if (soFar.current.changed.length > 0) tell(answer);
    },
    onSettled: refresh,
  });
  return { answering, done, stop: () => (isStopped.current = true) };
}

function outcomeText({ changed, unchanged, refused, wasStopped }: Outcome, answer: Answer): string {
  const parts = [
    `${changed.length.toLocaleString()} ${changed.length === 1 ? 'incident' : 'incidents'} ${PAST[answer]}`,
  ];
  if (unchanged > 0) parts.push(`${unchanged} answered by others meanwhile`);
  if (refused.length > 0) parts.push(`${refused.length} not: ${refused[0]?.reason ?? ''}`);
  return `${parts.join(', ')}.${wasStopped ? ' The rest is left as it was.' : ''}`;
}
