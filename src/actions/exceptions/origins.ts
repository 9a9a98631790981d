import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { GROUP_EXAMPLE, scopeOf } from '#actions/exceptions/view.ts';
import { nullable, Timestamp } from '#actions/fields.ts';
import { firstBadRelease } from '#core/exceptions/suspect_release.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { ExceptionGroupRow } from '#storage/postgres/exception_group_store.ts';

const ORIGINS_MAX = 100;
/** A deploy this long before the first event may still have caused it. */
const SUSPECT_HOURS = 24;
/** Clocks of senders differ; the first event of a deploy may be this very one. */
const SUSPECT_AFTER_SECONDS = 60;

/** Where a group comes from: what to compare releases by. */
export const ORIGIN_FIELDS = {
  byRelease: Type.Array(
    Type.Object({
      release: nullable(Type.String()),
      environment: nullable(Type.String()),
      eventCount: Type.Integer(),
      userCount: Type.Integer(),
      firstSeenAt: Timestamp,
      lastSeenAt: Timestamp,
    }),
    { description: `counts by release and environment, last seen first, at most ${ORIGINS_MAX}` },
  ),
  firstBadRelease: nullable(
    Type.String({ description: 'the release that brought it, or brought it back after it was resolved' }),
  ),
  suspectDeploy: nullable(
    Type.Object(
      { release: Type.String(), at: Timestamp, secondsBefore: Type.Integer() },
      {
        description:
          'the release of the service that was first seen last before the group was, or was seen again: `secondsBefore` it. null when there was none within 24 hours',
      },
    ),
  ),
};

const OriginsView = Type.Object(ORIGIN_FIELDS);

export const ORIGINS_EXAMPLE: Static<typeof OriginsView> = {
  byRelease: [
    {
      release: '2027.5.1',
      environment: 'production',
      eventCount: GROUP_EXAMPLE.eventCount,
      userCount: GROUP_EXAMPLE.userCount,
      firstSeenAt: GROUP_EXAMPLE.firstSeenAt,
      lastSeenAt: GROUP_EXAMPLE.lastSeenAt,
    },
  ],
  firstBadRelease: '2027.5.1',
  suspectDeploy: { release: '2027.5.1', at: '2027-02-03T01:58:12.310Z', secondsBefore: 0 },
};

export async function readOrigins(
  group: ExceptionGroupRow,
  { exceptions, now }: Pick<ActionContext, 'exceptions' | 'now'>,
): Promise<Static<typeof OriginsView>> {
  const beganAt = group.regressedAt ?? group.firstSeenAt;
  const around = {
    from: beganAt.subtract({ hours: SUSPECT_HOURS }),
    to: beganAt.add({ seconds: SUSPECT_AFTER_SECONDS }),
  };
  const [origins, [suspect]] = await Promise.all([
    exceptions.counter.countByOrigin(scopeOf(group, now), ORIGINS_MAX),
    exceptions.listNewReleases([group.serviceId], around, 1),
  ]);
  const bad = firstBadRelease(origins, toTimestampOrNull(group.regressedAt));
  return {
    byRelease: origins.map(({ release, environment, events, users, firstSeenAt, lastSeenAt }) => ({
      release: release === '' ? null : release,
      environment: environment === '' ? null : environment,
      eventCount: events,
      userCount: users,
      firstSeenAt,
      lastSeenAt,
    })),
    firstBadRelease: bad?.release ?? null,
    suspectDeploy:
      suspect === undefined
        ? null
        : {
            release: suspect.release,
            at: toTimestamp(suspect.at),
            secondsBefore: Math.round(beganAt.since(suspect.at).total('seconds')),
          },
  };
}
