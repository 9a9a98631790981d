import type { Rule } from '#console/api/actions.ts';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useDeleteRule } from '#console/pages/rules/use_rule_change.ts';

interface DeleteRuleProps {
  readonly rule: Pick<Rule, 'ruleId' | 'name' | 'openCount'>;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

export function DeleteRule({ rule, onClose, onDeleted }: DeleteRuleProps) {
  const deleting = useDeleteRule(() => {
    showSuccess(named`${rule.name} is deleted.`);
    onClose();
    onDeleted?.();
  });
  return (
    <Confirm
      title={named`Delete ${rule.name}?`}
      button="Delete"
      saving={deleting}
      onConfirm={() => deleting.mutate(rule.ruleId)}
      onClose={onClose}
    >
      Nobody is paged by it any more. It cannot be undone; to pause it, disable it instead.
      {rule.openCount > 0 && ' Its open incident stays open until somebody resolves it.'}
    </Confirm>
  );
}
