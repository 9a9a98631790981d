import { endLeases } from '#modules/agents/agent_lease.ts';
import type { Id } from '#kernel/ids.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/**
 * Ends the leases of one agent, or of all of the organization (null), and what they have proposed and asked, because a
 * person has stopped them. Agents that are allowed again begin anew. Returns how many proposals ended.
 */
export async function endAgentWork(unit: UnitOfWork, orgId: Id<'org'>, agentId: string | null): Promise<number> {
  await endLeases(unit, orgId, agentId);
  return await unit.stores.proposals.endOpen(orgId, agentId, unit.now);
}
