import { compareReleases } from '#actions/releases/compare_releases.ts';
import { listReleases } from '#actions/releases/list_releases.ts';
import { recordDeploy } from '#actions/releases/record_deploy.ts';

/** Operations of the console on releases and deploys. */
export const RELEASE_OPERATIONS = [listReleases, compareReleases, recordDeploy] as const;
