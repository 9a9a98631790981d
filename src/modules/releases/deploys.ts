import { Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import { Temporal } from '#kernel/time.ts';
import { type Deploy, deploysOf } from '#modules/releases/decide/deploys.ts';
import { type Author, saveRelease } from '#modules/releases/save_release.ts';
import type { DeployRow } from '#modules/releases/store/release_store.ts';
import type { Stores } from '#modules/stores.ts';

/** A release that went live. */
interface NewDeploy {
  readonly serviceIds: readonly Id<'service'>[];
  readonly release: string;
  readonly environment: string;
  readonly name: string | null;
  readonly url: string | null;
  readonly startedAt: Temporal.Instant | null;
  /** Time at which it finished; null means now. */
  readonly finishedAt: Temporal.Instant | null;
}

const AHEAD_MAX = { minutes: 10 };

/**
 * Records a deploy for each service and makes the release known. The same deploy with the same time is recorded once.
 */
export async function recordDeploy(
  stores: Stores,
  author: Author,
  { serviceIds, ...deploy }: NewDeploy,
  {
    now,
    limits: { deploysPerDay },
  }: { readonly now: Temporal.Instant; readonly limits: Pick<Limits, 'deploysPerDay'> },
): Promise<DeployRow[]> {
  const { orgId } = author;
  const finishedAt = earlier(deploy.finishedAt ?? now, now.add(AHEAD_MAX));
  const recorded: DeployRow[] = [];
  for (const serviceId of serviceIds) {
    // It locks the release, so that one of two requests at the same time sees what the other has recorded.
    await saveRelease(stores, author, { serviceId, version: deploy.release }, {}, now);
    const wanted = { orgId, serviceId, ...deploy, finishedAt };
    const earlier = deploy.finishedAt === null ? null : await stores.releases.findDeploy(wanted);
    if (earlier !== null) {
      recorded.push(earlier);
      continue;
    }
    if ((await stores.releases.countDeploys(serviceId, now.subtract({ hours: 24 }))) >= deploysPerDay) {
      throw new AppError('rate_limited', `a service takes ${deploysPerDay} deploys a day`, {
        limit: 'deploysPerDay',
        retryAfterSeconds: 3_600,
      });
    }
    const row = await stores.releases.addDeploy({ ...wanted, createdAt: now });
    const { release, environment, name, url } = row;
    const after = { serviceId, release, environment, name, url, finishedAt: finishedAt.toString() };
    const change = { action: 'record_deploy', target: row.id, before: null, after };
    await author.note(change);
    recorded.push(row);
  }
  return recorded;
}

function earlier(a: Temporal.Instant, b: Temporal.Instant): Temporal.Instant {
  return Temporal.Instant.compare(a, b) < 0 ? a : b;
}

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

/** Deploys of a day, which charts by day mark. */
export const DeployDayView = Type.Object({
  date: Type.String({ format: 'date' }),
  count: Type.Integer(),
  release: Type.String({ description: 'of the last of them' }),
});
