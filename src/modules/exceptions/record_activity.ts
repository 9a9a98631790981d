import type { ActionContext } from '#actions/action_context.ts';
import type { ActivityFacts } from '#modules/exceptions/decide/activity.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import type { Id } from '#kernel/ids.ts';

/** Writes what the caller did to a group into its history, in the transaction of the change. */
export async function recordActivity(
  { caller, stores, now }: Pick<ActionContext, 'caller' | 'stores' | 'now'>,
  groupId: Id<'group'>,
  facts: ActivityFacts,
): Promise<void> {
  const actor = toIncidentActor(caller.actor, caller.via);
  await stores.groupActivity.add({ orgId: caller.orgId, groupId, actor, facts }, now);
}
