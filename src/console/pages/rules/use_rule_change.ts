import { useMutation, useQueryClient } from '@tanstack/react-query';

import { invoke, type Rule } from '#console/api/actions.ts';
import { refreshRules } from '#console/api/rules.ts';
import { named } from '#console/components/text/name.tsx';
import { showError, showUndoable } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** Switches a rule on or off, at once on the screen, and offers to undo it. */
export function useSwitchRule() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const switching = useMutation({
    mutationFn: ({ rule, enabled }: Switching) => invoke(orgId, 'update_alert_rule', { ruleId: rule.ruleId, enabled }),
    onSuccess: (_result, { rule, enabled, isUndo = false }) => {
      if (isUndo) return;
      showUndoable(enabled ? named`${rule.name} is enabled.` : named`${rule.name} is disabled.`, () =>
        switching.mutate({ rule, enabled: !enabled, isUndo: true }),
      );
    },
    onError: (error, { rule, enabled }) =>
      showError(enabled ? named`${rule.name} was not enabled` : named`${rule.name} was not disabled`, error),
    onSettled: (_result, _error, { rule }) => refreshRules(queryClient, orgId, { ruleIds: [rule.ruleId] }),
  });
  return switching;
}

interface Switching {
  readonly rule: Pick<Rule, 'ruleId' | 'name'>;
  readonly enabled: boolean;
  readonly isUndo?: boolean;
}

export function useDeleteRule(onDeleted: () => void) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (ruleId: string) => invoke(orgId, 'delete_alert_rule', { ruleId }),
    onSuccess: async (_result, ruleId) => {
      onDeleted();
      await refreshRules(queryClient, orgId, { ruleIds: [ruleId] });
    },
  });
}
