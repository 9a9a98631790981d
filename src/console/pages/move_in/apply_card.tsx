import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import { topicKey } from '#console/api/queries.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import type { MoveIn } from '#console/pages/move_in/move_in_state.ts';
import classes from '#console/pages/move_in/move_in.module.css';
import { useOrganization } from '#console/shell/organization.tsx';

const SHOWN = 30;

/** Card on what applying would change, and what that means for people. */
export function ApplyCard({ moveIn }: { readonly moveIn: MoveIn }) {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const { moveInId, plan, status, fault, applied } = moveIn;
  const onSettled = () => queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') });
  const applying = useMutation({
    mutationFn: (fingerprint: string) => invoke(org.orgId, 'apply_move_in', { moveInId, fingerprint }),
    onSettled,
  });
  const planning = useMutation({ mutationFn: () => invoke(org.orgId, 'plan_move_in', { moveInId }), onSettled });
  const isBusy = status === 'applying' || status === 'reading';
  const isPlanning = plan === null && fault === null;
  const kinds = Object.entries(plan?.byKind ?? {}).map(([kind, count]) => `${count.toLocaleString()} ${kind}`);
  const failed = applying.error ?? planning.error;
  return (
    <Card
      title="Apply"
      about="Each change is made by its ordinary operation, with its row in the audit log. Broken off and repeated, it ends the same. Nothing is deleted."
    >
      <Stack gap="sm">
        {applied > 0 && <Text size="sm">{applied.toLocaleString()} changes were made.</Text>}
        {isPlanning && <Text size="sm">The plan is being made.</Text>}
        {plan !== null && (
          <Text size="sm">
            {plan.changes === 0
              ? 'Nothing is left to change.'
              : `${plan.changes.toLocaleString()} changes: ${kinds.join(', ')}.`}
          </Text>
        )}
        {plan !== null && plan.meaning.length > 0 && (
          <ul className={classes.sentences}>
            {plan.meaning.slice(0, SHOWN).map((sentence) => (
              <li key={sentence}>
                <Text size="sm">{sentence}</Text>
              </li>
            ))}
          </ul>
        )}
        {plan !== null && plan.meaning.length > SHOWN && (
          <Text size="sm" c="dimmed">
            {(plan.meaning.length - SHOWN).toLocaleString()} more sentences are in the plan of the command line.
          </Text>
        )}
        {failed !== null && <ErrorAlert title="Nothing was begun" error={failed} />}
        <Group gap="xs">
          {plan !== null && plan.changes > 0 && (
            <Button
              loading={applying.isPending || status === 'applying'}
              disabled={isBusy}
              onClick={() => applying.mutate(plan.fingerprint)}
            >
              Apply this plan
            </Button>
          )}
          <Button variant="default" loading={planning.isPending} disabled={isBusy} onClick={() => planning.mutate()}>
            Plan again
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}
