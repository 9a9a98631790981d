import { compareReleases } from '#modules/releases/operations/compare_releases.ts';
import { listReleases } from '#modules/releases/operations/list_releases.ts';
import { recordDeploy } from '#modules/releases/operations/record_deploy.ts';

/** Operations of the console on releases and deploys. */
export const RELEASE_OPERATIONS = [listReleases, compareReleases, recordDeploy] as const;
