import { type QueryClient, type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';

import { createElement } from 'react';

import { type FoundIncident, type Incident, type IncidentWithLog, invoke, topicKey } from '#console/api/actions.ts';
import { serverNow } from '#console/api/http.ts';
import { type IncidentPages, refreshIncidents } from '#console/api/incidents.ts';
import { showError, showSuccess, showUndoable } from '#console/components/notice.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { runLimited } from '#console/pages/incidents/run_limited.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const StaysText = lazyPart(() => import('#console/pages/incidents/exception_stays.tsx').then((m) => m.StaysText));

const PAST = { acknowledge: 'acknowledged', resolve: 'resolved' } as const;

/**
 * Acknowledges or resolves incidents, and offers to undo it. The page changes immediately, and changes back if the
 * server refuses.
 */
export function useAnswerIncidents() {
  const { org, session } = useOrganization();
  const queryClient = useQueryClient();
  const undoing = useUndoAnswers();
  const key = topicKey(org.orgId, 'incidents');
  return useMutation({
    async mutationFn({ answer, incidentIds }: { readonly answer: Answer; readonly incidentIds: readonly string[] }) {
      const action = answer === 'acknowledge' ? 'acknowledge_incident' : 'resolve_incident';
      return await runLimited(incidentIds, (incidentId) => invoke(org.orgId, action, { incidentId }));
    },
    async onMutate({ answer, incidentIds }) {
      // An earlier answer of the server must not revert what is shown now. A first answer is not on the screen yet.
      await queryClient.cancelQueries({ queryKey: key, predicate: ({ state }) => state.data !== undefined });
      const before = shownNow(queryClient, key);
      showAnswered(queryClient, before, new Set(incidentIds), answer, session.user.userId);
      return before;
    },
    onSuccess({ done, failures }, { answer, incidentIds }, before) {
      if (failures.length > 0) {
        restore(
          queryClient,
          before,
          new Set(incidentIds).difference(new Set(done.map(({ incidentId }) => incidentId))),
        );
        const some = done.length === 0 ? '' : `${done.length} ${PAST[answer]}, `;
        showError(`${some}${failures.length} not ${PAST[answer]}`, failures[0]);
      }
      const answered = done.filter((incident) => isAnsweredNow(incident, answer, session.user.userId));
      const [first, ...others] = answered;
      if (first === undefined) return;
      const what =
        others.length === 0 ? `#${first.number} is ${PAST[answer]}.` : `${answered.length} incidents ${PAST[answer]}.`;
      const groupId = answer === 'resolve' && others.length === 0 ? first.exceptionGroupId : null;
      showUndoable(
        [what, groupId !== null && createElement(StaysText, { key: groupId, orgId: org.orgId, groupId })],
        () => undoing.mutate({ answer, incidentIds: answered.map(({ incidentId }) => incidentId) }),
      );
    },
    async onSettled(_failures, _error, { incidentIds }) {
      await refreshIncidents(queryClient, org.orgId, incidentIds);
      // Refetches the reads that were cancelled above.
      await queryClient.invalidateQueries({ queryKey: key, predicate: ({ state }) => state.isInvalidated });
    },
  });
}

/** Cached data that shows incidents: a list, or one incident with its log. */
type Shown = IncidentPages | IncidentWithLog;

type ShownQueries = readonly (readonly [QueryKey, Shown | undefined])[];

function shownNow(queryClient: QueryClient, key: QueryKey): ShownQueries {
  return ['search_incidents', 'get_incident'].flatMap((name) =>
    queryClient.getQueriesData<Shown>({ queryKey: [...key, name] }),
  );
}

function showAnswered(
  queryClient: QueryClient,
  before: ShownQueries,
  ids: ReadonlySet<string>,
  answer: Answer,
  userId: string,
): void {
  for (const [key] of before) {
    replaceShown(queryClient, key, (incident) =>
      ids.has(incident.incidentId) ? withAnswer(incident, answer, userId) : incident,
    );
  }
}

/** Shows these incidents as before, and leaves alone what has come or changed beside them since. */
function restore(queryClient: QueryClient, before: ShownQueries, ids: ReadonlySet<string>): void {
  for (const [key, shown] of before) {
    const rows = new Map(incidentsOf(shown).map((incident) => [incident.incidentId, incident]));
    replaceShown(queryClient, key, <One extends Incident>(incident: One): One =>
      ids.has(incident.incidentId) ? ((rows.get(incident.incidentId) as One | undefined) ?? incident) : incident,
    );
  }
}

function incidentsOf(shown: Shown | undefined): readonly Incident[] {
  if (shown === undefined) return [];
  return 'pages' in shown ? shown.pages.flatMap((page) => page.incidents) : [shown];
}

/** Replaces incidents in the data of one query. Data that was out of date stays marked as such. */
function replaceShown(
  queryClient: QueryClient,
  queryKey: QueryKey,
  replace: <One extends Incident>(incident: One) => One,
): void {
  const isOutdated = queryClient.getQueryState(queryKey)?.isInvalidated === true;
  queryClient.setQueryData(queryKey, (shown: Shown | undefined): Shown | undefined => {
    if (shown === undefined || !('pages' in shown)) return shown && replace(shown);
    const pages = shown.pages.map((page) => ({ ...page, incidents: page.incidents.map(replace<FoundIncident>) }));
    return { ...shown, pages };
  });
  if (isOutdated) void queryClient.invalidateQueries({ queryKey, exact: true, refetchType: 'none' });
}

function withAnswer<One extends Incident>(incident: One, answer: Answer, userId: string): One {
  const at = new Date(serverNow()).toISOString();
  const by = { userId, via: 'console' as const };
  if (incident.status === 'resolved') return incident;
  if (answer === 'resolve') {
    const escalation = ended(incident.escalation, 'finished', 'resolved');
    return { ...incident, status: 'resolved', resolvedAt: at, resolvedBy: by, escalation };
  }
  if (incident.status === 'acknowledged') return incident;
  const escalation = ended(incident.escalation, 'paused', 'acknowledged');
  return { ...incident, status: 'acknowledged', acknowledgedAt: at, acknowledgedBy: by, escalation };
}

/** Returns the escalation with its pending steps cancelled. Steps that have fired are kept. */
function ended(
  escalation: Incident['escalation'] & Partial<IncidentWithLog['escalation']>,
  state: 'paused' | 'finished',
  reason: string,
): typeof escalation {
  const steps = escalation.steps?.map((step) =>
    step.state === 'pending' ? { ...step, state: 'cancelled' as const, reason } : step,
  );
  return {
    ...escalation,
    state: escalation.state === 'none' ? 'none' : state,
    nextStep: null,
    nextStepAt: null,
    waitsFor: null,
    ...(steps && { steps }),
  };
}

/** Answer to an open incident. */
export type Answer = 'acknowledge' | 'resolve';

const OPERATIONS = { acknowledge: 'unacknowledge_incident', resolve: 'reopen_incident' } as const;

const STILL = { acknowledge: 'acknowledged', resolve: 'resolved' } as const;

/** Undoes acknowledging or resolving incidents: they return to their previous status. */
export function useUndoAnswers() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ answer, incidentIds }: { readonly answer: Answer; readonly incidentIds: readonly string[] }) =>
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
function isAnsweredNow(incident: Incident, answer: Answer, userId: string): boolean {
  const { acknowledgedAt, acknowledgedBy, resolvedAt, resolvedBy, acknowledgements = [] } = incident;
  const isNow = (at: string): boolean => serverNow() - Date.parse(at) < JUST_NOW_MS;
  if (answer === 'acknowledge' && acknowledgements.some((answered) => answered.userId === userId && isNow(answered.at)))
    return true;
  const [at, by] = answer === 'resolve' ? [resolvedAt, resolvedBy] : [acknowledgedAt, acknowledgedBy];
  return at !== null && by?.userId === userId && isNow(at);
}
