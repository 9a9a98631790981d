import { GROUPING_CAPACITY, groupJobs } from '#modules/exceptions/group_jobs.ts';
import type { GroupingRuntime } from '#modules/exceptions/grouping_runtime.ts';
import { groupExceptions } from '#storage/queue/jobs.ts';
import type { DurableJobHandler } from '#storage/queue/durable_job_runner.ts';

export const onGroupExceptions = (runtime: GroupingRuntime): DurableJobHandler => {
  return { job: groupExceptions, capacity: GROUPING_CAPACITY, run: groupJobs(runtime) };
};
