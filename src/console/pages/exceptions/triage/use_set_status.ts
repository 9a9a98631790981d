import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';

import { type InputOf, invoke, type ResultOf, topicKey } from '#console/api/actions.ts';
import {
  type ExceptionOverview,
  type GroupPages,
  type GroupStatus,
  overviewQuery,
  refreshExceptions,
} from '#console/api/exceptions.ts';
import { showError, showSuccess, showUndoable } from '#console/components/notice.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useOrganization } from '#console/shell/organization.tsx';

type Change = InputOf<'set_exception_statuses'>['changes'][number];
type SnoozeWanted = Omit<InputOf<'snooze_exceptions'>, 'groupIds'> & { readonly groupIds: readonly string[] };
type Changed = ResultOf<'set_exception_statuses'>;

/** Most groups in one request, as on the server. */
const CHUNK = 200;

export const PAST: Record<GroupStatus, string> = { unresolved: 'reopened', resolved: 'resolved', ignored: 'ignored' };

/**
 * Resolves, ignores or reopens groups, and offers to undo it, which also reopens the incidents that were resolved with
 * them. The page changes immediately, and is reloaded if the server refuses.
 */
export function useSetStatus() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const undoing = useUndoStatus();
  return useMutation({
    mutationFn: ({ groupIds, status }: { readonly groupIds: readonly string[]; readonly status: GroupStatus }) =>
      setStatuses(
        orgId,
        groupIds.map((groupId) => ({ groupId, status })),
      ),
    async onMutate({ groupIds, status }) {
      await queryClient.cancelQueries({ queryKey: topicKey(orgId, 'exceptions') });
      showStatus(queryClient, orgId, new Set(groupIds), status);
    },
    onError(error, { groupIds, status }) {
      showError(groupIds.length === 1 ? `Not ${PAST[status]}` : `The exceptions were not ${PAST[status]}`, error);
    },
    onSuccess(done, { status }) {
      if (done.changed.length > 0) showUndoable(textOf(done, PAST[status]), () => undoing.mutate(done));
    },
    onSettled: (_done, _error, { groupIds }) => refreshExceptions(queryClient, orgId, groupIds),
  });
}

/** Resolves groups with a fix that is not deployed yet: in the named release, or in the next one. */
export function useResolveInRelease() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const undoing = useUndoStatus();
  return useMutation({
    async mutationFn({ groupIds, release }: { readonly groupIds: readonly string[]; readonly release?: string }) {
      const done: Changed = { changed: [], resolvedIncidentIds: [] };
      for (let from = 0; from < groupIds.length; from += CHUNK) {
        const input = { groupIds: groupIds.slice(from, from + CHUNK), ...(release !== undefined && { release }) };
        const { changed, resolvedIncidentIds } = await invoke(orgId, 'resolve_in_release', input);
        done.changed.push(...changed);
        done.resolvedIncidentIds.push(...resolvedIncidentIds);
      }
      return done;
    },
    onError(error, { release }) {
      // The error of a named release is shown at its field.
      if (release === undefined) showError('Not resolved', error);
    },
    onSuccess(done, { release }) {
      const where = release === undefined ? 'the next release' : `release ${release}`;
      if (done.changed.length > 0) showUndoable(textOf(done, `resolved in ${where}`), () => undoing.mutate(done));
    },
    onSettled: (_done, _error, { groupIds }) => refreshExceptions(queryClient, orgId, groupIds),
  });
}

/** Ignores groups until a time, a number of events or a number of users, and offers to undo it. */
export function useSnooze() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const undoing = useUndoStatus();
  return useMutation({
    async mutationFn({ groupIds, ...end }: SnoozeWanted) {
      const done: Changed = { changed: [], resolvedIncidentIds: [] };
      for (let from = 0; from < groupIds.length; from += CHUNK) {
        const input = { ...end, groupIds: groupIds.slice(from, from + CHUNK) };
        const { changed, resolvedIncidentIds } = await invoke(orgId, 'snooze_exceptions', input);
        done.changed.push(...changed);
        done.resolvedIncidentIds.push(...resolvedIncidentIds);
      }
      return done;
    },
    onError: (error) => showError('Nothing was snoozed', error),
    onSuccess(done) {
      if (done.changed.length > 0) showUndoable(textOf(done, 'snoozed'), () => undoing.mutate(done));
    },
    onSettled: (_done, _error, { groupIds }) => refreshExceptions(queryClient, orgId, groupIds),
  });
}

function textOf({ changed: { length: count }, resolvedIncidentIds }: Changed, past: string): string {
  const incidents = resolvedIncidentIds.length;
  const which = count === 1 && incidents === 1 ? 'its incident' : countText(incidents, 'incident');
  const also = incidents === 0 ? '' : `, and ${which} resolved`;
  return `${count === 1 ? `Exception ${past}` : `${count} exceptions ${past}`}${also}.`;
}

/** Undoes changes of status: each group gets its previous status, unless it was changed since. */
export function useUndoStatus() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  return useMutation({
    async mutationFn({ changed, resolvedIncidentIds }: Changed) {
      let unchanged = 0;
      for (let from = 0; from < changed.length; from += CHUNK) {
        const changes = changed.slice(from, from + CHUNK).map(({ groupId, changedAt }) => ({ groupId, changedAt }));
        unchanged += (await invoke(orgId, 'undo_exception_statuses', { changes })).unchanged;
      }
      for (const incidentId of resolvedIncidentIds) await invoke(orgId, 'reopen_incident', { incidentId });
      return unchanged;
    },
    onSuccess: (unchanged) =>
      showSuccess(unchanged === 0 ? 'Undone.' : `Undone, but ${unchanged} had changed meanwhile and stay as they are.`),
    onError: (error) => showError('This could not be undone completely', error),
    onSettled: (_done, _error, { changed }) =>
      refreshExceptions(
        queryClient,
        orgId,
        changed.map(({ groupId }) => groupId),
      ),
  });
}

async function setStatuses(orgId: string, changes: readonly Change[]): Promise<Changed> {
  const changed: Changed['changed'] = [];
  const resolvedIncidentIds: string[] = [];
  for (let from = 0; from < changes.length; from += CHUNK) {
    const done = await invoke(orgId, 'set_exception_statuses', { changes: changes.slice(from, from + CHUNK) });
    changed.push(...done.changed);
    resolvedIncidentIds.push(...done.resolvedIncidentIds);
  }
  return { changed, resolvedIncidentIds };
}

function showStatus(queryClient: QueryClient, orgId: string, ids: ReadonlySet<string>, status: GroupStatus): void {
  queryClient.setQueriesData<GroupPages>(
    { queryKey: [...topicKey(orgId, 'exceptions'), 'browse_exception_groups'] },
    (list) => {
      if (list === undefined) return list;
      const pages = list.pages.map((page) => ({
        ...page,
        groups: page.groups.map((group) => (ids.has(group.groupId) ? { ...group, status, snoozed: null } : group)),
      }));
      return { ...list, pages };
    },
  );
  for (const groupId of ids) {
    queryClient.setQueryData<ExceptionOverview>(
      overviewQuery(orgId, groupId).queryKey,
      (overview) => overview && { ...overview, status, snoozed: null },
    );
  }
}
