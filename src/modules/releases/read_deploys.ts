import type { ActionContext } from '#actions/action_context.ts';
import { type Deploy, deploysOf } from '#modules/releases/decide/deploys.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';

interface Period {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
}

/**
 * Reads the deploys of a service in a period, the newest first. Throws `unavailable` when the store of exceptions,
 * which knows of releases that nobody has reported, cannot be asked.
 */
export async function readDeploys(
  serviceId: Id<'service'>,
  period: Period,
  limit: number,
  { caller, stores, exceptions }: Pick<ActionContext, 'caller' | 'stores' | 'exceptions'>,
): Promise<Deploy[]> {
  const [recorded, seen] = await Promise.all([
    stores.releases.listDeploys(caller.orgId, { serviceIds: [serviceId], ...period }, limit),
    exceptions.listNewReleases([serviceId], period, limit),
  ]);
  const releases = seen.map(({ release }) => release);
  const deployed = await stores.releases.listDeployed(serviceId, releases, period.to);
  return deploysOf(
    recorded.map(({ release, environment, finishedAt }) => ({ release, environment, at: finishedAt })),
    seen,
    deployed,
  ).slice(0, limit);
}
