import { recordFailedSignIn } from '#jobs/record_failed_sign_in.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#storage/postgres/unit_of_work.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';

/** Every organization of the account gets an audit row, with an unknown actor. */
export const onRecordFailedSignIn = (runtime: UnitOfWorkRuntime): JobHandler =>
  handleJob(recordFailedSignIn, async ({ email, ...origin }) => {
    await inUnitOfWork(runtime, async ({ stores, now }) => {
      const user = await stores.people.findUserByEmail(email);
      if (user === null) return;
      const what = { action: 'sign_in', target: user.id, before: null, after: null, result: 'refused' } as const;
      for (const { orgId } of await stores.people.listMemberships(user.id)) {
        await stores.audit.append({ orgId, actor: { kind: 'unknown' }, via: 'console', ...what, origin }, now);
      }
    });
  });
