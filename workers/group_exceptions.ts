import { GROUPING_CAPACITY, groupJobs } from '#exceptions/group_jobs.ts';
import type { GroupingRuntime } from '#exceptions/grouping_runtime.ts';
import { groupExceptions } from '#jobs/group_exceptions.ts';
import type { DurableJobHandler } from '#storage/queue/durable_job_runner.ts';

export const onGroupExceptions = (runtime: GroupingRuntime): DurableJobHandler => {
  return { job: groupExceptions, capacity: GROUPING_CAPACITY, run: groupJobs(runtime) };
};
