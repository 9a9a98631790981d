import { purgeService } from '#jobs/purge_service.ts';
import type { JobContract } from '#kernel/job.ts';

/** Every kind of background work. */
export const JOBS: readonly JobContract[] = [purgeService];

const BY_NAME = new Map(JOBS.map((job) => [job.name, job]));

export function findJob(name: string): JobContract | null {
  return BY_NAME.get(name) ?? null;
}
