import { useMutation, useQueryClient } from '@tanstack/react-query';

import { type InputOf, invoke, type ResultOf } from '#console/api/actions.ts';
import { refreshExceptions } from '#console/api/exceptions.ts';
import { showError, showUndoable } from '#console/components/notice.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useOrganization } from '#console/shell/organization.tsx';

type To = InputOf<'assign_exceptions'>['to'];
type Done = ResultOf<'assign_exceptions'>;

/** Most groups in one request, as on the server. */
const CHUNK = 200;

/** Assigns groups to a person, a team or nobody, and offers to undo it. */
export function useAssign() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const undoing = useMutation({
    mutationFn: ({ changed }: Done) => undo(orgId, changed),
    onError: (error) => showError('This could not be undone completely', error),
    onSettled: (_done, _error, { changed }) => refreshExceptions(queryClient, orgId, idsOf(changed)),
  });
  return useMutation({
    async mutationFn({ groupIds, to }: { readonly groupIds: readonly string[]; readonly to: To }): Promise<Done> {
      const done: Done = { changed: [], assigneeName: null };
      for (let from = 0; from < groupIds.length; from += CHUNK) {
        const result = await invoke(orgId, 'assign_exceptions', { groupIds: groupIds.slice(from, from + CHUNK), to });
        done.changed.push(...result.changed);
        done.assigneeName = result.assigneeName;
      }
      return done;
    },
    onError: (error) => showError('Nothing was assigned', error),
    onSuccess(done) {
      const { length: count } = done.changed;
      if (count === 0) return;
      const what = count === 1 ? 'Exception' : countText(count, 'exception');
      const whom = done.assigneeName === null ? 'nobody' : isolateBidi(done.assigneeName);
      showUndoable(`${what} assigned to ${whom}.`, () => undoing.mutate(done));
    },
    onSettled: (_done, _error, { groupIds }) => refreshExceptions(queryClient, orgId, groupIds),
  });
}

const idsOf = (changed: Done['changed']): string[] => changed.map(({ groupId }) => groupId);

/** Gives each group back to whom it was assigned before. */
async function undo(orgId: string, changed: Done['changed']): Promise<void> {
  const byAssignee = Map.groupBy(changed, ({ before: { userId, teamId } }) => userId ?? teamId);
  for (const alike of byAssignee.values()) {
    const [{ before: { userId, teamId } } = { before: { userId: null, teamId: null } }] = alike;
    const to = userId !== null ? { userId } : teamId !== null ? { teamId } : null;
    for (let from = 0; from < alike.length; from += CHUNK) {
      await invoke(orgId, 'assign_exceptions', { groupIds: idsOf(alike.slice(from, from + CHUNK)), to });
    }
  }
}
