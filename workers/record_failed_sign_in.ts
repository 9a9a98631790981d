import { recordChange } from '#actions/record_change.ts';
import { recordFailedSignIn } from '#storage/queue/jobs.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#modules/unit_of_work.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';

/** Writes an audit row with an unknown actor in every organization of the account. */
export const onRecordFailedSignIn = (runtime: UnitOfWorkRuntime): JobHandler =>
  handleJob(recordFailedSignIn, async ({ email, ...origin }) => {
    await inUnitOfWork(runtime, async (unit) => {
      const { people } = unit.stores;
      const user = await people.findUserByEmail(email);
      if (user === null) return;
      const change = { action: 'sign_in', target: user.id, before: null, after: null, result: 'refused' } as const;
      const by = { actor: { kind: 'unknown' }, via: 'console', origin } as const;
      for (const { orgId } of await people.listMemberships(user.id)) await recordChange(unit, orgId, by, change);
    });
  });
