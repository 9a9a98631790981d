import { useMutation, useQueryClient } from '@tanstack/react-query';

import { type Incident, invoke } from '#console/api/actions.ts';
import { serverNow } from '#console/api/http.ts';
import { refreshIncidents } from '#console/api/incidents.ts';
import { showError, showSuccess } from '#console/components/notice.tsx';
import { runLimited } from '#console/pages/incidents/run_limited.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Answer to an open incident. */
export type Answer = 'acknowledge' | 'resolve';

const OPERATIONS = { acknowledge: 'unacknowledge_incident', resolve: 'reopen_incident' } as const;

const STILL = { acknowledge: 'acknowledged', resolve: 'resolved' } as const;

interface Undoing {
  readonly answer: Answer;
  readonly incidentIds: readonly string[];
}

/** Undoes acknowledging or resolving incidents: they return to their previous status. */
export function useUndoAnswers() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ answer, incidentIds }: Undoing) =>
      runLimited(incidentIds, (incidentId) => invoke(orgId, OPERATIONS[answer], { incidentId })),
    onSuccess({ done, failures }, { answer, incidentIds }) {
      const count = incidentIds.length === 1 ? 'The incident is' : `${failures.length} incidents are`;
      if (failures.length > 0) showError(`${count} still ${STILL[answer]}`, failures[0]);
      else showSuccess(done.length === 1 ? 'Undone.' : `Undone for ${done.length} incidents.`);
    },
    onSettled: (_done, _error, { incidentIds }) => refreshIncidents(queryClient, orgId, incidentIds),
  });
}

/** Age, in milliseconds, up to which an answer is undone. */
const JUST_NOW_MS = 15_000;

/** Whether this person gave the incident this answer just now, for the incident or for themselves alone. */
export function isAnsweredNow(incident: Incident, answer: Answer, userId: string): boolean {
  const { acknowledgedAt, acknowledgedBy, resolvedAt, resolvedBy, acknowledgements = [] } = incident;
  const isNow = (at: string): boolean => serverNow() - Date.parse(at) < JUST_NOW_MS;
  if (answer === 'acknowledge' && acknowledgements.some((answered) => answered.userId === userId && isNow(answered.at)))
    return true;
  const [at, by] = answer === 'resolve' ? [resolvedAt, resolvedBy] : [acknowledgedAt, acknowledgedBy];
  return at !== null && by?.userId === userId && isNow(at);
}
