import { deliverPage } from '#storage/queue/jobs.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';
import type { Id } from '#kernel/ids.ts';
import type { ProposalRow } from '#modules/agents/store/proposal_store.ts';

/**
 * Sends a proposal to those whom a page of the incident has reached, where it reached them; returns how many people. An
 * agent wakes nobody whom the escalation has not paged.
 */
export async function askPeople(
  { stores, now, enqueue }: UnitOfWork,
  { id: proposalId, orgId, incidentId }: ProposalRow,
  only: Id<'user'> | null,
): Promise<number> {
  const paged = await stores.proposals.listPagedAddresses(incidentId);
  const asked = only === null ? paged : paged.filter(({ userId }) => userId === only);
  const ids = await stores.notifications.insert(
    asked.map(({ userId, channel, address }) => ({
      orgId,
      incidentId,
      stepIndex: null,
      kind: 'update' as const,
      userId,
      channel,
      address,
      news: 'proposed' as const,
      proposalId,
      status: 'queued' as const,
      reason: null,
    })),
    now,
  );
  for (const notificationId of ids) enqueue(deliverPage, { notificationId });
  return new Set(asked.map(({ userId }) => userId)).size;
}
